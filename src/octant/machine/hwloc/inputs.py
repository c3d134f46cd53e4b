"""Files that hwloc reads on Linux for processors, caches, memory and the limits of control groups."""

import os
import re
from collections.abc import Iterator
from fnmatch import fnmatchcase

from octant.machine.cpus import CPU as _CPU
from octant.machine.cpus import NODE as _NODE
from octant.machine.tree import FileTree

_FILES = (  # topology-linux.c of hwloc 2.11, without I/O devices; Octant also reads the lists next to masks
    "proc/cpuinfo", "proc/meminfo", "proc/mounts", "proc/self/cgroup", "proc/self/cpuset", "proc/hwloc-nofile-info",
    "proc/driver/nvidia/gpus/*/numa_status",
    f"{_CPU}/online", f"{_CPU}/possible", f"{_CPU}/present", f"{_CPU}/cpu*/online", f"{_CPU}/cpu*/topology/*",
    f"{_CPU}/cpu*/cache/index*/[!u]*", f"{_CPU}/cpu*/cpufreq/cpuinfo_max_freq", f"{_CPU}/cpu*/cpufreq/base_frequency",
    f"{_CPU}/cpu*/acpi_cppc/nominal_freq", f"{_CPU}/cpu*/cpu_capacity",
    "sys/devices/cpu_*/cpus", "sys/bus/soc/devices/soc*/*",
    f"{_NODE}/online", f"{_NODE}/possible", f"{_NODE}/node*/cpulist", f"{_NODE}/node*/cpumap",
    f"{_NODE}/node*/meminfo", f"{_NODE}/node*/distance", f"{_NODE}/node*/hugepages/*/nr_hugepages",
    f"{_NODE}/node*/access*/initiators/*_*", f"{_NODE}/node*/memory_side_cache/index*/[!u]*",
    "sys/kernel/mm/hugepages/*/nr_hugepages", "sys/devices/virtual/memory_tiering/*/nodelist",
    "var/run/hwloc/knl_memoryside_cache", "cpuid/*",
)  # fmt: skip
"""File name patterns; `*` matches within one name."""
_LINKS = (f"{_NODE}/node*/access*/initiators/node*", "sys/bus/dax/devices/*", "sys/bus/dax/drivers/kmem/*")
"""Patterns of links whose name or target hwloc reads."""
_GROUP_FILES = tuple(f"{kind}{name}" for name in ("cpus", "mems") for kind in ("", "cpuset.", "cpuset.effective_"))
_GROUP_FILES += ("cpuset.cpus.effective", "cpuset.mems.effective")
_GROUP_TYPES = ("cgroup2", "cgroup", "cpuset")


def input_files(tree: FileTree) -> dict[str, str]:
    """Return the text of each file of a tree that hwloc reads, by path."""
    paths = [path for pattern in _FILES for path in _expand(tree, pattern)]
    paths += [f"{_resolve(path, aim)}/target_node" for path, aim in input_links(tree).items()]
    groups = dict.fromkeys(path for _, path in control_groups(tree))
    for place in group_mounts(tree):
        names = ("cgroup.controllers", *(f"{path}/{name}" for path in groups for name in _GROUP_FILES))
        paths += [os.path.normpath(f"{place}/{name}") for name in names]
    return {path: text for path in paths if (text := tree.text(path)) is not None}


def input_links(tree: FileTree) -> dict[str, str]:
    """Return the target of each link that hwloc reads, by path; without links that lead out of the tree."""
    paths = (path for pattern in _LINKS for path in _expand(tree, pattern))
    return {path: aim for path in paths if (aim := _target(tree, path))}


def control_groups(tree: FileTree) -> list[tuple[str, str]]:
    """Return controllers and path of each control group of this process; the last one is that of its cpuset."""
    lines = re.findall(r"(?m)^\d+:([^:]*):(.*)$", tree.text("proc/self/cgroup") or "")
    return [*lines, ("", (tree.text("proc/self/cpuset") or "").partition("\n")[0])]


def group_mounts(tree: FileTree) -> list[str]:
    """Return the mount points of control groups, relative to the root."""
    lines = (tree.text("proc/mounts") or "").splitlines()
    return [words[1].lstrip("/") for line in lines if is_group_mount(words := line.split(" "))]


def is_group_mount(words: list[str]) -> bool:
    """Return whether this line of `/proc/mounts` is a mount of control groups."""
    return len(words) > 3 and words[2] in _GROUP_TYPES


def _expand(tree: FileTree, pattern: str, folder: str = "") -> Iterator[str]:
    """Yield the paths that match a pattern; `*` matches within one name."""
    head, _, rest = pattern.partition("/")
    names = [name for name in tree.names(folder) if fnmatchcase(name, head)] if "*" in head else [head]
    for path in (f"{folder}/{name}" if folder else name for name in names):
        if rest:
            yield from _expand(tree, rest, path)
        else:
            yield path


def _target(tree: FileTree, path: str) -> str | None:
    try:
        aim = os.readlink(tree.root / path)  # noqa: PTH115 - pathlib drops a slash at the end
    except OSError:
        return None
    return None if aim.startswith("/") or _resolve(path, aim).startswith("..") else aim


def _resolve(path: str, aim: str) -> str:
    """Return the target of a link as a path below the root."""
    return os.path.normpath(f"{os.path.dirname(path)}/{aim}")  # noqa: PTH120
