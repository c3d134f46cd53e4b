"""Discovery of a machine: the local one, or a recorded one."""

import os
import platform
import re
from dataclasses import replace
from pathlib import Path

from octant.machine import CpuSet, Machine, Topology
from octant.machine import processor as processors
from octant.machine.cpus import (
    CPU,
    NODE,
    read_affinity,
    read_cgroup_cpus,
    read_memory_size,
    read_online_cpus,
    read_topology_without_caches,
)
from octant.machine.cpusets import parse_cpus
from octant.machine.crosscheck import (
    compare_with_kernel,
    disagreements,
    find_contradictions,
    find_unshared_caches,
    read_kernel_statements,
)
from octant.machine.hwloc import HelperError, NoHwlocError, read_xml, recorded_tree, this_machine
from octant.machine.hwloc.xml import total_memory
from octant.machine.sanity import check_machine
from octant.machine.system import page_sizes, system
from octant.machine.tree import FileTree
from octant.software.prefetcher import prefetch_switch
from octant.software.versions import software


def discover(root: Path = Path("/")) -> Machine:
    """Return the machine whose `sys`, `proc` and `etc` are below `root`.

    The default is the local machine: the affinity mask is that of this process, and versions of libraries are detected.
    Any other `root` is a recording, whose result does not depend on the local machine.

    Raises:
        ValueError: the files below `root` do not describe a machine.
    """
    return from_tree(FileTree(root))


def from_tree(tree: FileTree) -> Machine:
    """Return the machine of an open tree, which records the files that were read."""
    topology, unknown = _topology(tree)
    machine = Machine(
        name=tree.text("proc/sys/kernel/hostname") or (platform.node() if tree.live else tree.root.name),
        topology=topology,
        processor=processors.processor(tree),
        memory_bytes=read_memory_size(tree) or total_memory(topology.numa),
        page_sizes=page_sizes(tree, os.sysconf("SC_PAGE_SIZE") if tree.live else None),
        system=system(tree) | unknown,
        software=software() if tree.live else {},
    )
    if tree.live:
        architecture = machine.processor.architecture or platform.machine()
        processor = replace(machine.processor, architecture=architecture or None)
        family = machine.system.get("family", "")
        switch = prefetch_switch(architecture, processor.vendor, family, topology.allowed)
        machine = replace(machine, processor=processor, system=machine.system | switch)
    found = disagreements(machine, _facts_to_compare(tree))
    missing = (tree.cpus(f"{CPU}/online") or frozenset()) - frozenset(tree.numbers(CPU, "cpu"))
    found += compare_with_kernel(topology, read_kernel_statements(tree), missing)
    found += tuple(find_contradictions(tree, topology))
    return check_machine(replace(machine, disagreements=found))


def _topology(tree: FileTree) -> tuple[Topology, dict[str, str]]:
    """Return the topology and, if its caches are not known, the reason as `caches_unknown`.

    Raises:
        ValueError: hwloc cannot read the recording, or the files below the root do not describe a machine.
    """
    online, unknown = read_online_cpus(tree), {}
    try:
        topology = read_xml(this_machine() if tree.live else recorded_tree(tree))
    except (NoHwlocError, ValueError) as error:
        if not isinstance(error, NoHwlocError | HelperError) and not tree.live:
            raise
        topology, unknown = read_topology_without_caches(tree), {"caches_unknown": str(error)}
    if unshared := find_unshared_caches(tree, topology) if topology.caches is not None else "":
        unknown = {"caches_unknown": f"the kernel does not state which hardware threads share the {unshared}"}
        topology = replace(topology, caches=None)
    if len(topology.numa) == 1 and not tree.numbers(NODE, "node"):  # hwloc adds one node if none is stated
        cpus = tuple(replace(cpu, numa=None) for cpu in topology.cpus)
        topology = replace(topology, cpus=cpus, numa=(), memory_attributes=(), allowed_nodes=None)
    mask = _allowed_cpus(tree)
    usable = (
        (topology.allowed & mask or topology.allowed) if mask & online else mask
    )  # `check_machine` reports a wrong mask
    return replace(topology, allowed=usable, allowed_nodes=_allowed_nodes(tree, topology)), unknown


def _allowed_nodes(tree: FileTree, topology: Topology) -> CpuSet | None:
    """Return the NUMA nodes that this process may use, as its status and hwloc state; `None` if those are all."""
    status = tree.table("proc/self/status").get("Mems_allowed_list", "")
    mask = parse_cpus(status) if re.fullmatch("[0-9,-]+", status) else None
    if mask is None or topology.allowed_nodes is None:
        nodes = topology.allowed_nodes if mask is None else mask
    else:
        nodes = mask & topology.allowed_nodes or mask
    return nodes if replace(topology, allowed_nodes=nodes).forbidden_nodes() else None


def _allowed_cpus(tree: FileTree) -> CpuSet:
    """Return the affinity mask of the process, restricted to the cpuset of its control group."""
    mask = read_affinity(tree)  # always read, so that a recording contains it
    if tree.live and hasattr(os, "sched_getaffinity"):
        mask = frozenset(os.sched_getaffinity(0))
    group = read_cgroup_cpus(tree)
    return mask & group if group and mask & group else mask


def _facts_to_compare(tree: FileTree) -> dict[str, int]:
    """Return facts that are only compared with others."""
    text = tree.text("proc/cpuinfo") or ""
    clock = re.search(r"(?m)^cpu MHz\s*:\s*(\d{1,9}(?:\.\d{1,9})?)", text)
    facts = {"cpuinfo_cpus": len(re.findall(r"(?m)^processor\s*:\s*\d+", text))}
    return facts | ({"cpuinfo_hz": int(float(clock[1]) * 1e6)} if clock else {})
