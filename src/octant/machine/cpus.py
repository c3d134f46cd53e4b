"""Hardware threads in the files of the kernel: which are online, which this process may use, and their cores."""

import re

from octant.machine import Cpu, CpuSet, NumaNode, Topology
from octant.machine.cpusets import MAX_MACHINE_CPUS, parse_cpus
from octant.machine.tree import FileTree

CPU = "sys/devices/system/cpu"
NODE = "sys/devices/system/node"


def read_topology_without_caches(tree: FileTree) -> Topology:
    """Return the topology without libhwloc: packages, cores, hardware threads and NUMA nodes, but no caches.

    Raises:
        ValueError: no hardware thread is described, there are too many, or their cores are not described.
    """
    online = read_online_cpus(tree)
    nodes = read_numa_nodes(tree, online)
    home = {cpu: node.os for node in nodes for cpu in node.cpus}
    cores: dict[CpuSet, int] = {}
    found = []
    for os in sorted(online):
        folder = f"{CPU}/cpu{os}/topology"
        # Core numbers repeat between packages, on some kernels between dies; the set of siblings never does.
        paths = [f"{folder}/{name}" for name in ("core_cpus", "thread_siblings")]
        siblings = next((cpus for path in paths if (cpus := tree.cpu_set(f"{path}_list", path))), None)
        if not siblings:
            raise ValueError(f"cannot determine the core of hardware thread {os}: {folder} has no list of siblings")
        package = max(tree.number(f"{folder}/physical_package_id") or 0, 0)
        core = cores.setdefault(siblings, len(cores))
        found.append(Cpu(os, core, package, home.get(os), max(tree.number(f"{folder}/die_id") or 0, 0)))
    return Topology(tuple(found), None, nodes, online, kinds=None)


def read_numa_nodes(tree: FileTree, online: CpuSet) -> tuple[NumaNode, ...]:
    """Return the NUMA nodes that state hardware threads or a size, ascending; empty for kernels without NUMA."""
    found = []
    for number in sorted(tree.cpus(f"{NODE}/online") or tree.numbers(NODE, "node")):
        folder = f"{NODE}/node{number}"
        cpus = (tree.cpu_set(f"{folder}/cpulist", f"{folder}/cpumap") or frozenset()) & online
        size = re.search(r"MemTotal:\s*([0-9]{1,15}) kB", tree.text(f"{folder}/meminfo") or "")
        words = (tree.text(f"{folder}/distance") or "").split()
        distances = tuple(map(int, words)) if all(re.fullmatch("[0-9]{1,9}", word) for word in words) else ()
        if cpus or size:
            found.append(NumaNode(number, cpus, int(size[1]) * 1024 if size else None, distances))
    return tuple(found)


def read_memory_size(tree: FileTree) -> int | None:
    """Return the total memory size in bytes; `None` if it is not stated."""
    size = re.search(r"(?m)^MemTotal:\s*([0-9]{1,15}) kB$", tree.text("proc/meminfo") or "")
    return int(size[1]) * 1024 if size and int(size[1]) else None


def read_online_cpus(tree: FileTree) -> CpuSet:
    """Return the hardware threads that are online; from `/proc/cpuinfo` or a CPUID dump if there is no list.

    Raises:
        ValueError: no hardware thread is described, or there are too many.
    """
    listed, folders = tree.cpus(f"{CPU}/online"), tree.numbers(CPU, "cpu")
    if listed:
        online = (listed & frozenset(folders)) or listed
    elif switched := {n for n in folders if tree.text(f"{CPU}/cpu{n}/online") != "0"}:
        online = frozenset(switched)
    else:
        found = re.findall(r"(?m)^processor\s*:\s*([0-9]{1,4})\s*$", tree.text("proc/cpuinfo") or "")
        online = frozenset(map(int, found)) or frozenset(tree.numbers("cpuid", "pu"))
    if not online:
        raise ValueError(
            f"no CPU is described in {str(tree.root)!r}; use a folder recorded with `octant machine --record`"
        )
    if len(online) > MAX_MACHINE_CPUS:
        raise ValueError(f"the machine has {len(online)} hardware threads; at most {MAX_MACHINE_CPUS} are supported")
    return online


def read_cgroup_cpus(tree: FileTree) -> CpuSet | None:
    """Return the cpuset of the control group of this process, or `None` if none is set."""
    for folder in list_cgroup_folders(tree, "cpuset"):
        for name in ("cpuset.cpus.effective", "cpuset.effective_cpus", "cpuset.cpus"):
            cpus = tree.cpus(f"{folder}/{name}")
            if cpus:
                return cpus
    return None


def list_cgroup_folders(tree: FileTree, controller: str) -> list[str]:
    """Return the folders of this process's control groups for a controller, innermost first (version 1 and 2).

    In a container the path may be outside of the mount; then the mount itself is used.
    """
    found: list[str] = []
    for line in (tree.text("proc/self/cgroup") or "0::/").splitlines():
        _number, controllers, path = [*line.split(":", 2), "", ""][:3]
        if controllers and controller not in controllers.split(","):
            continue
        mounts = [f"sys/fs/cgroup/{controllers}", f"sys/fs/cgroup/{controller}"] if controllers else ["sys/fs/cgroup"]
        parts = [part for part in path.split("/") if part not in ("", "..")]
        for mount in dict.fromkeys(mounts):
            found += ["/".join([mount, *parts[:depth]]) for depth in range(len(parts), -1, -1)]
    return found


def read_affinity(tree: FileTree) -> CpuSet:
    """Return the affinity mask of a recorded process: `Cpus_allowed_list` of its status file, or every CPU."""
    listed = re.search(r"(?m)^Cpus_allowed_list:\s*(\S+)", tree.text("proc/self/status") or "")
    return parse_cpus(listed[1]) if listed else read_online_cpus(tree)
