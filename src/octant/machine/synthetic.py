"""Reads hwloc's synthetic descriptions, such as `pack:2 numa:2 core:4 pu:2`, into topologies."""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from octant.failure import suggestion
from octant.machine import Cache, CacheKind, Cpu, CpuSet, NumaNode, Topology
from octant.machine.cpusets import MOST_CPUS, MOST_HERE, parse_cpus
from octant.units import parse_bytes
from octant.untrusted import DEEPEST

_TYPES = {
    "pack": "package", "package": "package", "socket": "package",
    "numa": "numa", "numanode": "numa", "node": "numa",
    "die": "die", "group": "group", "core": "core", "pu": "pu", "thread": "pu", "machine": "machine",
    **{f"l{n}": f"l{n}" for n in range(1, 6)}, **{f"l{n}cache": f"l{n}" for n in range(1, 6)},
    "l1i": "l1i", "l1icache": "l1i",
}  # fmt: skip
_SIZES = {"l1": 32 << 10, "l1i": 32 << 10, "l2": 256 << 10, "l3": 16 << 20, "l4": 64 << 20, "l5": 256 << 20}
_LEVEL = re.compile(r"(\[?)\s*([A-Za-z0-9]+)(?::([0-9]{1,9}))?\s*(?:\(([^)]*)\))?\s*(\]?)")
_LONGEST = 1 << 16


@dataclass(frozen=True)
class _Level:
    kind: str
    count: int  # per object of the level above
    attributes: dict[str, str] = field(default_factory=dict)
    attached: bool = False  # memory in brackets: hangs beside the level, holds no others


def read_synthetic(text: str) -> Topology:
    """A topology from a synthetic description: levels `type:count`, outermost first, the last one `pu`.

    Understood attributes: `size` of caches, `memory` of NUMA nodes, `indexes` of hardware threads (a list,
    loops such as `2*4:1*2`, or types such as `core`). `[numa]` attaches memory to the level before it. What
    follows a `#` is a comment; a line `allowed: 2-5,8` restricts what may be used; a line
    `kinds: performance=0-7 efficiency=8-15` names the cores of a hybrid processor.

    Raises:
        ValueError: no such description; the message names the wrong part.
    """
    if len(text) > _LONGEST:
        raise ValueError(f"cannot read a description of {len(text)} characters (at most {_LONGEST}); try 'core:4 pu:2'")
    lines = [line.split("#", 1)[0].strip() for line in text.splitlines()] or [""]
    extra = dict(line.split(":", 1) for line in lines if line.startswith(("allowed:", "kinds:")))
    levels = list(_levels(" ".join(line for line in lines if not line.startswith(("allowed:", "kinds:")))))
    tree = [level for level in levels if not level.attached]
    if len(levels) > DEEPEST:
        raise ValueError(f"cannot use {len(levels)} levels (at most {DEEPEST}); try 'pack:2 core:4 pu:2'")
    if not tree or tree[-1].kind != "pu":
        raise ValueError(f"cannot read {text.strip()!r} as a topology (it must end in pu); try 'core:4 pu:2'")
    total = math.prod(level.count for level in tree)
    if not 0 < total <= MOST_HERE:
        raise ValueError(f"cannot use a topology of {total} hardware threads; try 1 to {MOST_HERE}")
    numbers = _indexes(tree, total)
    kinds = {c: name for name, cpus in _kinds(extra.get("kinds", "")) for c in cpus}
    allowed = parse_cpus(extra["allowed"]) if "allowed" in extra else frozenset(numbers)
    if not allowed <= set(numbers):
        raise ValueError(f"cannot allow hardware threads {extra['allowed'].strip()}: some do not exist")
    return _build(levels, numbers, allowed, kinds)


def _kinds(text: str) -> Iterator[tuple[str, CpuSet]]:
    named = 0
    for word in text.split():
        name, _, listed = word.partition("=")
        cpus = parse_cpus(listed)
        named += len(cpus)
        if named > MOST_CPUS:
            raise ValueError(f"cannot use the kinds {text.strip()[:60]!r}: they name over {MOST_CPUS} numbers")
        yield name, cpus


def _levels(text: str) -> Iterator[_Level]:
    position = 0
    text = text.strip()
    while position < len(text):
        match = _LEVEL.match(text, position)
        if match is None or _TYPES.get(match[2].lower()) is None or (bool(match[1]) != bool(match[5])):
            word = text[position:].split()[0]
            kind, colon, count = word.partition(":")
            hint = suggestion(kind.lower(), _TYPES) if colon and count.isdigit() else "try core:4"
            raise ValueError(f"cannot read the level {word!r} (not TYPE:COUNT of a known type); {hint}")
        position = match.end()
        while position < len(text) and text[position].isspace():
            position += 1
        parts = [a.strip() for a in re.split(r"\s+", match[4] or "") if a.strip()]
        attributes = dict(part.split("=", 1) for part in parts if "=" in part)
        if match[3] == "0":
            raise ValueError(f"cannot have no {match[2]}: counts start at 1")
        yield _Level(_TYPES[match[2].lower()], int(match[3] or 1), attributes, bool(match[1]))


def _indexes(tree: list[_Level], total: int) -> list[int]:
    """Operating-system numbers of the hardware threads in the order of the tree."""
    text = tree[-1].attributes.get("indexes", "")
    if not text:
        return list(range(total))
    if re.fullmatch("[0-9]{1,5}(,[0-9]{1,5})*", text):
        numbers = [int(n) for n in text.split(",")]
    else:
        numbers = [-1] * total
        loops = _loops(tree, text, total)
        for number in range(total):  # consecutive numbers go to positions that the first loop steps through
            rest, position = number, 0
            for step, count in loops:
                position += rest % count * step
                rest //= count
            numbers[position % total] = number
    if len(numbers) != total or len(set(numbers)) != total or max(numbers) >= MOST_CPUS:
        raise ValueError(f"cannot number {total} hardware threads by indexes={text[:60]}")
    return numbers


def _loops(tree: list[_Level], text: str, total: int) -> list[tuple[int, int]]:
    """Loops (step, count) over positions, fastest first, from `2*3:1*2` or from types such as `core`."""
    if text.count(":") > DEEPEST:
        raise ValueError(f"cannot number by {text.count(':') + 1} loops (at most {DEEPEST})")
    if "*" in text:
        pairs = [re.fullmatch(r"([0-9]{1,9})\*([0-9]{1,9})", part) for part in text.split(":")]
        if not all(pairs) or math.prod(int(pair[2]) for pair in pairs if pair) != total:
            raise ValueError(f"cannot number {total} hardware threads by indexes={text}")
        return [(int(pair[1]), int(pair[2])) for pair in pairs if pair]
    depths = []
    for word in text.split(":"):
        kind = _TYPES.get(word.lower(), "")
        depth = next((i for i, level in enumerate(tree[:-1]) if level.kind == kind), None)
        if depth is None:
            raise ValueError(f"cannot number by {word!r}: the description has no such level above pu")
        depths.append(depth)
    loops = []
    for depth in [*depths, len(tree) - 1]:
        above = max((d for d in depths if d < depth), default=-1)
        step = math.prod(level.count for level in tree[depth + 1 :])
        loops.append((step, math.prod(level.count for level in tree[above + 1 : depth + 1])))
    if math.prod(count for _step, count in loops) != total:
        raise ValueError(f"cannot number {total} hardware threads by indexes={text}")
    return loops


def _build(levels: list[_Level], numbers: list[int], allowed: CpuSet, kinds: dict[int, str]) -> Topology:
    total, groups = 1, {}
    caches: list[Cache] = []
    memory: list[tuple[int, CpuSet, int]] = []  # place in the tree, threads, bytes
    for level in levels:
        parts = total * level.count
        if not level.attached:
            total = parts
        width = len(numbers) // total
        sets = [frozenset(numbers[i * width : (i + 1) * width]) for i in range(total)]
        groups[level.kind] = sets
        size = level.attributes.get("size", "")
        if level.kind in _SIZES:
            kind: CacheKind = "instruction" if level.kind == "l1i" else "unified"
            bytes_ = parse_bytes(size) if size else _SIZES[level.kind]
            caches += [Cache(int(level.kind[1]), kind, bytes_, 64, held) for held in sets]
        if level.kind == "numa":
            amount = level.attributes.get("memory", "1GiB")
            copies = level.count if level.attached else 1
            memory += [(i * width, sets[i], parse_bytes(amount)) for i in range(total) for _ in range(copies)]
    everything = [frozenset(numbers)]
    nodes = sorted(memory, key=lambda node: node[0]) or [(0, everything[0], 1 << 30)]
    home: dict[int, int] = {}
    numa = []
    for number, (_place, held, memory_bytes) in enumerate(nodes):
        own = frozenset(held - home.keys())
        home |= dict.fromkeys(own, number)
        numa.append(NumaNode(number, own, memory_bytes))
    where = {key: _index(groups.get(key, everything)) for key in ("package", "die")}
    where["core"] = _index(groups.get("core", [frozenset({n}) for n in numbers]))
    cpus = tuple(
        Cpu(n, where["core"][n], where["package"][n], home[n], where["die"][n], kinds.get(n, ""))
        for n in sorted(numbers)
    )
    return Topology(cpus, tuple(caches), tuple(numa), allowed)


def _index(sets: list[CpuSet]) -> dict[int, int]:
    return {cpu: index for index, held in enumerate(sets) for cpu in held}
