"""Packages, NUMA domains, caches, cores and hardware threads, read from `/sys/devices/system`."""

import re

from octant.machine import Cache, CacheKind, Cpu, CpuSet, NumaNode, Topology
from octant.machine.cpusets import MOST_HERE, parse_cpus
from octant.machine.tree import Tree

CPU = "sys/devices/system/cpu"
NODE = "sys/devices/system/node"
_KINDS: dict[str, CacheKind] = {"Data": "data", "Instruction": "instruction", "Unified": "unified"}
_SIZE = re.compile(r"([0-9]{1,9})([KMG]?)")


def topology(tree: Tree, affinity: CpuSet, memory_bytes: int) -> Topology:
    """The topology below `tree`, limited to the process's mask `affinity`.

    Raises:
        ValueError: no hardware thread is described, or more than a machine has.
    """
    online = _online(tree)
    if len(online) > MOST_HERE:
        raise ValueError(f"cannot use a machine of {len(online)} hardware threads; the most are {MOST_HERE}")
    if not online:
        raise ValueError(
            f"cannot discover a machine below {str(tree.root)!r} (no CPU is described); try a recorded one"
        )
    nodes = _nodes(tree, online, memory_bytes)
    return Topology(
        cpus=_cpus(tree, online, nodes),
        caches=_caches(tree, online),
        numa=nodes,
        allowed=(affinity & online) or online,
    )


def _online(tree: Tree) -> CpuSet:
    """The hardware threads that are online; from `/proc/cpuinfo` where there is no list."""
    listed, folders = tree.cpus(f"{CPU}/online"), tree.numbers(CPU, "cpu")
    if listed:
        return (listed & frozenset(folders)) or listed
    switched = {n for n in folders if tree.text(f"{CPU}/cpu{n}/online") != "0"}
    if switched:
        return frozenset(switched)
    return frozenset(
        int(n) for n in re.findall(r"(?m)^processor\s*:\s*([0-9]{1,4})\s*$", tree.text("proc/cpuinfo") or "")
    )


def _cpus(tree: Tree, online: CpuSet, nodes: tuple[NumaNode, ...]) -> tuple[Cpu, ...]:
    home = {cpu: node.os for node in nodes for cpu in node.cpus}
    kinds = _kinds(tree, online)
    cores: dict[CpuSet, int] = {}
    found = []
    for os in sorted(online):
        folder = f"{CPU}/cpu{os}/topology"
        package = max(tree.number(f"{folder}/physical_package_id") or 0, 0)
        die = max(tree.number(f"{folder}/die_id") or 0, 0)
        # Core numbers repeat between packages, on some kernels between dies; the set of siblings never does.
        siblings = tree.cpus(f"{folder}/core_cpus_list") or tree.cpus(f"{folder}/thread_siblings_list")
        core = cores.setdefault(siblings or frozenset({os}), len(cores))
        found.append(Cpu(os, core, package, home.get(os, nodes[0].os), die, kinds.get(os, "")))
    return tuple(found)


def _kinds(tree: Tree, online: CpuSet) -> dict[int, str]:
    """Kinds of cores: from Intel's two counter units, elsewhere from the kernel's capacities."""
    performance = tree.cpus("sys/devices/cpu_core/cpus")
    efficiency = tree.cpus("sys/devices/cpu_atom/cpus")
    if performance and efficiency:
        return dict.fromkeys(performance, "performance") | dict.fromkeys(efficiency, "efficiency")
    capacity = {n: value for n in online if (value := tree.number(f"{CPU}/cpu{n}/cpu_capacity")) is not None}
    best = max(capacity.values(), default=0)
    if len(set(capacity.values())) < 2:
        return {}
    return {n: "performance" if value == best else "efficiency" for n, value in capacity.items()}


def _caches(tree: Tree, online: CpuSet) -> tuple[Cache, ...]:
    found: dict[tuple[int, str, CpuSet], Cache] = {}
    for os in sorted(online):
        for index in tree.numbers(f"{CPU}/cpu{os}/cache", "index"):
            folder = f"{CPU}/cpu{os}/cache/index{index}"
            level, kind = tree.amount(f"{folder}/level"), _KINDS.get(tree.text(f"{folder}/type") or "")
            size = _SIZE.fullmatch(tree.text(f"{folder}/size") or "")
            if not level or level > 9 or kind is None or size is None or int(size[1]) == 0:
                continue  # device trees that name a cache without its size are of no use
            cpus = ((tree.cpus(f"{folder}/shared_cpu_list") or frozenset()) | {os}) & online
            size_bytes = int(size[1]) * {"": 1, "K": 2**10, "M": 2**20, "G": 2**30}[size[2]]
            line_bytes = tree.amount(f"{folder}/coherency_line_size") or 64
            ways = tree.amount(f"{folder}/ways_of_associativity") or None
            found.setdefault((level, kind, cpus), Cache(level, kind, size_bytes, line_bytes, cpus, ways))
    return tuple(sorted(found.values(), key=lambda cache: (cache.level, cache.kind, min(cache.cpus))))


def _nodes(tree: Tree, online: CpuSet, memory_bytes: int) -> tuple[NumaNode, ...]:
    """The memory nodes; a single one where the kernel was built without NUMA."""
    numbers = sorted(tree.cpus(f"{NODE}/online") or tree.numbers(NODE, "node"))
    found = []
    for number in numbers:
        folder = f"{NODE}/node{number}"
        size = re.search(r"MemTotal:\s*([0-9]{1,15}) kB", tree.text(f"{folder}/meminfo") or "")
        words = (tree.text(f"{folder}/distance") or "").split()
        distances = tuple(map(int, words)) if all(re.fullmatch("[0-9]{1,9}", word) for word in words) else ()
        cpus = (tree.cpus(f"{folder}/cpulist") or frozenset()) & online
        if cpus or size:
            found.append(NumaNode(number, cpus, int(size[1]) * 1024 if size else 0, distances))
    if not any(node.cpus for node in found):
        return (NumaNode(0, online, memory_bytes, (10,)),)
    return tuple(found)


def cgroup_cpus(tree: Tree) -> CpuSet | None:
    """The cpuset that a control group grants to this process, or `None` where none is set."""
    for folder in cgroup_folders(tree, "cpuset"):
        for name in ("cpuset.cpus.effective", "cpuset.effective_cpus", "cpuset.cpus"):
            cpus = tree.cpus(f"{folder}/{name}")
            if cpus:
                return cpus
    return None


def cgroup_folders(tree: Tree, controller: str) -> list[str]:
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


def affinity(tree: Tree) -> CpuSet:
    """The mask that a recorded process had: `Cpus_allowed_list` of its status file, or every CPU."""
    listed = re.search(r"(?m)^Cpus_allowed_list:\s*(\S+)", tree.text("proc/self/status") or "")
    return parse_cpus(listed[1]) if listed else _online(tree)
