"""What the kernel says about hardware threads: which are online, which this process may use, and their cores."""

import re

from octant.machine import Cpu, CpuSet, NumaNode, Topology
from octant.machine.cpusets import MOST_HERE, parse_cpus
from octant.machine.tree import FileTree

CPU = "sys/devices/system/cpu"
NODE = "sys/devices/system/node"


def read_topology_without_caches(tree: FileTree) -> Topology:
    """The topology as far as it is known without libhwloc: packages, cores, hardware threads and memory nodes.

    Raises:
        ValueError: no hardware thread is described, or more than a machine has, or their cores are not.
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
            raise ValueError(f"cannot tell the core of hardware thread {os} ({folder} has no sibling threads)")
        package = max(tree.number(f"{folder}/physical_package_id") or 0, 0)
        core = cores.setdefault(siblings, len(cores))
        found.append(Cpu(os, core, package, home.get(os), max(tree.number(f"{folder}/die_id") or 0, 0)))
    return Topology(tuple(found), None, nodes, online, kinds=None)


def read_numa_nodes(tree: FileTree, online: CpuSet) -> tuple[NumaNode, ...]:
    """The memory nodes, ascending, that state hardware threads or a size; none where the kernel was built without."""
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
    """The size of all memory; `None` where it is not stated."""
    size = re.search(r"(?m)^MemTotal:\s*([0-9]{1,15}) kB$", tree.text("proc/meminfo") or "")
    return int(size[1]) * 1024 if size and int(size[1]) else None


def read_online_cpus(tree: FileTree) -> CpuSet:
    """The hardware threads that are online; from `/proc/cpuinfo` or a CPUID dump where no list is.

    Raises:
        ValueError: no hardware thread is described, or more than a machine has.
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
            f"cannot discover a machine below {str(tree.root)!r} (no CPU is described); try a recorded one"
        )
    if len(online) > MOST_HERE:
        raise ValueError(f"cannot use a machine of {len(online)} hardware threads; the most are {MOST_HERE}")
    return online


def read_cgroup_cpus(tree: FileTree) -> CpuSet | None:
    """The cpuset that a control group grants to this process, or `None` where none is set."""
    for folder in list_cgroup_folders(tree, "cpuset"):
        for name in ("cpuset.cpus.effective", "cpuset.effective_cpus", "cpuset.cpus"):
            cpus = tree.cpus(f"{folder}/{name}")
            if cpus:
                return cpus
    return None


def list_cgroup_folders(tree: FileTree, controller: str) -> list[str]:
    """Folders of this process's control groups for a controller, innermost first (version 1 and 2).

    In a container the path may be outside of the mount; the mount itself then counts.
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
    """The mask that a recorded process had: `Cpus_allowed_list` of its status file, or every CPU."""
    listed = re.search(r"(?m)^Cpus_allowed_list:\s*(\S+)", tree.text("proc/self/status") or "")
    return parse_cpus(listed[1]) if listed else read_online_cpus(tree)
