"""Recordings that contain lists of CPUs where hwloc reads masks, such as those that Octant 0.2 made."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

from octant.machine.cpusets import parse_cpus
from octant.machine.hwloc.description import mask_text
from octant.machine.tree import Tree

_CPU = "sys/devices/system/cpu"
_NODE = "sys/devices/system/node"
_BUS = "sys/bus/cpu/devices"
_LISTS = re.compile(r"(.*/)(?:(\w+)_list|cpulist)")
_NAMES = {
    None: "cpumap",
    "shared_cpu": "shared_cpu_map",
    "thread_siblings": "core_cpus",
    "core_siblings": "package_cpus",
}
"""Masks that are not named as their lists, or that newer kernels name otherwise: hwloc wants all in one way."""
_ID = re.compile(rf"({_CPU}/cpu([0-9]{{1,5}})/topology)/physical_package_id")


_CORES = ("core_cpus", "thread_siblings")
_PACKAGES = ("package_cpus", "core_siblings")


def states_cpus(tree: Tree, suffix: str) -> bool:
    """Whether a CPU states the siblings of its core, as a mask (suffix ``) or as a list (`_list`).

    IBM Z without SMT states those of its package only, in both forms.
    """
    places = [f"{folder}/cpu{number}/topology" for folder in (_CPU, _BUS) for number in tree.numbers(folder, "cpu")]
    names = (
        _CORES if any(tree.text(f"{place}/{name}_list") for place in places for name in _CORES) else _CORES + _PACKAGES
    )
    return any(tree.text(f"{place}/{name}{suffix}") for place in places for name in names)


def copy_with_masks(tree: Tree, target: Path) -> None:
    """Write what hwloc reads of a tree to `target`, with the masks that follow from lists and numbers.

    Raises:
        ValueError: a list cannot be read.
    """
    files = {path: text for path in _paths(tree) if (text := tree.text(path)) is not None}
    for path, text in {**_masks(files), **files}.items():
        (target / path).parent.mkdir(parents=True, exist_ok=True)
        (target / path).write_text(f"{text}\n", encoding="utf-8")


def _paths(tree: Tree) -> Iterator[str]:
    """Where hwloc looks for CPUs, their kinds and caches, and for memory."""
    yield from ("proc/cpuinfo", "proc/meminfo", "sys/devices/cpu_core/cpus", "sys/devices/cpu_atom/cpus")
    yield from (f"{folder}/{name}" for folder in (_CPU, _NODE) for name in ("online", "possible", "present"))
    for cpu in (f"{_CPU}/cpu{number}" for number in tree.numbers(_CPU, "cpu")):
        yield from (f"{cpu}/{name}" for name in ("online", "cpu_capacity", "cpufreq/cpuinfo_max_freq"))
        indexes = (f"{cpu}/cache/index{number}" for number in tree.numbers(f"{cpu}/cache", "index"))
        yield from (f"{folder}/{name}" for folder in (f"{cpu}/topology", *indexes) for name in tree.names(folder))
    for number in tree.numbers(_NODE, "node"):
        yield from (f"{_NODE}/node{number}/{name}" for name in ("cpulist", "cpumap", "meminfo", "distance"))


def _masks(files: Mapping[str, str]) -> dict[str, str]:
    """Return the masks that lists state, and those of packages and dies that follow from their numbers."""
    groups: dict[tuple[str, ...], set[int]] = defaultdict(set)
    keys: dict[str, tuple[str, ...]] = {}
    for match in filter(None, map(_ID.fullmatch, files)):
        package, die = files[match[0]], files.get(f"{match[1]}/die_id")
        of_die = [("die_cpus", package, die)] if die is not None else []
        for key in [("package_cpus", package), *of_die]:
            keys[f"{match[1]}/{key[0]}"] = key
            groups[key].add(int(match[2]))
    found = {path: frozenset(groups[key]) for path, key in keys.items()}
    for path, text in files.items():
        if listed := _LISTS.fullmatch(path):
            found[f"{listed[1]}{_NAMES.get(listed[2], listed[2])}"] = parse_cpus(text, or_none=True)
    return {path: mask_text(cpus) for path, cpus in found.items()}
