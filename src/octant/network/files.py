"""Network files (TOML): types, validation, and construction of the engine's topology."""

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
from octant.message_times import LengthSegment, MeasuredTimes, MessageTimes
from octant.network import ibnet
from octant.network.quantities import BytesPerS, Calibrated, PacketsPerS, PositiveSeconds, Seconds, Sizes
from octant.network.shape import MAX_NODES
from octant.network.topologies import Topology
from octant.untrusted import InputTable, Mistake, MistakesError, convert, is_file, parse_toml, read_text

UNLIMITED = math.inf
_MAX_EXTENDED = 16
_MAX_LINES = 64  # of lengths
_MAX_MISTAKES = 20
_SHOWN = 100  # characters of a file name in an error message


class LinkClass(InputTable, frozen=True):
    """Capacities of one direction of a link class. Missing capacities are unlimited."""

    bytes_per_s: BytesPerS | None = None
    packets_per_s: PacketsPerS | None = None
    latency: Seconds = 0.0
    lanes: Annotated[int, Meta(ge=1, le=1024)] = 1
    spares: Annotated[int, Meta(ge=0, le=1024)] = 0
    note: str = ""

    def left_after(self, lanes_down: int) -> float:
        """Return the remaining share of the capacity after lane failures; spares replace lanes first."""
        return max(0, self.lanes - max(0, lanes_down - self.spares)) / self.lanes

    def at_edge(self, edge: Literal["low", "high"]) -> "LinkClass":
        """Return the link class with its capacities at one end of their ranges."""
        given = {name: getattr(self, name) for name in ("bytes_per_s", "packets_per_s")}
        return replace(self, **{name: replace(q, value=getattr(q, edge)) for name, q in given.items() if q is not None})

    def scaled(self, factor: float) -> "LinkClass":
        """Return the link class with its capacities multiplied by `factor`."""
        return replace(
            self, bytes_per_s=_times(self.bytes_per_s, factor), packets_per_s=_times(self.packets_per_s, factor)
        )


def _times(quantity: Calibrated | None, factor: float) -> Calibrated | None:
    if quantity is None:
        return None
    value, low, high = (number * factor for number in (quantity.value, quantity.low, quantity.high))
    return replace(quantity, value=value, low=low, high=high)


class Endpoint(InputTable, frozen=True):
    """Limits of one node for sending, receiving and internal copies. Bytes are payload, packets are messages."""

    injection: LinkClass = LinkClass()
    ejection: LinkClass | None = None  # `None`: as injection
    local: LinkClass = LinkClass()
    to_itself: Literal["memory", "endpoint", "free"] = "memory"
    ranks: Annotated[int, Meta(ge=1, le=4096)] = 1


class LengthLine(InputTable, frozen=True):
    """Message times from a length on: the time at this length, and the rate of further bytes."""

    first: Annotated[float, Meta(ge=0, le=2**50)]  # bytes
    time: PositiveSeconds
    bytes_per_s: BytesPerS | None = None  # `None`: the time does not depend on the length


class MessagesTable(InputTable, frozen=True):
    """Measured times of single messages by length."""

    inside: Annotated[tuple[LengthLine, ...], Meta(max_length=_MAX_LINES)] = ()  # between ranks of one node
    between: Annotated[tuple[LengthLine, ...], Meta(max_length=_MAX_LINES)] = ()  # between nodes
    source: str = ""

    def __post_init__(self) -> None:
        for name, lines in (("inside", self.inside), ("between", self.between)):
            if any(one.first >= other.first for one, other in pairwise(lines)):
                raise ValueError(f"the lengths of '{name}' are not ascending; order the lines by 'first'")

    @property
    def times(self) -> MeasuredTimes:
        """The message times for the model."""
        return MeasuredTimes(*(_message_times(lines) for lines in (self.inside, self.between)))


def _message_times(lines: Sequence[LengthLine]) -> MessageTimes | None:
    stretches = (
        LengthSegment(one.first, one.time, 1 / one.bytes_per_s.value if one.bytes_per_s else 0.0) for one in lines
    )
    return MessageTimes(tuple(stretches)) if lines else None


class Packet(InputTable, frozen=True):
    """Packets of bulk data."""

    payload_bytes: Annotated[int, Meta(ge=1, le=2**24)] = 2048
    overhead_bytes: Annotated[int, Meta(ge=0, le=2**16)] = 0


Policy = Literal["stall", "twin", "spread", "detour", "recompute"]
"""Treatment of packets whose link has failed."""


class RoutingWords(InputTable, frozen=True):
    """Routing of packets, and treatment of packets whose link has failed."""

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
                raise ValueError(f"dimension {dimension} occurs twice in 'order'; list each dimension once")


class Residual(InputTable, frozen=True):
    """Empirical factor for effects outside the model: rate × (1 - per_doubling × log2(nodes / from_nodes))."""

    per_doubling: Annotated[float, Meta(ge=0, le=0.5)]
    from_nodes: Annotated[int, Meta(ge=1, le=MAX_NODES)]
    source: str
    calibrated_on: Mapping[str, Sizes] = {}  # published rates to which it was fitted

    def factor(self, nodes: int) -> float:
        """Return the factor for a job with this number of nodes."""
        return 1.0 if nodes <= self.from_nodes else max(0.0, 1 - self.per_doubling * math.log2(nodes / self.from_nodes))


class Offload(InputTable, frozen=True, kw_only=True):
    """A hardware tree for some collectives; their time depends on its depth, not on the number of ranks."""

    operations: Annotated[tuple[Literal["allreduce", "barrier", "bcast", "reduce"], ...], Meta(min_length=1)]
    radix: Annotated[int, Meta(ge=2, le=4096)]
    hop: PositiveSeconds  # from one level to the next
    bytes_per_s: BytesPerS | None = None
    source: str


class PublishedRates(InputTable, frozen=True):
    """Location of the published rates of one traffic in the results of the catalogue."""

    results: str
    metric: str
    size: str  # column
    total: str = ""  # metric of the whole system; it is divided by the column `nodes`
    total_scale: Annotated[float, Meta(gt=0, le=1e18)] | None = None  # of `total`; `None`: `scale`
    scale: Annotated[float, Meta(gt=0, le=1e18)] = 1.0  # to base units
    where: Mapping[str, str] = {}


class Unexplained(InputTable, frozen=True):
    """A published statement that the model does not reproduce, with the deviation."""

    statement: str
    published: str
    model: str
    why: str


class NetworkFile(InputTable, frozen=True, kw_only=True):
    """The network of a machine. Unknown keys are errors, so that misspelt keys are not ignored."""

    name: Annotated[str, Meta(pattern=r"^[A-Za-z0-9][\w.+-]{0,99}\Z")]  # also used for file names: no slash
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
    node: str = "node"  # the vendor's term

    def __post_init__(self) -> None:
        wanted, given = set(self.topology.link_classes()), set(self.links)
        if wanted != given:
            missing, spare = sorted(wanted - given), sorted(given - wanted)
            text = "; ".join(
                [f"missing: {', '.join(missing)}"] * bool(missing) + [f"unknown: {', '.join(spare)}"] * bool(spare)
            )
            raise ValueError(
                f"the link classes do not match a {self.topology.kind} network ({text}); "
                f"use {', '.join(sorted(wanted))}"
            )
        taken = {"all", *(algorithm for _, algorithm in _network.collectives())} & set(self.offload)
        if taken:
            raise ValueError(f"offload.{min(taken)} is the name of a software algorithm; use another name, e.g. tree")

    @property
    def class_names(self) -> tuple[str, ...]:
        """Names of the link classes in the order of the engine: injection, ejection, local, then the fabric."""
        return ("injection", "ejection", "local", *self.topology.link_classes())

    def link_class(self, name: str) -> LinkClass:
        """Return a link class by name, including those of the endpoints."""
        match name:
            case "injection" | "local":
                return getattr(self.endpoint, name)  # type: ignore[no-any-return]
            case "ejection":
                return self.endpoint.ejection or self.endpoint.injection
        return self.links[name]

    def link_class_left(self, name: str, lanes_down: int | None) -> float:
        """Return the remaining share of the capacity of a link; `None` lanes: the link has failed completely."""
        if name not in self.links:
            raise Refusal(f"unknown link class {name!r}; {suggestion(name, self.links)}", Exit.WRONG_WORD)
        if lanes_down is not None and not 1 <= lanes_down <= self.links[name].lanes + self.links[name].spares:
            have = f"{self.links[name].lanes} lanes and {self.links[name].spares} spares"
            raise Refusal(f"--lanes {lanes_down} is out of range ({name!r} has {have}); try --lanes 1", Exit.WRONG_WORD)
        return 0.0 if lanes_down is None else self.links[name].left_after(lanes_down)

    def calibrated_on(self, traffic: str, size: int) -> tuple[str, ...]:
        """Return the values that were calibrated with the published rate of a traffic at a size: `D packets/s`."""
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
        """Return the number of packets in flight per node, for the queueing solvers."""
        return self.windows.get(traffic, 64)

    def at_size(self, size: int) -> "NetworkFile":
        """Return the machine at another size, in the unit of its topology (supernodes, groups or nodes)."""
        if not 1 <= size <= MAX_NODES:
            raise Refusal(f"size {size} is out of range; try 1 to {MAX_NODES}", Exit.WRONG_WORD)
        try:
            return replace(self, topology=self.topology.at_size(size))
        except MistakesError as error:
            reason = error.mistakes[0].reason
            unit = self.topology.size_word
            hint = f"use another --size (the number of {unit})" if unit != "side" else "use another --size"
            hint += f", or copy and edit the network file that octant model show {self.name} names"
            raise Refusal(f"cannot build {self.name} with size {size} ({reason}); {hint}", Exit.WRONG_WORD) from error

    def at_edge(self, edge: Literal["low", "high"]) -> "NetworkFile":
        """Return the network with every calibrated capacity at the low or high end of its range."""
        pinned = {name: self.link_class(name).at_edge(edge) for name in self.class_names}
        ends = {name: pinned.pop(name) for name in ("injection", "ejection", "local")}
        return replace(self, links=pinned, endpoint=replace(self.endpoint, **ends))

    def bounded(self, name: str) -> "NetworkFile":
        """Return the network with a finite capacity for a link class that has none."""
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
        """Return the network with the capacity of a class times `factor`; `endpoint` is injection and ejection."""
        if name in self.links:
            return replace(self, links={**self.links, name: self.links[name].scaled(factor)})
        ends = {"endpoint": ("injection", "ejection")}.get(name, (name,))
        if not set(ends) <= {"injection", "ejection", "local"}:
            raise Refusal(
                f"unknown link class {name!r}; {suggestion(name, self.class_names)}",
                Exit.WRONG_WORD,
            )
        update = {end: self.link_class(end).scaled(factor) for end in ends}
        if "ejection" not in update:
            update["ejection"] = self.link_class("ejection")
        return replace(self, endpoint=replace(self.endpoint, **update))

    def build(self) -> _network.Topology:
        """Build the engine's topology."""
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
    """Return the names of the networks in the catalogue."""
    folder = resources.files("octant.catalogue") / "networks"
    return tuple(sorted(f.name.removesuffix(".toml") for f in folder.iterdir() if f.name.endswith(".toml")))


def load(name: str) -> NetworkFile:
    """Load a network of the catalogue by name, or a file by path.

    Raises:
        Refusal: the network is unknown, or the file is invalid; the message states each error with its line.
    """
    path = Path(name)
    if path.suffix == ".toml" or "/" in name:
        text = read_text(path, "network file")
        if path.suffix != ".toml" and ibnet.is_dump(text):
            raise Refusal(
                f"{name} is output of ibnetdiscover, not a network file; `octant model show {name}` prints a network "
                f"file that uses it",
                Exit.WRONG_WORD,
            )
        return parse(text, name, path.parent)
    if name not in names():
        raise Refusal(
            f"unknown network {name!r} (neither a .toml file nor in the catalogue); {suggestion(name, names())}",
            Exit.WRONG_WORD,
        )
    return parse(_of_catalogue(name), name)


def parse(text: str, origin: str, folder: Path | None = None) -> NetworkFile:
    """Read a network from the text of a file.

    Args:
        text: content of the file.
        origin: name of the file in error messages.
        folder: folder of other files to which the text refers.

    Raises:
        Refusal: the file is invalid; the message states each error with its line.
    """
    table = _table(text, origin, folder, (origin,))
    try:
        return convert(table, NetworkFile)
    except MistakesError as error:
        lines = [_sentence(text, origin, mistake) for mistake in error.mistakes[:_MAX_MISTAKES]]
        if len(error.mistakes) > _MAX_MISTAKES:
            lines.append(f"and {len(error.mistakes) - _MAX_MISTAKES} more errors")
        raise Refusal("\n".join(lines), Exit.WRONG_WORD) from error


def catalogue_path(name: str) -> Path | None:
    """Return the file of a network of the catalogue; `None` for another name."""
    return Path(str(resources.files("octant.catalogue") / "networks" / f"{name}.toml")) if name in names() else None


def _of_catalogue(name: str) -> str:
    return (resources.files("octant.catalogue") / "networks" / f"{name}.toml").read_text(encoding="utf-8")


def _table(text: str, origin: str, folder: Path | None, seen: tuple[str, ...]) -> dict[str, Any]:
    """Return the table of a file, merged with the file that it extends, and with the text of its edge list."""
    table = parse_toml(text, f"network file {origin}")
    topology = table.get("topology")
    if isinstance(topology, dict) and folder is not None:
        edges = topology.get("edges")
        if isinstance(edges, str) and "\n" not in edges:
            table["topology"] = {**topology, "edges": read_text(_file_next_to(folder, edges, origin), "edge list")}
    base = table.pop("extends", None)
    if base is None:
        return table
    if len(seen) > _MAX_EXTENDED:
        raise Refusal(
            f"cannot load {seen[0]} (more than {_MAX_EXTENDED} files extend each other); remove one 'extends'",
            Exit.WRONG_WORD,
        )
    if not isinstance(base, str):
        raise Refusal(f"cannot load {origin} ('extends' is not a name); give a network or a file", Exit.WRONG_WORD)
    if base in names():
        return _merge(_table(_of_catalogue(base), base, None, (*seen, base)), table)
    path = _file_next_to(folder or Path(), base, origin)
    if str(path) in seen:
        chain = " → ".join([*seen, str(path)])
        raise Refusal(
            f"cannot load {origin} (files extend each other in a cycle: {chain}); remove one 'extends'",
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


def _file_next_to(folder: Path, name: str, origin: str) -> Path:
    """Return the path of a file in the folder of a network file or below; links to other folders are refused."""
    path = folder / name
    try:
        within = path.resolve().is_relative_to(folder.resolve())
    except (OSError, ValueError, RuntimeError):  # a zero byte, a name that is too long, or a cycle of links
        within = False
    if Path(name).is_absolute() or ".." in Path(name).parts or not within:
        raise Refusal(
            f"cannot load {origin} ({name[:_SHOWN]!r} is not in the folder of this file); use a file in that folder",
            Exit.WRONG_WORD,
        )
    return path


def _merge(below: dict[str, Any], above: dict[str, Any]) -> dict[str, Any]:
    result = dict(below)
    for key, value in above.items():
        old = result.get(key)
        # a new value replaces the range and the source of the old value
        deeper = isinstance(old, dict) and isinstance(value, dict) and "value" not in value
        result[key] = _merge(old or {}, value) if deeper else value
    return result


def _sentence(text: str, origin: str, mistake: Mistake) -> str:
    line = _line_of(text, list(mistake.path))
    key = ".".join(mistake.path) or "file"
    return f"cannot load {origin}{f', line {line}' if line else ''}: {key}: {mistake.reason}; {mistake.hint}"


def _line_of(text: str, where: list[str]) -> int | None:
    """Return the line of the deepest key of the path in the text."""
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
