"""Reads topologies in hwloc's XML of version 2 or 3."""

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from octant.machine import (
    Cache,
    CacheKind,
    Cpu,
    CpuKind,
    CpuSet,
    Machine,
    MemoryAttribute,
    NumaNode,
    Processor,
    Topology,
)
from octant.machine.cpusets import MOST_CPUS, MOST_HERE
from octant.machine.hwloc.document import parse_document
from octant.machine.kinds import classify

_CACHE = re.compile(r"L([1-9])(i?)Cache")
_WORDS = re.compile(r"(0x)?[0-9a-fA-F]{0,8}(,(0x)?[0-9a-fA-F]{0,8})*")
_MOST_BYTES = 1 << 60
"""Of a cache, and of a memory node."""
_KINDS: dict[str, CacheKind] = {"0": "unified", "1": "data", "2": "instruction"}
_MIB, _NS = (float(1 << 20), "B/s"), (1e-9, "s")
_UNITS = {
    "Bandwidth": _MIB, "ReadBandwidth": _MIB, "WriteBandwidth": _MIB,
    "Latency": _NS, "ReadLatency": _NS, "WriteLatency": _NS,
}  # fmt: skip
"""Memory attributes whose unit hwloc defines: scale to SI, unit."""
_DERIVED = frozenset({"Capacity", "Locality"})  # attributes that repeat the size and the cpuset of a node
_REMEDY = "try 'lstopo --of xml'"


def read_machine(text: str, name: str) -> Machine:
    """A machine from hwloc's XML: its topology, and what hwloc states about the processor and the memory.

    Raises:
        ValueError: see `read_xml`.
    """
    infos: dict[str, str] = {}
    for info in parse_document(text).iterfind("object//info"):
        infos.setdefault(info.get("name", ""), info.get("value", ""))
    topology = read_xml(text)
    model = infos.get("CPUModel") or infos.get("SoCModel") or "unknown"
    return Machine(
        name=infos.get("HostName") or name,
        topology=topology,
        processor=Processor(infos.get("Architecture") or None, infos.get("CPUVendor", ""), model, frozenset(), None),
        memory_bytes=known_sum(topology.numa),
        page_sizes=(),
        system={"kernel": infos["OSRelease"]} if infos.get("OSRelease") else {},
    )


def known_sum(nodes: Sequence[NumaNode]) -> int | None:
    """The memory of all nodes together; `None` where a size is not known."""
    sizes = [node.memory_bytes for node in nodes if node.memory_bytes is not None]
    return sum(sizes) if sizes and len(sizes) == len(nodes) else None


def read_xml(text: str) -> Topology:
    """A topology from hwloc's XML.

    Memory that is attached where other memory is (HBM, CXL, memory of GPUs) becomes a node without hardware threads, as
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
    reader = _Reader()
    reader.walk(machine, _Place())
    if not reader.places:
        raise ValueError(f"cannot read the topology (it has no hardware threads); {_REMEDY}")
    if len(reader.places) > MOST_HERE:
        raise ValueError(f"cannot use a topology of {len(reader.places)} hardware threads; try 1 to {MOST_HERE}")
    for what, numbers in (("PU", [n for n, _ in reader.places]), ("NUMANode", [node.os for node in reader.nodes])):
        if len(set(numbers)) < len(numbers):
            raise ValueError(f"cannot read the topology (two objects {what} have one os_index); {_REMEDY}")
    return reader.topology(root, machine)


@dataclass(frozen=True)
class _Place:
    """Where in the tree an object is: the identities of the objects above it; empty where there is none."""

    package: str = ""
    die: str = ""
    core: str = ""
    side_caches: tuple[int | None, ...] = ()


@dataclass
class _Reader:
    """Collects the content of the tree of objects."""

    places: list[tuple[int, _Place]] = field(default_factory=list)  # of each hardware thread
    caches: list[Cache] = field(default_factory=list)
    nodes: list[NumaNode] = field(default_factory=list)  # with all hardware threads of their locality
    numbers: dict[str, str] = field(default_factory=dict)  # of packages and dies, by identity: os_index
    cpusets: dict[str, CpuSet] = field(default_factory=dict)  # by gp_index
    node_of: dict[str, int] = field(default_factory=dict)  # by gp_index

    def walk(self, item: ET.Element, place: _Place) -> None:
        kind, cpus, index = item.get("type", ""), _numbers(item.get("cpuset")), item.get("gp_index", "")
        if index:
            self.cpusets[index] = cpus
        if kind in ("Package", "Die"):
            identity = f"{kind}{len(self.numbers)}"
            self.numbers[identity] = item.get("os_index", "")
            place = replace(place, package=identity, die="") if kind == "Package" else replace(place, die=identity)
        elif kind == "Core":
            place = replace(place, core=f"core before thread {len(self.places)}")
        elif kind == "MemCache":
            size = _number(item, "cache_size", _MOST_BYTES) or None
            place = replace(place, side_caches=(*place.side_caches, size))
        elif kind == "NUMANode":
            number, memory = _number(item, "os_index", MOST_CPUS - 1), _number(item, "local_memory", _MOST_BYTES)
            subtype = item.get("subtype", "")[:40]
            self.nodes.append(NumaNode(number, cpus, memory or None, (), subtype, place.side_caches))
            self.node_of[index] = number
        elif match := _CACHE.fullmatch(kind):
            self._add_cache(item, int(match[1]), bool(match[2]), cpus)
        elif kind == "PU":
            self.places.append((_number(item, "os_index", MOST_CPUS - 1), place))
        for child in item.findall("object"):
            self.walk(child, place)

    def _add_cache(self, item: ET.Element, level: int, instruction: bool, cpus: CpuSet) -> None:
        size, line = (_number(item, key, _MOST_BYTES) or None for key in ("cache_size", "cache_linesize"))
        kind = "instruction" if instruction else _KINDS.get(item.get("cache_type", "0"), "unified")
        ways = item.get("cache_associativity", "0")
        ways_known = re.fullmatch("[1-9][0-9]{0,8}", ways)  # 0: not known, -1: fully associative
        self.caches.append(Cache(level, kind, size, line, cpus, int(ways) if ways_known else None))

    def topology(self, root: ET.Element, machine: ET.Element) -> Topology:
        online = frozenset(number for number, _ in self.places)
        allowed_nodes = _numbers(machine.get("allowed_nodeset"))
        home = {number: self._home(number, allowed_nodes) for number in online}
        distances = _distances(root, sorted(node.os for node in self.nodes))
        kinds = tuple(_cpu_kinds(root, online))
        return Topology(
            cpus=tuple(self._cpus(home, classify(kinds))),
            caches=tuple(
                sorted(
                    (replace(c, cpus=c.cpus & online) for c in self.caches if c.cpus & online),
                    key=lambda cache: (cache.level, cache.kind, min(cache.cpus)),
                )
            ),
            numa=tuple(
                replace(node, cpus=frozenset(c for c in node.cpus if home.get(c) == node.os), distances=row)
                for node, row in zip(sorted(self.nodes, key=lambda node: node.os), distances, strict=True)
            ),
            allowed=(_numbers(machine.get("allowed_cpuset")) & online) or online,
            complete=(_numbers(machine.get("complete_cpuset")) | online),
            kinds=kinds,
            memory_attributes=tuple(self._attributes(root)),
        )

    def _home(self, cpu: int, allowed: CpuSet) -> int | None:
        """The node with the nearest memory of a hardware thread: the smallest one that contains it, DRAM first.

        One that may be used comes before all others: the system allows no node without memory.
        """
        holding = [node for node in self.nodes if cpu in node.cpus]
        best = min(
            holding,
            key=lambda node: (node.os not in allowed, node.kind not in ("", "DRAM"), len(node.cpus), node.os),
            default=None,
        )
        return best.os if best else None

    def _cpus(self, home: Mapping[int, int | None], classes: Mapping[int, str]) -> Iterator[Cpu]:
        places = sorted(self.places, key=lambda entry: entry[0])
        packages = self._numbered([place.package for _, place in places])
        dies: dict[str, int] = {}
        for package in packages:
            dies |= self._numbered([place.die for _, place in places if place.package == package])
        cores: dict[str, int] = {}
        for number, place in places:
            core = cores.setdefault(place.core or f"PU{number}", len(cores))
            die = dies.get(place.die, 0)
            yield Cpu(number, core, packages[place.package], home[number], die, classes.get(number, ""))

    def _numbered(self, identities: list[str]) -> dict[str, int]:
        """The numbers of packages, or of the dies of one: hwloc's if all have one of their own, else their order.

        A thread in none is in number 0 if there are none at all, else in -1.
        """
        found = [one for one in dict.fromkeys(identities) if one]
        stated = {one: self.numbers[one] for one in found}
        good = all(re.fullmatch("[0-9]{1,6}", number) for number in stated.values())
        distinct = good and len(set(stated.values())) == len(stated)
        numbers = {one: int(stated[one]) if distinct else place for place, one in enumerate(found)}
        return numbers | {"": -1 if numbers else 0}

    def _attributes(self, root: ET.Element) -> Iterator[MemoryAttribute]:
        for attribute in root.findall("memattr"):
            name = attribute.get("name", "")[:40]
            scale, unit = _UNITS.get(name, (1.0, ""))
            for value in attribute.findall("memattr_value") if name not in _DERIVED else ():
                node = self.node_of.get(value.get("target_obj_gp_index", ""))
                if node is None or value.get("target_obj_type") != "NUMANode":
                    continue
                of_object = self.cpusets.get(value.get("initiator_obj_gp_index", ""))
                mask = value.get("initiator_cpuset")
                initiators = _numbers(mask) if mask else of_object
                yield MemoryAttribute(name, node, _number(value, "value", _MOST_BYTES) * scale, unit, initiators)


def _numbers(mask: str | None) -> CpuSet:
    """The numbers in one of hwloc's bitmaps: hexadecimal 32-bit words, highest first; an empty word is 0."""
    if not mask:
        return frozenset()
    body = mask.removeprefix("0xf...f").removeprefix(",")  # infinite; no machine's set is written so
    words = body.split(",")
    if 32 * len(words) > MOST_CPUS or not _WORDS.fullmatch(body):
        raise ValueError(f"cannot read the topology ({mask[:40]!r} is no set of its threads); {_REMEDY}")
    bits = int("".join(word.removeprefix("0x").rjust(8, "0") for word in words), 16)
    return frozenset(i for i in range(bits.bit_length()) if bits >> i & 1)


def _number(item: ET.Element, key: str, most: int, default: str = "0") -> int:
    text = item.get(key, default)
    if not re.fullmatch("[0-9]{1,20}", text) or int(text) > most:
        raise ValueError(
            f"cannot read the topology ({key}={text[:40]!r} of a {item.get('type', item.tag)} is no number from 0 to "
            f"{most}); {_REMEDY}"
        )
    return int(text)


def _cpu_kinds(root: ET.Element, online: CpuSet) -> Iterator[CpuKind]:
    """The kinds of hardware threads in hwloc's order, which is ascending where it ranks them; none if all are alike."""
    entries = [(_numbers(kind.get("cpuset")) & online, kind) for kind in root.findall("cpukind")]
    entries = [(cpus, kind) for cpus, kind in entries if cpus]
    if len(entries) < 2:
        return
    ranked = all(
        kind.get("forced_efficiency") or any(_ranks(info.get("name", "")) for info in kind.findall("info"))
        for _, kind in entries
    )
    for rank, (cpus, kind) in enumerate(entries):
        infos = tuple((info.get("name", ""), info.get("value", "")) for info in kind.findall("info"))
        yield CpuKind(cpus, rank if ranked else None, infos)


def _ranks(info: str) -> bool:
    """Whether hwloc ranks kinds by an info of this name."""
    return info in ("CoreType", "LinuxCapacity", "FrequencyBaseMHz", "FrequencyMaxMHz")


def _distances(root: ET.Element, nodes: list[int]) -> list[tuple[int, ...]]:
    """The latency matrix in the order of `nodes`; empty rows where there is none of all nodes."""
    if len(nodes) == 1:
        return [(10,)]  # ACPI defines the distance of a node from itself
    for matrix in root.findall("distances2"):
        if matrix.get("type") != "NUMANode" or matrix.get("indexing") != "os":
            continue
        if matrix.get("name", "NUMALatency") != "NUMALatency":
            continue
        listed, values = _listed(matrix, "indexes"), _listed(matrix, "u64values")
        if sorted(listed) == nodes and len(values) == len(nodes) ** 2:
            at = {node: place for place, node in enumerate(listed)}
            return [tuple(values[at[one] * len(nodes) + at[other]] for other in nodes) for one in nodes]
    return [()] * len(nodes)


def _listed(matrix: ET.Element, tag: str) -> list[int]:
    words = [word for part in matrix.findall(tag) for word in (part.text or "").split()]
    if not all(re.fullmatch("[0-9]{1,9}", word) for word in words):
        raise ValueError(f"cannot read the topology (the {tag} of its distances are no numbers); {_REMEDY}")
    return [int(word) for word in words]
