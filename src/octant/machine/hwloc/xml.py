"""Topologies in hwloc's XML of version 2 or 3."""

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

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
)  # fmt: skip
from octant.machine.cpusets import MAX_CPUS, MAX_MACHINE_CPUS, parse_mask
from octant.machine.kinds import classify
from octant.untrusted import DEEPEST

_DOCTYPE = re.compile(r"<!DOCTYPE\s+topology\s+SYSTEM\s+\"hwloc[0-9]*\.dtd\"\s*>")
_CACHE = re.compile(r"L([1-9])(i?)Cache")
_WORDS = re.compile(r"(0x)?[0-9a-fA-F]{0,8}(,(0x)?[0-9a-fA-F]{0,8})*")
_MAX_BYTES = 1 << 60
"""Maximum size of a cache or a NUMA node."""
_KINDS: dict[str, CacheKind] = {"0": "unified", "1": "data", "2": "instruction"}
_MIB, _NS = (float(1 << 20), "B/s"), (1e-9, "s")
_UNITS = {
    "Bandwidth": _MIB, "ReadBandwidth": _MIB, "WriteBandwidth": _MIB,
    "Latency": _NS, "ReadLatency": _NS, "WriteLatency": _NS,
}  # fmt: skip
"""Memory attributes with units defined by hwloc: scale to SI, unit."""
_DERIVED = frozenset({"Capacity", "Locality"})  # attributes that repeat the size and the cpuset of a node
_REMEDY = "write it again with 'lstopo --of xml'"
_PARTS = ("Package", "Die", "Core")
_RANKING = frozenset({"CoreType", "LinuxCapacity", "FrequencyBaseMHz", "FrequencyMaxMHz"})
"""Infos from which hwloc ranks kinds of hardware threads."""

_SIDE_CACHE = "MemorySideCache"
"""Subtype of memory-side caches."""


def parse_document(text: str) -> ET.Element:
    """Return the root element of a document with the document type of hwloc or without one.

    Raises:
        ValueError: the text is not XML, is nested too deeply, or declares another document type or entities.
    """
    body = _DOCTYPE.sub("", text, count=1)
    if "<!DOCTYPE" in body or "<!ENTITY" in body:
        raise ValueError("cannot read the topology: the file declares a document type or entities; remove them")
    try:
        root = ET.fromstring(body)  # noqa: S314 (without a document type there are no entities)
    except ET.ParseError as error:
        raise ValueError(f"cannot read the topology: invalid XML ({error}); {_REMEDY}") from error
    level = [root]
    for _ in range(DEEPEST):
        level = [child for item in level for child in item]
    if level:
        raise ValueError(f"cannot read the topology: it is nested deeper than {DEEPEST} levels; {_REMEDY}")
    return root


def read_machine(text: str, name: str) -> Machine:
    """Return the machine in hwloc's XML: topology, processor and memory.

    Raises:
        ValueError: see `read_xml`.
    """
    root = parse_document(text)
    topology = _topology(root)
    stated = [(info.get("name", ""), info.get("value", "")) for info in root.iterfind("object//info")]
    infos = dict(reversed(stated))  # the first info of a name is used
    model = infos.get("CPUModel") or infos.get("SoCModel") or "unknown"
    return Machine(
        name=infos.get("HostName") or name,
        topology=topology,
        processor=Processor(infos.get("Architecture") or None, infos.get("CPUVendor", ""), model, frozenset(), None),
        memory_bytes=total_memory(topology.numa),
        page_sizes=(),
        system={"kernel": infos["OSRelease"]} if infos.get("OSRelease") else {},
    )


def total_memory(nodes: Sequence[NumaNode]) -> int | None:
    """Return the total memory of the nodes; `None` if a size is not known."""
    sizes = [node.memory_bytes for node in nodes if node.memory_bytes is not None]
    return sum(sizes) if sizes and len(sizes) == len(nodes) else None


def read_xml(text: str) -> Topology:
    """Return the topology in hwloc's XML.

    Additional memory at the same place (HBM, CXL, memory of GPUs) becomes a node without hardware threads, as in Linux.

    Raises:
        ValueError: invalid XML, entities or another document type, objects nested too deeply, or a number that is
            invalid, out of range, or used for two objects.
    """
    return _topology(parse_document(text))


_Above = tuple[ET.Element, ...]
"""Ancestors of an object, outermost first."""


def _topology(root: ET.Element) -> Topology:
    machine = root.find("object")
    if root.tag != "topology" or machine is None or machine.get("type") != "Machine":
        raise ValueError(f"cannot read the topology: the XML has no hwloc machine; {_REMEDY}")
    version = root.get("version", "1")
    if version[:1] not in "23":
        raise ValueError(
            f"cannot read hwloc XML of version {version}; convert it to version 2 with 'lstopo -i OLD.xml NEW.xml'"
        )
    objects = list(_objects(machine, ()))
    threads, places = _by_number(objects, "PU"), _by_number(objects, "NUMANode")
    if not 0 < len(threads) <= MAX_MACHINE_CPUS:
        found = f"it has {len(threads)} hardware threads; 1 to {MAX_MACHINE_CPUS} are supported"
        raise ValueError(f"cannot read the topology: {found}; {_REMEDY}")
    online = frozenset(threads)
    side_caches = [
        one for one, _ in objects if one.get("subtype") == _SIDE_CACHE and _CACHE.fullmatch(one.get("type", ""))
    ]
    nodes = [_node(number, *place, side_caches) for number, place in sorted(places.items())]
    allowed_nodes = _numbers(machine.get("allowed_nodeset"))
    allowed = _numbers(machine.get("allowed_cpuset"))
    forbidden = {node.os for node in nodes if node.memory_bytes} - allowed_nodes
    home = {number: _home(number, nodes, allowed_nodes) for number in online}
    kinds = tuple(_cpu_kinds(root, online))
    caches = [cache for item, _ in objects if (cache := _cache(item, online)) is not None]
    return Topology(
        cpus=tuple(_cpus(threads, home, classify(kinds))),
        caches=tuple(sorted(caches, key=lambda cache: (cache.level, cache.kind, min(cache.cpus)))),
        numa=tuple(
            replace(node, cpus=frozenset(c for c in node.cpus if home.get(c) == node.os), distances=row)
            for node, row in zip(nodes, _distances(root, [node.os for node in nodes]), strict=True)
        ),
        allowed=allowed & online or allowed or online,
        complete=(_numbers(machine.get("complete_cpuset")) | online),
        kinds=kinds,
        memory_attributes=tuple(_attributes(root, {item.get("gp_index"): item for item, _ in objects})),
        allowed_nodes=allowed_nodes if allowed_nodes and forbidden else None,
    )


def _objects(item: ET.Element, above: _Above) -> Iterator[tuple[ET.Element, _Above]]:
    yield item, above
    for child in item.findall("object"):
        yield from _objects(child, (*above, item))


def _by_number(objects: Iterable[tuple[ET.Element, _Above]], kind: str) -> dict[int, tuple[ET.Element, _Above]]:
    """Return the objects of a type by their `os_index`, which must be unique."""
    found: dict[int, tuple[ET.Element, _Above]] = {}
    for item, above in objects:
        if item.get("type") == kind and found.setdefault(_os_index(item), (item, above))[0] is not item:
            raise ValueError(f"cannot read the topology: two objects of type {kind} have one os_index; {_REMEDY}")
    return found


def _os_index(item: ET.Element) -> int:
    return _number(item, "os_index", MAX_CPUS - 1)


def _node(number: int, item: ET.Element, above: _Above, side_caches: Iterable[ET.Element]) -> NumaNode:
    """Return a NUMA node with all hardware threads of its locality."""
    kind = item.get("subtype", "")[:40]
    # On Knights Landing, hwloc describes the part of the MCDRAM that caches DRAM as an L3 cache.
    caches = [one for one in above if one.get("type") == "MemCache"]
    caches += [one for one in side_caches if kind != "MCDRAM" and number in _numbers(one.get("nodeset"))]
    sides = tuple(_number(one, "cache_size", _MAX_BYTES) or None for one in caches)
    memory = _number(item, "local_memory", _MAX_BYTES) or None
    return NumaNode(number, _numbers(item.get("cpuset")), memory, (), kind, sides)


def _cache(item: ET.Element, online: CpuSet) -> Cache | None:
    match, cpus = _CACHE.fullmatch(item.get("type", "")), _numbers(item.get("cpuset")) & online
    if match is None or item.get("subtype") == _SIDE_CACHE:
        return None
    size, line = (_number(item, key, _MAX_BYTES) or None for key in ("cache_size", "cache_linesize"))
    kind = "instruction" if match[2] else _KINDS.get(item.get("cache_type", "0"), "unified")
    ways = re.fullmatch("[1-9][0-9]{0,8}", item.get("cache_associativity", "0"))  # 0: not known, -1: fully associative
    return Cache(int(match[1]), kind, size, line, cpus, int(ways[0]) if ways else None) if cpus else None


def _home(cpu: int, nodes: Iterable[NumaNode], allowed: CpuSet) -> int | None:
    """Return the local NUMA node of a hardware thread: the smallest one that contains it, DRAM first.

    Usable nodes have precedence, since the system does not allow nodes without memory.
    """
    holding = (
        (node.os not in allowed, node.kind not in ("", "DRAM"), len(node.cpus), node.os)
        for node in nodes
        if cpu in node.cpus
    )
    return min(holding, default=(None,))[-1]


def _cpus(
    threads: Mapping[int, tuple[ET.Element, _Above]], home: Mapping[int, int | None], classes: Mapping[int, str]
) -> Iterator[Cpu]:
    parts = {
        number: tuple(next((one for one in reversed(above) if one.get("type") == kind), None) for kind in _PARTS)
        for number, (_, above) in sorted(threads.items())
    }
    packages = _numbered(package for package, _, _ in parts.values())
    dies = {
        (package, die): number
        for package in packages
        for die, number in _numbered(other for one, other, _ in parts.values() if one is package).items()
    }
    cores: dict[object, int] = {}
    for number, (package, die, core) in parts.items():
        place = cores.setdefault(number if core is None else core, len(cores))
        yield Cpu(number, place, packages[package], home[number], dies[package, die], classes.get(number, ""))


def _numbered(parts: Iterable[ET.Element | None]) -> dict[ET.Element | None, int]:
    """Return the numbers of packages or dies: those of hwloc if they are unique, else their order.

    The number for threads without a part is 0 if there are no parts at all, else -1.
    """
    found = [one for one in dict.fromkeys(parts) if one is not None]
    stated = [one.get("os_index", "") for one in found]
    distinct = len(set(stated)) == len(stated) and all(re.fullmatch("[0-9]{1,6}", number) for number in stated)
    numbers = map(int, stated) if distinct else range(len(found))
    return {**dict(zip(found, numbers, strict=True)), None: -1 if found else 0}


def _attributes(root: ET.Element, objects: Mapping[str | None, ET.Element]) -> Iterator[MemoryAttribute]:
    for attribute in root.findall("memattr"):
        name = attribute.get("name", "")[:40]
        scale, unit = _UNITS.get(name, (1.0, ""))
        for value in attribute.findall("memattr_value") if name not in _DERIVED else ():
            node = objects.get(value.get("target_obj_gp_index", ""))
            if node is None or node.get("type") != "NUMANode":
                continue
            initiator = objects.get(value.get("initiator_obj_gp_index", ""))
            mask = value.get("initiator_cpuset") or (None if initiator is None else initiator.get("cpuset"))
            amount = _number(value, "value", _MAX_BYTES) * scale
            yield MemoryAttribute(name, _os_index(node), amount, unit, _numbers(mask) if mask else None)


def _numbers(mask: str | None) -> CpuSet:
    """Return the numbers in an hwloc bitmap: hexadecimal 32-bit words, highest first; an empty word is 0."""
    if not mask:
        return frozenset()
    body = mask.removeprefix("0xf...f").removeprefix(",")  # an infinite set, which is not that of a machine
    if not _WORDS.fullmatch(body):
        raise ValueError(f"cannot read the topology: {mask[:40]!r} is not an hwloc bitmap; {_REMEDY}")
    return parse_mask("".join(word.removeprefix("0x").rjust(8, "0") for word in body.split(",")))


def _number(item: ET.Element, key: str, most: int) -> int:
    text = item.get(key, "0")
    if not re.fullmatch("[0-9]{1,20}", text) or int(text) > most:
        raise ValueError(
            f"cannot read the topology: {key}={text[:40]!r} of a {item.get('type', item.tag)} is not a number from 0 "
            f"to {most}; {_REMEDY}"
        )
    return int(text)


def _cpu_kinds(root: ET.Element, online: CpuSet) -> Iterator[CpuKind]:
    """Yield the kinds of hardware threads in hwloc's order, ascending if ranked; none if there is only one kind."""
    entries = [(_numbers(kind.get("cpuset")) & online, kind) for kind in root.findall("cpukind")]
    entries = [(cpus, kind) for cpus, kind in entries if cpus]
    if len(entries) < 2:
        return
    infos = [tuple((i.get("name", ""), i.get("value", "")) for i in kind.findall("info")) for _, kind in entries]
    forced = [kind.get("forced_efficiency") for _, kind in entries]
    ranked = all(one or _RANKING & dict(of).keys() for one, of in zip(forced, infos, strict=True))
    for rank, (cpus, _) in enumerate(entries):
        yield CpuKind(cpus, rank if ranked else None, infos[rank])


def _distances(root: ET.Element, nodes: list[int]) -> list[tuple[int, ...]]:
    """Return the latency matrix in the order of `nodes`; empty rows if there is no matrix of all nodes."""
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
        raise ValueError(f"cannot read the topology: the {tag} of its distances are not numbers; {_REMEDY}")
    return [int(word) for word in words]
