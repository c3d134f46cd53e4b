"""What hwloc's test suite expects of a machine, read from the output of lstopo, in text or in XML.

This reader shares no code with `octant.machine`, which it is compared with.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from xml.etree import ElementTree as ET

Cpus = frozenset[int]
_CACHES = {"": "unified", "d": "data", "i": "instruction"}
_XML_CACHES = {"0": "unified", "1": "data", "2": "instruction"}
_TEXT = re.compile(r"([A-Za-z]\w*)(?:\([\w ]+\))?(?: L#\d+)?(?: \(?(?:P#(\d+))?(.*))?")
_CACHE = re.compile(r"L(\d)([di]?)(?:Cache)?")


@dataclass
class Expected:
    """Hardware threads by their numbers of the operating system, and what is made of them."""

    threads: set[int] = field(default_factory=set)
    cores: Counter[Cpus] = field(default_factory=Counter)
    packages: Counter[Cpus] = field(default_factory=Counter)
    caches: Counter[tuple[int, str, int, Cpus]] = field(default_factory=Counter)  # level, kind, bytes, sharing threads
    memory_side: Counter[int] = field(default_factory=Counter)  # bytes
    nodes: dict[int, tuple[int | None, Cpus]] = field(default_factory=dict)  # bytes, threads
    kinds: list[Cpus] = field(default_factory=list)  # from the slowest; empty where all are of one


@dataclass
class _Item:
    """An object of the output, with all objects below it."""

    depth: int
    type: str
    number: int | None
    size_bytes: int
    is_memory_side: bool = False
    children: list["_Item"] = field(default_factory=list)

    def threads(self) -> Cpus:
        if self.type == "PU":
            return frozenset({self.number if self.number is not None else -1})
        return frozenset().union(*(child.threads() for child in self.children))


def read_expected(path: Path) -> Expected:
    """Read the output of `lstopo -v`, or of `lstopo --of xml`."""
    text = path.read_text(encoding="utf-8", errors="replace")
    return from_xml(text) if text.startswith("<?xml") else from_text(text)


def _cpus(mask: str) -> Cpus:
    """Return the threads of `0xf...f,0x00000003`: words of 32 bits, the highest first; no infinite sets."""
    value = 0
    for word in mask.split(","):
        value = value << 32 | int(word or "0", 16)
    return frozenset(bit for bit in range(value.bit_length()) if value >> bit & 1)


def from_text(text: str) -> Expected:
    """Read the tree of lstopo, where two more spaces of indentation, or ` + ` in a line, mean "part of"."""
    found, path = Expected(), list[_Item]()
    tree = re.split(r"(?m)^depth ", text)[0]
    for line in tree.splitlines():
        depth = len(line) - len(line.lstrip(" "))
        while path and path[-1].depth >= depth:
            path.pop()
        for part in line.strip().split(" + "):
            item = _text_item(part, depth)
            if item is None:
                continue
            if path:
                path[-1].children.append(item)
            path.append(item)
    _collect(path[0], frozenset(), found)
    found.kinds = [_cpus(mask) for mask in re.findall(r"(?m)^CPU kind #\d+ efficiency -?\d+ cpuset (\S+)", text)]
    return found


def _text_item(part: str, depth: int) -> _Item | None:
    parts = _TEXT.fullmatch(part)
    if parts is None:
        return None
    rest = parts[3] or ""
    is_memory_side = parts[1] == "MemCache" or "(MemorySideCache)" in part
    size = re.search(r"\b(?:local|size)=(\d+)KB", rest) or re.match(r"(\d+)KB\)", rest)
    return _Item(
        depth, parts[1], int(parts[2]) if parts[2] else None, int(size[1]) * 1024 if size else 0, is_memory_side
    )


def _collect(item: _Item, parent: Cpus, found: Expected) -> None:
    """Add an object and those below it; memory belongs to all threads of the object that it is attached to."""
    own = item.threads()
    if item.type == "PU":
        found.threads |= own
    elif item.type == "Core":
        found.cores[own] += 1
    elif item.type == "Package":
        found.packages[own] += 1
    elif item.is_memory_side:
        found.memory_side[item.size_bytes] += 1
    elif cache := _CACHE.fullmatch(item.type):
        found.caches[int(cache[1]), _CACHES[cache[2]], item.size_bytes, own] += 1
    elif item.type == "NUMANode":
        found.nodes[item.number or 0] = item.size_bytes or None, parent
    for child in item.children:
        _collect(child, parent if item.type == "MemCache" else own, found)


def from_xml(text: str) -> Expected:
    """Read hwloc's XML of version 2."""
    root = ET.fromstring(text)  # noqa: S314 - of hwloc's package
    found = Expected()
    for item in root.iter("object"):
        own, size = _cpus(item.get("cpuset", "0x0")), int(item.get("cache_size", "0"))
        match item.get("type", ""):
            case "PU":
                found.threads.add(int(item.attrib["os_index"]))
            case "Core":
                found.cores[own] += 1
            case "Package":
                found.packages[own] += 1
            case name if name == "MemCache" or item.get("subtype") == "MemorySideCache":
                found.memory_side[size] += 1
            case "NUMANode":
                found.nodes[int(item.attrib["os_index"])] = int(item.get("local_memory", "0")) or None, own
            case name if _CACHE.match(name):
                found.caches[int(item.attrib["depth"]), _XML_CACHES[item.attrib["cache_type"]], size, own] += 1
    found.kinds = [_cpus(kind.attrib["cpuset"]) for kind in root.iter("cpukind")]
    return found


def restricted(whole: Expected, allowed: Cpus, nodes: frozenset[int]) -> Expected:
    """Return what is left of a machine where only some threads and memory nodes may be used."""
    left = Expected(threads=whole.threads & allowed)

    def only(counts: Counter[Cpus]) -> Counter[Cpus]:
        return Counter({cpus & allowed: count for cpus, count in counts.items() if cpus & allowed})

    left.cores, left.packages = only(whole.cores), only(whole.packages)
    left.caches = Counter(
        {(*key[:3], key[3] & allowed): count for key, count in whole.caches.items() if key[3] & allowed}
    )
    left.memory_side = whole.memory_side
    left.nodes = {number: (size, cpus & allowed) for number, (size, cpus) in whole.nodes.items() if number in nodes}
    left.kinds = [kind & allowed for kind in whole.kinds if kind & allowed]
    return left


def differences(expected: Expected, found: Expected) -> Iterator[str]:
    """Yield a line for each fact in which two readings of a machine differ.

    The size of memory that hwloc does not state is not compared, and one kind of cores is none.
    """
    sizes = {number: size for number, (size, _) in expected.nodes.items() if size is not None}
    nodes = {number: (size if number in sizes else None, cpus) for number, (size, cpus) in found.nodes.items()}
    ours = replace(found, nodes=nodes)
    theirs = replace(expected, kinds=expected.kinds if len(expected.kinds) > 1 else [])
    for name in ("threads", "cores", "packages", "caches", "memory_side", "nodes", "kinds"):
        one, other = getattr(theirs, name), getattr(ours, name)
        if one != other:
            yield f"{name}: expected {_only(one, other)}, found {_only(other, one)}"


def _only(one: object, other: object) -> str:
    """Show what is in one and not in the other, cut to a readable length."""
    match one, other:
        case (Counter() | set(), Counter() | set()):
            left: object = one - other  # type: ignore[operator]
        case dict(), dict():
            left = {key: value for key, value in one.items() if other.get(key) != value}
        case _:
            left = one
    return str(left)[:300]
