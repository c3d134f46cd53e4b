"""Reads topologies in hwloc's XML (format 2 and 3), and hwloc's synthetic descriptions."""

import re
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from pathlib import Path

from octant.failure import Refusal
from octant.machine import Cache, CacheKind, Cpu, CpuSet, NumaNode, Topology
from octant.machine.cpusets import MOST_CPUS, MOST_HERE
from octant.machine.hwloc.document import parse_document
from octant.machine.synthetic import read_synthetic
from octant.untrusted import DEEPEST, exists, read_text

_CACHE = re.compile(r"L([1-9])(i?)Cache")
_WORDS = re.compile(r"(0x)?[0-9a-fA-F]{0,8}(,(0x)?[0-9a-fA-F]{0,8})*")
_MOST_BYTES = 1 << 60
"""Of a cache, and of a memory node."""
_KINDS: dict[str, CacheKind] = {"0": "unified", "1": "data", "2": "instruction"}
_FAST_MEMORY = frozenset({"HBM", "MCDRAM"})
_CORE_TYPES = {"IntelCore": "performance", "IntelAtom": "efficiency"}


@dataclass(frozen=True)
class _Place:
    """A place in the tree: what the objects above imply for the hardware threads below."""

    package: int = 0
    die: int = 0
    core: int = 0


def load(source: str | Path) -> Topology:
    """The topology in a file (hwloc XML, or a `.synthetic` file) or in a synthetic description itself.

    See `read_synthetic` for what a `.synthetic` file may hold.

    Raises:
        ValueError: neither a file that can be read nor a description, or one of no topology.
    """
    if isinstance(source, str) and ":" in source and not exists(Path(source)):
        return read_synthetic(source)
    try:
        text = read_text(Path(source), "machine")
    except Refusal as refusal:
        why = str(refusal).partition("; ")[0]
        raise ValueError(
            f"{why}; try an hwloc XML file, a .synthetic file or a description such as 'pack:2 core:4 pu:2'"
        ) from None
    if text.lstrip().startswith("<"):
        return read_xml(text)
    return read_synthetic(text)


def read_xml(text: str) -> Topology:
    """A topology from hwloc's XML, format 2 or 3.

    Memory beside other memory of the same place (HBM, CXL) becomes a node without hardware threads, as
    Linux shows it.

    Raises:
        ValueError: no such XML, one with entities or a document type of its own, objects nested too deep, or a number
            that is none, out of range, or given to two objects.
    """
    root = parse_document(text)
    machine = root.find("object")
    if root.tag != "topology" or machine is None or machine.get("type") != "Machine":
        raise ValueError("cannot read the topology (no hwloc machine in it); try 'lstopo --of xml FILE'")
    if root.get("version", "1")[:1] not in "23":
        raise ValueError(
            f"cannot read hwloc XML of version {root.get('version', '1')}; try 'lstopo -i OLD.xml NEW.xml'"
        )
    reader = _Reader(_cpu_kinds(root))
    reader.walk(machine, _Place())
    if not reader.cpus:
        raise ValueError("cannot read the topology (it has no hardware threads); try 'lstopo --of xml'")
    if len(reader.cpus) > MOST_HERE:
        raise ValueError(f"cannot use a topology of {len(reader.cpus)} hardware threads; try 1 to {MOST_HERE}")
    for what, numbers in (("PU", [cpu.os for cpu in reader.cpus]), ("NUMANode", [node[0] for node in reader.nodes])):
        if len(set(numbers)) < len(numbers):
            raise ValueError(f"cannot read the topology (two objects {what} have one os_index); try 'lstopo --of xml'")
    return reader.topology(_numbers(machine.get("allowed_cpuset")), _distances(root))


class _Reader:
    """Collects the content of the tree of objects."""

    def __init__(self, kinds: dict[int, str]) -> None:
        self.kinds = kinds
        self.cpus: list[Cpu] = []
        self.caches: list[Cache] = []
        self.nodes: list[tuple[int, CpuSet, int, bool]] = []  # number, threads, bytes, fast memory
        self.counts = {"Package": 0, "Die": 0, "Core": 0}

    def walk(self, item: ET.Element, place: _Place, depth: int = 1) -> None:
        if depth > DEEPEST:
            raise ValueError(f"cannot read the topology (nested deeper than {DEEPEST} levels); try 'lstopo --of xml'")
        kind = item.get("type", "")
        cpus = _numbers(item.get("cpuset"))
        if kind in self.counts:
            number = self.counts[kind]
            self.counts[kind] += 1
            place = _Place(
                number if kind == "Package" else place.package,
                number if kind == "Die" else place.die,
                number if kind == "Core" else place.core,
            )
        elif kind == "NUMANode":
            number, memory = _number(item, "os_index", MOST_CPUS - 1), _number(item, "local_memory", _MOST_BYTES)
            self.nodes.append((number, cpus, memory, item.get("subtype") in _FAST_MEMORY))
        elif match := _CACHE.fullmatch(kind):
            shape = _number(item, "cache_size", _MOST_BYTES), _number(item, "cache_linesize", _MOST_BYTES, "64")
            name = "instruction" if match[2] else _KINDS.get(item.get("cache_type", "0"), "unified")
            self.caches.append(Cache(int(match[1]), name, *shape, cpus))
        elif kind == "PU":
            number = _number(item, "os_index", MOST_CPUS - 1)
            self.cpus.append(Cpu(number, place.core, place.package, 0, place.die, self.kinds.get(number, "")))
        for child in item.findall("object"):
            self.walk(child, place, depth + 1)

    def topology(self, allowed: CpuSet, distances: dict[int, tuple[int, ...]]) -> Topology:
        """Gives each hardware thread its memory node: the smallest ordinary one that contains it."""
        home: dict[int, int] = {}
        for cpu in self.cpus:
            holding = [node for node in self.nodes if cpu.os in node[1]]
            best = min(holding, key=lambda node: (node[3], len(node[1]), node[0]), default=(0,))
            home[cpu.os] = best[0]
        numa = tuple(
            NumaNode(number, frozenset(c for c in cpus if home.get(c) == number), memory, distances.get(number, ()))
            for number, cpus, memory, _fast in sorted(self.nodes)
        )
        cpus = tuple(
            Cpu(c.os, c.core, c.package, home[c.os], c.die, c.kind) for c in sorted(self.cpus, key=lambda c: c.os)
        )
        online = frozenset(home)
        caches = (Cache(c.level, c.kind, c.size_bytes, c.line_bytes, c.cpus & online) for c in self.caches)
        return Topology(cpus, tuple(cache for cache in caches if cache.cpus), numa, (allowed & online) or online)


def _numbers(mask: str | None) -> CpuSet:
    """The numbers in one of hwloc's bitmaps: hexadecimal 32-bit words, highest first; an empty word is 0."""
    if not mask:
        return frozenset()
    body = mask.removeprefix("0xf...f").removeprefix(",")  # infinite; no machine's set is written so
    words = body.split(",")
    if 32 * len(words) > MOST_CPUS or not _WORDS.fullmatch(body):
        raise ValueError(f"cannot read the topology ({mask[:40]!r} is no set of its threads); try 'lstopo --of xml'")
    bits = int("".join(word.removeprefix("0x").rjust(8, "0") for word in words), 16)
    return frozenset(i for i in range(bits.bit_length()) if bits >> i & 1)


def _number(item: ET.Element, key: str, most: int, default: str = "0") -> int:
    text = item.get(key, default)
    if not re.fullmatch("[0-9]{1,20}", text) or int(text) > most:
        raise ValueError(
            f"cannot read the topology ({key}={text[:40]!r} of a {item.get('type')} is no number from 0 to {most}); "
            "try 'lstopo --of xml'"
        )
    return int(text)


def _cpu_kinds(root: ET.Element) -> dict[int, str]:
    """Hybrid processors: Intel's core type where it is given; else the last kind listed is the fastest."""
    entries = [(_numbers(kind.get("cpuset")), kind) for kind in root.findall("cpukind")]
    if len(entries) < 2:
        return {}
    found: dict[int, str] = {}
    for rank, (cpus, kind) in enumerate(entries):
        infos = {info.get("name"): info.get("value", "") for info in kind.findall("info")}
        fallback = "performance" if rank == len(entries) - 1 else "efficiency"
        found |= dict.fromkeys(cpus, _CORE_TYPES.get(infos.get("CoreType", ""), fallback))
    return found


def _distances(root: ET.Element) -> dict[int, tuple[int, ...]]:
    for matrix in root.findall("distances2"):
        if matrix.get("type") != "NUMANode" or matrix.get("indexing") != "os":
            continue
        if matrix.get("name", "NUMALatency") != "NUMALatency":
            continue
        nodes, values = _listed(matrix, "indexes"), _listed(matrix, "u64values")
        if nodes and len(values) == len(nodes) ** 2:
            size = len(nodes)
            return {node: tuple(values[i * size : (i + 1) * size]) for i, node in enumerate(nodes)}
    return {}


def _listed(matrix: ET.Element, tag: str) -> list[int]:
    words = [word for part in matrix.findall(tag) for word in (part.text or "").split()]
    if not all(re.fullmatch("[0-9]{1,9}", word) for word in words):
        raise ValueError(f"cannot read the topology (the {tag} of its distances are no numbers); try 'lstopo --of xml'")
    return [int(word) for word in words]
