"""Network files: a machine's network as people write it (TOML), checked, and built into the engine's topology."""

import math
import re
from collections.abc import Mapping, Sequence
from importlib import resources
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Literal

from msgspec import Meta
from msgspec.structs import replace

from octant import _network
from octant.failure import Exit, Refusal, suggestion
from octant.network import ibnet
from octant.network.message_times import MeasuredTimes, MessageTimes, LengthSegment
from octant.network.quantities import BytesPerS, Calibrated, PacketsPerS, PositiveSeconds, Seconds, Sizes
from octant.network.shape import MOST_NODES
from octant.network.topologies import Topology
from octant.untrusted import InputTable, Mistake, MistakesError, convert, is_file, parse_toml, read_text

UNLIMITED = math.inf
_MOST_EXTENDED = 16
_MOST_LINES = 64  # of lengths
_MOST_MISTAKES = 20
_SHOWN = 100  # characters of a foreign name in a message


class LinkClass(InputTable, frozen=True):
    """One kind of link: what one direction of one link carries. Capacities not given are unlimited."""

    bytes_per_s: BytesPerS | None = None
    packets_per_s: PacketsPerS | None = None
    latency: Seconds = 0.0
    lanes: Annotated[int, Meta(ge=1, le=1024)] = 1
    spares: Annotated[int, Meta(ge=0, le=1024)] = 0
    note: str = ""

    def left_after(self, lanes_down: int) -> float:
        """Part of the capacity left when that many lanes are down; spares step in first."""
        return max(0, self.lanes - max(0, lanes_down - self.spares)) / self.lanes

    def at_edge(self, edge: Literal["low", "high"]) -> "LinkClass":
        """The same link with its capacities at one end of their ranges."""
        given = {name: getattr(self, name) for name in ("bytes_per_s", "packets_per_s")}
        return replace(self, **{name: replace(q, value=getattr(q, edge)) for name, q in given.items() if q is not None})

    def scaled(self, factor: float) -> "LinkClass":
        """The same link with `factor` times its capacities."""
        return replace(
            self, bytes_per_s=_times(self.bytes_per_s, factor), packets_per_s=_times(self.packets_per_s, factor)
        )


def _times(quantity: Calibrated | None, factor: float) -> Calibrated | None:
    if quantity is None:
        return None
    value, low, high = (number * factor for number in (quantity.value, quantity.low, quantity.high))
    return replace(quantity, value=value, low=low, high=high)


class Endpoint(InputTable, frozen=True):
    """What one node can send, receive and copy within itself. Bytes are payload, packets are messages."""

    injection: LinkClass = LinkClass()
    ejection: LinkClass | None = None  # as injection where not given
    local: LinkClass = LinkClass()
    to_itself: Literal["memory", "endpoint", "free"] = "memory"
    ranks: Annotated[int, Meta(ge=1, le=4096)] = 1


class LengthLine(InputTable, frozen=True):
    """Messages from a length on: their time there, and what each further byte takes."""

    first: Annotated[float, Meta(ge=0, le=2**50)]  # bytes
    time: PositiveSeconds
    bytes_per_s: BytesPerS | None = None  # `None`: length makes no difference


class MessagesTable(InputTable, frozen=True):
    """Measured times of messages that have their way for themselves, by length."""

    inside: Annotated[tuple[LengthLine, ...], Meta(max_length=_MOST_LINES)] = ()  # between ranks of one node
    between: Annotated[tuple[LengthLine, ...], Meta(max_length=_MOST_LINES)] = ()  # between nodes
    source: str = ""

    def __post_init__(self) -> None:
        for name, lines in (("inside", self.inside), ("between", self.between)):
            if any(one.first >= other.first for one, other in pairwise(lines)):
                raise ValueError(f"the lengths of '{name}' do not ascend; order them by 'first'")

    @property
    def times(self) -> MeasuredTimes:
        """As the model takes them."""
        return MeasuredTimes(*(_message_times(lines) for lines in (self.inside, self.between)))


def _message_times(lines: Sequence[LengthLine]) -> MessageTimes | None:
    stretches = (
        LengthSegment(one.first, one.time, 1 / one.bytes_per_s.value if one.bytes_per_s else 0.0) for one in lines
    )
    return MessageTimes(tuple(stretches)) if lines else None


class Packet(InputTable, frozen=True):
    """How bulk data is cut into packets."""

    payload_bytes: Annotated[int, Meta(ge=1, le=2**24)] = 2048
    overhead_bytes: Annotated[int, Meta(ge=0, le=2**16)] = 0


Policy = Literal["stall", "twin", "spread", "recompute"]
"""What becomes of packets whose link is down."""


class RoutingWords(InputTable, frozen=True):
    """How packets find their way, and what becomes of those whose link is down."""

    name: Annotated[str, Meta(max_length=40)]
    policy: Policy = "stall"
    order: Annotated[
        tuple[Annotated[int, Meta(ge=0, lt=_network.MOST_DIMENSIONS)], ...], Meta(max_length=_network.MOST_DIMENSIONS)
    ] = ()  # of dimensions
    split_ties: bool = True
    with_direct: bool = False

    def __post_init__(self) -> None:
        for dimension in self.order:
            if self.order.count(dimension) > 1:
                raise ValueError(f"dimension {dimension} occurs twice in 'order'; name each once")


class Residual(InputTable, frozen=True):
    """What the model does not explain, as an empirical factor: rate × (1 - per_doubling × log2(nodes / from_nodes))."""

    per_doubling: Annotated[float, Meta(ge=0, le=0.5)]
    from_nodes: Annotated[int, Meta(ge=1, le=MOST_NODES)]
    source: str
    calibrated_on: Mapping[str, Sizes] = {}  # published points that it was fitted to

    def factor(self, nodes: int) -> float:
        """The factor for a job of that many nodes."""
        return 1.0 if nodes <= self.from_nodes else max(0.0, 1 - self.per_doubling * math.log2(nodes / self.from_nodes))


class Offload(InputTable, frozen=True, kw_only=True):
    """A tree in the network's hardware that carries some collectives: it costs its depth, not its ranks."""

    operations: Annotated[tuple[Literal["allreduce", "barrier", "bcast", "reduce"], ...], Meta(min_length=1)]
    radix: Annotated[int, Meta(ge=2, le=4096)]
    hop: PositiveSeconds  # from one level to the next
    bytes_per_s: BytesPerS | None = None
    source: str


class PublishedRates(InputTable, frozen=True):
    """Where published points of one traffic stand in the catalogue's results."""

    results: str
    metric: str
    size: str  # column
    total: str = ""  # metric of the whole system, divided by the column `nodes`
    total_scale: Annotated[float, Meta(gt=0, le=1e18)] | None = None  # of `total`; `None`: as `scale`
    scale: Annotated[float, Meta(gt=0, le=1e18)] = 1.0  # to base units
    where: Mapping[str, str] = {}


class Unexplained(InputTable, frozen=True):
    """A published statement that the model misses, and by how much."""

    statement: str
    published: str
    model: str
    why: str


class NetworkFile(InputTable, frozen=True, kw_only=True):
    """A machine's network as its author wrote it. A key we do not know is an error, so a typo is never ignored."""

    name: Annotated[str, Meta(pattern=r"^[A-Za-z0-9][\w.+-]{0,99}\Z")]  # of files too: no slash
    title: str = ""
    sources: tuple[str, ...] = ()
    topology: Topology
    links: Mapping[str, LinkClass]
    endpoint: Endpoint = Endpoint()
    packet: Packet = Packet()
    messages: MessagesTable = MessagesTable()
    routing: RoutingWords
    windows: Mapping[str, Annotated[int, Meta(ge=1, le=10**6)]] = {}  # packets in flight per node, by traffic
    residual: Mapping[str, Residual] = {}
    offload: Mapping[Annotated[str, Meta(pattern=r"^[a-z][a-z0-9-]{0,31}\Z")], Offload] = {}
    published: Mapping[str, PublishedRates] = {}
    unexplained: tuple[Unexplained, ...] = ()
    node: str = "node"  # what the vendor calls one

    def __post_init__(self) -> None:
        wanted, given = set(self.topology.link_classes()), set(self.links)
        if wanted != given:
            missing, spare = sorted(wanted - given), sorted(given - wanted)
            text = "; ".join(
                [f"missing: {', '.join(missing)}"] * bool(missing) + [f"unknown: {', '.join(spare)}"] * bool(spare)
            )
            raise ValueError(
                f"link classes do not fit a {self.topology.kind} network ({text}); it has {', '.join(sorted(wanted))}"
            )
        taken = {"all", *(algorithm for _, algorithm in _network.collectives())} & set(self.offload)
        if taken:
            raise ValueError(f"offload.{min(taken)}: an algorithm in software has that name; choose another, say tree")

    @property
    def class_names(self) -> tuple[str, ...]:
        """Names of the link classes by the engine's number: injection, ejection, local, then the fabric's."""
        return ("injection", "ejection", "local", *self.topology.link_classes())

    def link_class(self, name: str) -> LinkClass:
        """One link class by name, the endpoints' included."""
        match name:
            case "injection" | "local":
                return getattr(self.endpoint, name)  # type: ignore[no-any-return]
            case "ejection":
                return self.endpoint.ejection or self.endpoint.injection
        return self.links[name]

    def link_class_left(self, name: str, lanes_down: int | None) -> float:
        """Part of a link of that class left when so many lanes are down; none where no number is given."""
        if name not in self.links:
            raise Refusal(
                f"cannot let {name!r} fail (no such link class); {suggestion(name, self.links)}", Exit.WRONG_WORD
            )
        if lanes_down is not None and not 1 <= lanes_down <= self.links[name].lanes + self.links[name].spares:
            have = f"{self.links[name].lanes} and {self.links[name].spares} spares"
            raise Refusal(
                f"cannot let {lanes_down} lanes of {name!r} fail (it has {have}); try --lanes 1", Exit.WRONG_WORD
            )
        return 0.0 if lanes_down is None else self.links[name].left_after(lanes_down)

    def calibrated_on(self, traffic: str, size: int) -> tuple[str, ...]:
        """What of the file was taken from the published point of a traffic at a size: `D packets/s`."""
        ends = {name: getattr(self.endpoint, name) for name in ("injection", "ejection", "local")}
        known: dict[str, Mapping[str, Sizes]] = {
            f"{name} {unit}/s": quantity.calibrated_on
            for name, link in {**ends, **self.links}.items()
            if link is not None
            for unit, quantity in (("bytes", link.bytes_per_s), ("packets", link.packets_per_s))
            if quantity is not None
        }
        known |= {f"residual factor of {name}": one.calibrated_on for name, one in self.residual.items()}
        return tuple(what for what, points in known.items() if size in points.get(traffic, ()))

    def window(self, traffic: str) -> int:
        """Packets in flight per node, for the queueing solvers."""
        return self.windows.get(traffic, 64)

    def at_size(self, size: int) -> "NetworkFile":
        """The same machine at another size (supernodes, groups, nodes: what its shape counts in)."""
        if not 1 <= size <= MOST_NODES:
            raise Refusal(f"cannot build {self.name} with that size; try 1 to {MOST_NODES}", Exit.WRONG_WORD)
        try:
            return replace(self, topology=self.topology.at_size(size))
        except MistakesError as error:
            reason = error.mistakes[0].reason
            raise Refusal(
                f"cannot build {self.name} with size {size} ({reason}); try another --size", Exit.WRONG_WORD
            ) from error

    def at_edge(self, edge: Literal["low", "high"]) -> "NetworkFile":
        """Every calibrated capacity at the low or high end of its range."""
        pinned = {name: self.link_class(name).at_edge(edge) for name in self.class_names}
        ends = {name: pinned.pop(name) for name in ("injection", "ejection", "local")}
        return replace(self, links=pinned, endpoint=replace(self.endpoint, **ends))

    def bounded(self, name: str) -> "NetworkFile":
        """The same machine with some limit on a link class that has none."""
        link = self.link_class(name)
        if link.bytes_per_s or link.packets_per_s:
            return self
        some = {name: replace(link, bytes_per_s=Calibrated(1e9, 1e9, 1e9))}
        if name in self.links:
            return replace(self, links={**self.links, **some})
        if name == "injection":  # of which ejection is a copy unless it is given
            some["ejection"] = self.link_class("ejection")
        return replace(self, endpoint=replace(self.endpoint, **some))

    def scaled(self, name: str, factor: float) -> "NetworkFile":
        """The same machine with one link class `factor` times as fast; `endpoint` means injection and ejection."""
        if name in self.links:
            return replace(self, links={**self.links, name: self.links[name].scaled(factor)})
        ends = {"endpoint": ("injection", "ejection")}.get(name, (name,))
        if not set(ends) <= {"injection", "ejection", "local"}:
            raise Refusal(
                f"cannot change link class {name!r} (no such class); {suggestion(name, self.class_names)}",
                Exit.WRONG_WORD,
            )
        update = {end: self.link_class(end).scaled(factor) for end in ends}
        if "ejection" not in update:
            update["ejection"] = self.link_class("ejection")
        return replace(self, endpoint=replace(self.endpoint, **update))

    def build(self) -> _network.Topology:
        """The engine's topology."""
        rows: list[tuple[str, float, float, int]] = []
        for name in self.class_names:
            link = self.link_class(name)
            by_bytes, by_packets = (q.value if q else UNLIMITED for q in (link.bytes_per_s, link.packets_per_s))
            rows.append((name, by_bytes, by_packets, round(link.latency * 1e12)))
        try:
            return self.topology.build(rows, self.endpoint.to_itself)
        except ValueError as error:
            raise Refusal(f"{error} [{self.name}]", Exit.WRONG_WORD) from error


def names() -> tuple[str, ...]:
    """Names of the networks in the catalogue."""
    folder = resources.files("octant.catalogue") / "networks"
    return tuple(sorted(f.name.removesuffix(".toml") for f in folder.iterdir() if f.name.endswith(".toml")))


def load(name: str) -> NetworkFile:
    """A network of the catalogue by name, or a file by path.

    Raises:
        Refusal: no such network, or a file with mistakes: each with its line, the reason and the fix.
    """
    path = Path(name)
    if path.suffix == ".toml" or "/" in name:
        text = read_text(path, "network file")
        if path.suffix != ".toml" and ibnet.is_dump(text):
            raise Refusal(
                f"cannot load {name} (it is output of ibnetdiscover); `octant model show {name}` prints a network file "
                f"that reads it",
                Exit.WRONG_WORD,
            )
        return parse(text, name, path.parent)
    if name not in names():
        raise Refusal(
            f"cannot find the network {name!r} (no .toml file, nor in the catalogue); {suggestion(name, names())}",
            Exit.WRONG_WORD,
        )
    return parse(_of_catalogue(name), name)


def parse(text: str, origin: str, folder: Path | None = None) -> NetworkFile:
    """A network from the text of a file; `origin` names it in errors. Files that it names are looked for in `folder`.

    Raises:
        Refusal: every mistake with its line, the reason and the fix.
    """
    table = _table(text, origin, folder, (origin,))
    try:
        return convert(table, NetworkFile)
    except MistakesError as error:
        lines = [_sentence(text, origin, mistake) for mistake in error.mistakes[:_MOST_MISTAKES]]
        if len(error.mistakes) > _MOST_MISTAKES:
            lines.append(f"and {len(error.mistakes) - _MOST_MISTAKES} more")
        raise Refusal("\n".join(lines), Exit.WRONG_WORD) from error


def _of_catalogue(name: str) -> str:
    return (resources.files("octant.catalogue") / "networks" / f"{name}.toml").read_text(encoding="utf-8")


def _table(text: str, origin: str, folder: Path | None, seen: tuple[str, ...]) -> dict[str, Any]:
    """The file laid over the one that it extends, key by key, with the cables that it names in place."""
    table = parse_toml(text, f"network file {origin}")
    topology = table.get("topology")
    if isinstance(topology, dict) and folder is not None:
        edges = topology.get("edges")
        if isinstance(edges, str) and "\n" not in edges:
            table["topology"] = {**topology, "edges": read_text(_beside(folder, edges, origin), "edge list")}
    base = table.pop("extends", None)
    if base is None:
        return table
    if len(seen) > _MOST_EXTENDED:
        raise Refusal(
            f"cannot load {seen[0]} (more than {_MOST_EXTENDED} files extend one another); remove one 'extends'",
            Exit.WRONG_WORD,
        )
    if not isinstance(base, str):
        raise Refusal(f"cannot load {origin} ('extends' is no name); give a network or a file", Exit.WRONG_WORD)
    if base in names():
        return _merge(_table(_of_catalogue(base), base, None, (*seen, base)), table)
    path = _beside(folder or Path(), base, origin)
    if str(path) in seen:
        chain = " → ".join([*seen, str(path)])
        raise Refusal(
            f"cannot load {origin} (files extend one another in a cycle: {chain}); remove one 'extends'",
            Exit.WRONG_WORD,
        )
    if not is_file(path):
        raise Refusal(
            f"cannot load {origin} (it extends {base!r}, which is neither a file nor in the catalogue); "
            f"{suggestion(base, names())}",
            Exit.WRONG_WORD,
        )
    below = _table(read_text(path, "network file"), str(path), path.parent, (*seen, str(path)))
    return _merge(below, table)


def _beside(folder: Path, name: str, origin: str) -> Path:
    """The file of that name in the folder of a network file, or in one below it; links that lead out are not."""
    path = folder / name
    try:
        within = path.resolve().is_relative_to(folder.resolve())
    except (OSError, ValueError, RuntimeError):  # a zero byte, a name too long, links in a circle
        within = False
    if Path(name).is_absolute() or ".." in Path(name).parts or not within:
        raise Refusal(
            f"cannot load {origin} ({name[:_SHOWN]!r} is no file beside it); give the name of a file in its folder",
            Exit.WRONG_WORD,
        )
    return path


def _merge(below: dict[str, Any], above: dict[str, Any]) -> dict[str, Any]:
    result = dict(below)
    for key, value in above.items():
        old = result.get(key)
        # a value comes with its range and evidence: those of another value are not its own
        deeper = isinstance(old, dict) and isinstance(value, dict) and "value" not in value
        result[key] = _merge(old or {}, value) if deeper else value
    return result


def _sentence(text: str, origin: str, mistake: Mistake) -> str:
    line = _line_of(text, list(mistake.path))
    key = ".".join(mistake.path) or "file"
    return f"cannot load {origin}{f', line {line}' if line else ''}: {key}: {mistake.reason}; {mistake.hint}"


def _line_of(text: str, where: list[str]) -> int | None:
    """Line of the deepest key of the path that the text shows."""
    found, section_ok = None, True
    depth = 0
    for number, line in enumerate(text.splitlines(), start=1):
        header = re.match(r"\s*\[+\s*([^\]]+?)\s*\]+", line)
        if header:
            parts = [part.strip(" \"'") for part in header[1].split(".")]
            section_ok = parts == where[: len(parts)]
            if section_ok and len(parts) > depth:
                found, depth = number, len(parts)
            continue
        key = re.match(r"\s*([\w\"'.-]+)\s*=", line)
        if key and section_ok and depth < len(where) and key[1].strip("\"'") == where[depth]:
            return number
    return found
