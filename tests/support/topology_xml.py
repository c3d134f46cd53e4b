"""Topologies as hwloc 2 XML, which launchers and hwloc itself read: for tests that compare Octant with them."""

import xml.etree.ElementTree as ET
from collections.abc import Iterable

from octant.machine import CacheKind, CpuSet, Topology

_KINDS: dict[CacheKind, str] = {"unified": "0", "data": "1", "instruction": "2"}


def write_xml(topology: Topology) -> str:
    """The topology as hwloc 2 XML."""
    machine = ET.Element("object", _sets("Machine", 0, (c.os for c in topology.cpus)))
    machine.set("allowed_cpuset", _mask(topology.allowed))
    machine.set("allowed_nodeset", _mask(n.os for n in topology.numa))
    machine.set("nodeset", _mask(n.os for n in topology.numa))
    machine.set("complete_nodeset", machine.get("nodeset", ""))
    levels: list[tuple[CpuSet, dict[str, str]]] = []
    levels += [(held, _sets("Package", i, held)) for i, held in enumerate(topology.groups("package"))]
    group = {"kind": "1001", "subkind": "0"}
    levels += [(n.cpus, _sets("Group", None, n.cpus) | group) for n in topology.numa if n.cpus]
    for cache in sorted(topology.caches or (), key=lambda c: (-c.level, c.kind == "instruction")):
        name = f"L{cache.level}{'i' if cache.kind == 'instruction' else ''}Cache"
        shape = {"cache_size": str(cache.size_bytes), "depth": str(cache.level), "cache_type": _KINDS[cache.kind]}
        shape |= {"cache_linesize": str(cache.line_bytes), "cache_associativity": str(cache.ways or 0)}
        levels.append((cache.cpus, _sets(name, None, cache.cpus) | shape))
    levels += [(core, _sets("Core", index, core)) for index, core in enumerate(topology.groups("core"))]
    levels += [(frozenset({cpu.os}), _sets("PU", cpu.os, {cpu.os})) for cpu in topology.cpus]
    _nest(machine, levels, topology)
    root = ET.Element("topology", {"version": "2.0"})
    root.append(machine)
    kinds = {kind: [c.os for c in topology.cpus if c.kind == kind] for kind in ("efficiency", "performance")}
    if all(kinds.values()):
        for rank, cpus in enumerate(kinds.values()):
            ET.SubElement(root, "cpukind", {"cpuset": _mask(cpus), "forced_efficiency": str(rank)})
    ET.indent(root)
    head = '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE topology SYSTEM "hwloc2.dtd">\n'
    return head + ET.tostring(root, encoding="unicode") + "\n"


def _sets(kind: str, index: int | None, cpus: Iterable[int]) -> dict[str, str]:
    mask = _mask(cpus)
    number = {} if index is None else {"os_index": str(index)}
    return {"type": kind, **number, "cpuset": mask, "complete_cpuset": mask}


def _nest(machine: ET.Element, levels: list[tuple[CpuSet, dict[str, str]]], topology: Topology) -> None:
    """Puts each object under the smallest one so far that contains it; wider objects go first."""
    parents: list[tuple[CpuSet, ET.Element]] = [(frozenset(c.os for c in topology.cpus), machine)]
    homes = {node.cpus: node for node in topology.numa if node.cpus}
    order = sorted(range(len(levels)), key=lambda i: (-len(levels[i][0]), i))
    gp = 1
    machine.set("gp_index", "1")
    for i in order:
        cpus, attributes = levels[i]
        under = [(len(held), -n, parent) for n, (held, parent) in enumerate(parents) if held >= cpus]
        gp += 1
        nodes = _mask(n.os for n in topology.numa if n.cpus & cpus)
        attributes |= {"nodeset": nodes, "complete_nodeset": nodes, "gp_index": str(gp)}
        element = ET.SubElement(min(under, key=lambda u: u[:2])[2], "object", attributes)
        parents.append((cpus, element))
        if attributes["type"] == "Group":
            gp += 1
            memory = _sets("NUMANode", homes[cpus].os, cpus) | {"local_memory": str(homes[cpus].memory_bytes)}
            memory |= {"nodeset": nodes, "complete_nodeset": nodes, "gp_index": str(gp)}
            ET.SubElement(element, "object", memory)
    for _cpus, element in parents:  # hwloc wants siblings in the order of their lowest threads, memory first
        element[:] = sorted(element, key=lambda e: (e.get("type") != "NUMANode", _lowest(e.get("cpuset", ""))))
    for node in topology.numa:
        if not node.cpus:
            gp += 1
            nodes = _mask({node.os})
            memory = _sets("NUMANode", node.os, ()) | {"local_memory": str(node.memory_bytes)}
            memory |= {"nodeset": nodes, "complete_nodeset": nodes, "gp_index": str(gp)}
            machine.insert(0, ET.Element("object", memory))


def _mask(numbers: Iterable[int]) -> str:
    bits = sum(1 << number for number in numbers)
    words: list[str] = []
    while bits or not words:
        words.append(f"0x{bits & 0xFFFFFFFF:08x}")
        bits >>= 32
    return ",".join(reversed(words))


def _lowest(mask: str) -> int:
    bits = int("".join(word.removeprefix("0x") for word in mask.split(",")), 16)
    return (bits & -bits).bit_length() - 1
