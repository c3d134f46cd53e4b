"""Recordings with lists of CPUs instead of the masks that hwloc reads, such as those of Octant 0.2."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping

from octant.machine.cpus import CPU as _CPU
from octant.machine.cpusets import parse_cpus
from octant.machine.hwloc.description import mask_text
from octant.machine.hwloc.inputs import input_files
from octant.machine.tree import FileTree

_BUS = "sys/bus/cpu/devices"
_LISTS = re.compile(r"(.*/)(?:(\w+)_list|cpulist)")
_NAMES = {
    None: "cpumap",
    "shared_cpu": "shared_cpu_map",
    "thread_siblings": "core_cpus",
    "core_siblings": "package_cpus",
}
"""Names of masks by the names of lists, if they differ, and current names for those of older kernels."""
_SHAPE = re.compile("[0-9]{1,9}K [1-9][0-9]{0,4} [1-9][0-9]{0,5}")
_OLDER = {"core_cpus": "thread_siblings", "package_cpus": "core_siblings"}
_ID = re.compile(rf"({_CPU}/cpu([0-9]{{1,5}})/topology)/physical_package_id")
_SIBLINGS = ("core_cpus", "thread_siblings", "package_cpus", "core_siblings")


def states_cpus(tree: FileTree) -> bool:
    """Return whether a CPU states the siblings of its core or, as on IBM Z without SMT, of its package."""
    places = [f"{folder}/cpu{number}/topology" for folder in (_CPU, _BUS) for number in tree.numbers(folder, "cpu")]
    names = [f"{name}{suffix}" for name in _SIBLINGS for suffix in ("", "_list")]
    return any(tree.text(f"{place}/{name}") for place in places for name in names)


def complete_files(tree: FileTree) -> dict[str, str]:
    """Return hwloc's input files with masks computed from lists and numbers; empty if the tree has all masks.

    Raises:
        ValueError: a list or a memory size is invalid.
    """
    files = input_files(tree)
    for path, text in files.items():
        stated = re.search("MemTotal:(.*)", text) if path.endswith("/meminfo") else None
        if stated and not re.fullmatch("[0-9]{1,15} kB", stated[1].strip()):
            raise ValueError(f"{path}: {stated[1].strip()[:40]!r} is not a memory size")
        if path in (f"{_CPU}/online", f"{_CPU}/present") and tree.cpus(path) is None:
            raise ValueError(f"{path}: {text[:40]!r} is not a list of CPUs")
    masks = {path: text for path, text in _masks(files).items() if path not in files}
    names = (path.rpartition("/") for path in masks)
    whole = tree.root.is_dir() and all(f"{folder}/{_OLDER.get(name, name)}" in files for folder, _, name in names)
    return {} if whole else {**masks, **files}


def _masks(files: Mapping[str, str]) -> dict[str, str]:
    """Return the masks computed from lists, and those of packages and dies computed from their numbers."""
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
            try:
                found[f"{listed[1]}{_NAMES.get(listed[2], listed[2])}"] = parse_cpus(text, or_none=True)
            except ValueError:
                raise ValueError(f"{path}: {text[:40]!r} is not a list of CPUs") from None
    masks = {path: mask_text(cpus) for path, cpus in found.items()}
    for path, text in files.items():
        if path.endswith(("/thread_siblings", "/core_siblings")):
            folder, _, name = path.rpartition("/")
            masks[f"{folder}/{_NAMES[name]}"] = text
    return masks | dict(_numbers_of_sets(files))


def _numbers_of_sets(files: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the files from which hwloc computes the associativity of caches."""
    for path, ways in files.items():
        folder, _, name = path.rpartition("/")
        size, line = (files.get(f"{folder}/{key}", "") for key in ("size", "coherency_line_size"))
        if name == "ways_of_associativity" and _SHAPE.fullmatch(f"{size} {line} {ways}"):
            yield f"{folder}/number_of_sets", str(int(size[:-1]) * 1024 // (int(line) * int(ways)))
            yield f"{folder}/physical_line_partition", "1"
