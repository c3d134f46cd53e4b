"""Placement requests, and their compact text form."""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Literal, get_args

from octant.failure import suggestion
from octant.machine import CpuSet
from octant.machine.cpusets import parse_cpus
from octant.placement import numbers_text
from octant.placement.torus import read_map
from octant.untrusted import read_text

Unit = Literal["hwthread", "core", "l2", "l3", "numa", "package"]
Policy = Literal["default", "local", "interleave", "bind", "preferred"]
Pages = Literal["default", "4k", "64k", "thp", "2m", "16m", "1g"]
Kind = Literal["any", "performance", "efficiency"]

PAGE_BYTES: dict[str, int] = {"4k": 1 << 12, "64k": 1 << 16, "2m": 1 << 21, "16m": 1 << 24, "1g": 1 << 30}
MAX_NODE_THREADS = 65_536
"""Maximum number of threads of all ranks of a node; larger numbers are typing errors."""
MAX_TORUS_THREADS = 1_000_000
"""Maximum number of nodes, and of threads, of a torus."""
LONGEST = 1 << 20
"""Maximum number of characters of a request, or of a launcher's lines."""
SMT_ALL = 0
"""`smt=all`: all hardware threads of a core."""

_HEAD = re.compile(r"([0-9]{1,9})x([0-9]{1,9})", re.IGNORECASE)
_ORDER = re.compile(r"compact|scatter(:(core|l2|l3|numa|package))?|[XYZT]{4}|[ABCDET]{6}")
_EXAMPLE = "4x2,unit=core,order=scatter,smt=1,memory=local,pages=2m"


@dataclass(frozen=True)
class Memory:
    """A memory policy. Without nodes, `bind` uses the local nodes of the rank's threads and `interleave` all nodes."""

    policy: Policy = "default"
    nodes: tuple[int, ...] = ()

    def __str__(self) -> str:
        return self.policy + (":" + numbers_text(self.nodes).replace(",", "+") if self.nodes else "")


PARTS = ("heap", "text", "data", "stack")
"""Segments of an unmodified program that may use huge pages: `heap=huge`, also written `pages.heap=huge`."""


@dataclass(frozen=True)
class PlacementRequest:
    """Ranks and threads of one node (or of the whole torus), and their placement.

    `unit` is the unit to which each thread is bound (`hwthread`, `core`), or the unit of each rank (`l2` to `package`),
    within which its threads may move. `smt` is the number of hardware threads used per core: 1 leaves siblings idle,
    `SMT_ALL` uses all. Ranks share a unit only with `share`, and hardware threads only with `oversubscribe` or an
    explicit list.
    """

    ranks: int = 1
    threads: int = 1
    unit: Unit = "core"
    order: str = "compact"  # "scatter" (over all levels), "scatter:numa" (over one), "XYZT" (torus)
    smt: int = 1
    memory: Memory = Memory()
    pages: Pages = "default"
    heap: Literal["default", "huge"] = "default"
    text: Literal["default", "huge"] = "default"
    data: Literal["default", "huge"] = "default"
    stack: Literal["default", "huge"] = "default"
    kind: Kind = "any"
    near: Literal["any", "adapter"] = "any"  # "adapter": near the network adapter, if the scheduler supports it
    share: bool = False
    oversubscribe: bool = False
    cpus: tuple[tuple[int, ...], ...] = ()  # explicit: hardware threads of each rank, in the order of its threads
    torus: tuple[int, ...] = ()
    map: tuple[tuple[int, ...], ...] = ()  # explicit torus coordinates (node, then slot) of at least all ranks
    map_file: str = ""  # the file from which `map` was read

    def __post_init__(self) -> None:
        if self.ranks < 1 or self.threads < 1:
            raise ValueError(f"cannot place {self.ranks} ranks x {self.threads} threads: both must be at least 1")
        most = MAX_TORUS_THREADS if self.torus else MAX_NODE_THREADS
        if self.ranks * self.threads > most:
            where = "on a torus" if self.torus else "on one node"
            raise ValueError(
                f"cannot place {self.ranks} ranks x {self.threads} threads: {where} at most {most} are supported"
            )
        if math.prod(self.torus) > MAX_TORUS_THREADS:
            size = "x".join(map(str, self.torus))
            raise ValueError(f"cannot use torus={size}: at most {MAX_TORUS_THREADS} nodes are supported")
        if self.smt < 0:
            raise ValueError(f"cannot use {self.smt} hardware threads per core; use smt=1, 2, 4, 8 or all")
        self._check_words()
        _check_known("memory", self.memory.policy, get_args(Policy))
        if not _ORDER.fullmatch(self.order) or (self.order.isupper() and len(set(self.order)) < len(self.order)):
            hint = suggestion(self.order, ("compact", "scatter", "scatter:numa", "XYZT with a torus"))
            raise ValueError(f"unknown value in order={self.order}; {hint}")
        if self.memory.policy == "preferred" and len(self.memory.nodes) != 1:
            raise ValueError("memory=preferred requires exactly one NUMA node, as in memory=preferred:0")
        if self.memory.nodes and self.memory.policy in ("default", "local"):
            raise ValueError(f"memory={self.memory.policy} takes no NUMA nodes; use memory=bind:0")
        dimensions = {4: 3, 6: 5}.get(len(self.order)) if self.order.isupper() else None
        if dimensions is not None and len(self.torus) != dimensions:
            example = "8x8x16" if dimensions == 3 else "4x4x4x4x2"
            raise ValueError(
                f"order={self.order} requires a torus of {dimensions} dimensions; add for example torus={example}"
            )
        if self.torus and not self.map and not self.order.isupper():
            raise ValueError("torus requires a letter order or a map file; add order=TXYZ or map=FILE")
        if self.map and not self.torus:
            raise ValueError("map requires a torus; add for example torus=8x8x16")
        if self.map and len(self.map) < self.ranks:
            raise ValueError(
                f"cannot place {self.ranks} ranks with a map of {len(self.map)} lines; write one line per rank"
            )
        if self.cpus and len(self.cpus) != self.ranks:
            raise ValueError(f"cannot place {self.ranks} ranks on {len(self.cpus)} lists; write one list per rank")

    def _check_words(self) -> None:
        known = {"unit": get_args(Unit), "pages": get_args(Pages), **dict.fromkeys(PARTS, ("default", "huge"))}
        known |= {"kind": get_args(Kind), "near": ("any", "adapter")}
        for name, words in known.items():
            _check_known(name, getattr(self, name), words)

    @property
    def huge_segments(self) -> tuple[str, ...]:
        """Segments of an unmodified program, except its heap, that are to use huge pages."""
        return tuple(part for part in PARTS if part != "heap" and getattr(self, part) == "huge")

    def __str__(self) -> str:
        words = [f"{self.ranks}x{self.threads}"]
        default = PlacementRequest()
        for entry in fields(self):
            value = getattr(self, entry.name)
            if entry.name not in ("ranks", "threads", "map") and value != getattr(default, entry.name):
                words.append(f"{entry.name.removesuffix('_file')}={_WRITE.get(entry.name, str)(value)}")
        return ",".join(words)


def _check_known(name: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        raise ValueError(f"unknown value in {name}={value}; {suggestion(value, known)}")


def _list_text(cpus: tuple[int, ...]) -> str:
    """Return numbers in their order, with ranges: `0-3+8`."""
    runs: list[list[int]] = []
    for cpu in cpus:
        if runs and cpu == runs[-1][-1] + 1:
            runs[-1].append(cpu)
        else:
            runs.append([cpu])
    return "+".join(f"{r[0]}" if len(r) == 1 else f"{r[0]}-{r[-1]}" for r in runs)


_WRITE: dict[str, Callable[[object], str]] = {
    "smt": lambda value: "all" if value == SMT_ALL else str(value),
    "share": lambda value: "yes" if value else "no",
    "oversubscribe": lambda value: "yes" if value else "no",
    "torus": lambda value: "x".join(str(n) for n in value) if isinstance(value, tuple) else "",
    "cpus": lambda value: "/".join(_list_text(c) for c in value) if isinstance(value, tuple) else "",
}


_NODES = re.compile(r"memory=\w+:[0-9-]+(?:[,+][0-9-]+)+(?=,|$)")
"""NUMA nodes of a policy, joined by `+` or, as in numactl, by `,`."""


def parse_request(text: str) -> PlacementRequest:
    """Return the request of a text such as `4x2,unit=core,order=scatter,smt=1,memory=local,pages=2m`.

    The first part is ranks x threads; each other part is a key of `PlacementRequest`. Lists are joined by `+`, NUMA
    nodes also by `,`; the lists of ranks are separated by `/`: `2x2,cpus=0-1/4+6`. Without ranks x threads, each list
    of `cpus` is a rank, and each number a thread.

    Raises:
        ValueError: unknown key or value; the message lists the known ones.
    """
    if len(text) > LONGEST:
        raise ValueError(f"the placement has {len(text)} characters; at most {LONGEST} are supported")
    words = [word.strip() for word in _NODES.sub(lambda nodes: nodes[0].replace(",", "+"), text).split(",")]
    words = [word for word in words if word]
    head = _HEAD.fullmatch(words[0]) if words else None
    found: dict[str, str] = {}
    for word in words[1 if head else 0 :]:
        key, equals, value = word.partition("=")
        key = key.removeprefix("pages.") if key.removeprefix("pages.") in PARTS else key
        if not equals:
            raise ValueError(
                f"{_quoted(word, text)} is not of the form KEY=VALUE; keys are {', '.join(_READ)}; example: {_EXAMPLE}"
            )
        if key not in _READ:
            raise ValueError(f"unknown key in {_quoted(word, text)}; {suggestion(key, _READ)}")
        if key in found:
            raise ValueError(f"{key} occurs twice in {text!r}; remove one of them")
        if head and key in ("ranks", "threads"):
            raise ValueError(f"{text!r} states {key} twice, in {words[0]} and in {word}; remove one of them")
        found[key] = value
    if head is None and not found:
        raise ValueError(f"{text!r} is not a placement; use a form such as {_EXAMPLE}")
    values = {key: _read_value(key, value) for key, value in found.items() if key != "map"}
    if "map" in found:
        values |= _map(found["map"], values.get("torus"))
    for listed in (values.get("cpus"), values.get("map")):
        if isinstance(listed, tuple):
            values.setdefault("ranks", len(listed))
    if head:
        values |= {"ranks": int(head[1]), "threads": int(head[2])}
    request = PlacementRequest(**values)  # type: ignore[arg-type]  # each reader gives its field's type
    if request.cpus and not head and "threads" not in values:
        return replace(request, threads=len(request.cpus[0]))
    return request


def _quoted(word: str, text: str) -> str:
    """Return a part of a text for a message, with the text unless it has no other part."""
    return repr(word) if word == text.strip() else f"{word!r} in {text!r}"


def _map(name: str, torus: object) -> dict[str, object]:
    """Return the map of a torus from a file."""
    if not isinstance(torus, tuple):
        raise ValueError(f"map={name} requires a torus; add for example torus=8x8x16")
    return {"map": tuple(read_map(read_text(Path(name), "map file"), torus)), "map_file": name}


def _read_value(key: str, value: str) -> object:
    try:
        return _READ[key](value)
    except ValueError as error:
        raise ValueError(f"cannot use {key}={value[:60]}: {error}") from None


def _count(value: str) -> int:
    if not re.fullmatch("[0-9]{1,9}", value):
        raise ValueError("the value is not an integer of at most nine digits")
    return int(value)


def _yes(value: str) -> bool:
    if value not in ("yes", "no"):
        raise ValueError("the value must be yes or no")
    return value == "yes"


def _memory(value: str) -> Memory:
    policy, _, nodes = value.partition(":")
    _check_known("policy", policy, get_args(Policy))
    return Memory(policy, tuple(sorted(parse_cpus(nodes.replace("+", ",")))) if nodes else ())  # type: ignore[arg-type]


def _cpu_lists(value: str) -> tuple[tuple[int, ...], ...]:
    lists: list[tuple[int, ...]] = []
    total = 0
    for part in value.split("/"):
        numbers: list[int] = []
        for piece in part.split("+"):
            numbers += sorted(parse_cpus(piece))
            if total + len(numbers) > MAX_NODE_THREADS:
                raise ValueError(f"at most {MAX_NODE_THREADS} numbers are supported")
        total += len(numbers)
        lists.append(tuple(numbers))
    return tuple(lists)


def _torus(value: str) -> tuple[int, ...]:
    sizes = tuple(_count(size) for size in value.split("x"))
    if 0 in sizes:
        raise ValueError("each dimension must be at least 1")
    return sizes


_READ: dict[str, Callable[[str], object]] = {
    "ranks": _count,
    "threads": _count,
    "unit": str,
    "order": str,
    "smt": lambda value: SMT_ALL if value == "all" else {"off": 1}.get(value) or _count(value),
    "memory": _memory,
    "pages": str,
    **dict.fromkeys(PARTS, str),
    "kind": str,
    "near": str,
    "share": _yes,
    "oversubscribe": _yes,
    "cpus": _cpu_lists,
    "torus": _torus,
    "map": str,
}


def request_from_lists(cpus: list[tuple[int, ...]], threads: int | None = None) -> PlacementRequest:
    """Return a request that lists the hardware threads of each rank."""
    return PlacementRequest(ranks=len(cpus), threads=threads or len(cpus[0]), unit="hwthread", cpus=tuple(cpus))


def masks(request: PlacementRequest) -> tuple[CpuSet, ...]:
    """Return the explicit sets of a request, one per rank."""
    return tuple(frozenset(cpus) for cpus in request.cpus)
