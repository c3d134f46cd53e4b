"""Completes recordings whose sets of hardware threads are lists only: hwloc reads masks."""

import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TypeAlias, Union

from octant.machine.cpus import CPU, NODE
from octant.machine.cpusets import mask_text
from octant.machine.tree import Tree

_SETS = ("core_cpus", "thread_siblings", "cluster_cpus", "die_cpus", "package_cpus", "core_siblings")
_Files: TypeAlias = dict[str, Union[str, "_Files"]]


@contextmanager
def with_masks(tree: Tree) -> Iterator[Path]:
    """Yield a folder with the recording as hwloc reads it: its own one, or a temporary one with the masks added.

    The recordings of version 0.2 contain lists only. A mask is derived only from a list, or from numbers of packages and
    dies, that the recording contains; so nothing is added that it does not state.
    """
    files: _Files = {}
    for path, text in _missing(tree):
        folder = files
        *parents, name = path.split("/")
        for parent in parents:
            below = folder.setdefault(parent, {})
            assert isinstance(below, dict)  # a path of a file is never the folder of another
            folder = below
        folder[name] = text
    if not files:
        yield tree.root
        return
    with tempfile.TemporaryDirectory(prefix="octant-recording-") as name:
        _overlay(tree.root.resolve(), Path(name), files)
        yield Path(name)


def _overlay(source: Path, target: Path, files: Mapping[str, "str | _Files"]) -> None:
    """Make `target` a folder with the content of `source`, by links, and with these files."""
    for entry in os.scandir(source):
        if entry.name not in files:
            (target / entry.name).symlink_to(entry.path)
    for name, content in files.items():
        if isinstance(content, str):
            (target / name).write_text(content, encoding="ascii")
        else:
            (target / name).mkdir()
            _overlay(source / name, target / name, content)


def _missing(tree: Tree) -> Iterator[tuple[str, str]]:
    """Yield path and text of each file that hwloc needs and that can be derived."""
    cpus = tree.numbers(CPU, "cpu")
    by_package, by_die = _members(tree, cpus)
    for cpu in cpus:
        folder = f"{CPU}/cpu{cpu}/topology"
        found = {name for name in _SETS if tree.text(f"{folder}/{name}") is not None}
        for name in _SETS:
            listed = tree.cpus(f"{folder}/{name}_list") if name not in found else None
            if listed:
                found.add(name)
                yield f"{folder}/{name}", mask_text(listed)
        if found.isdisjoint({"package_cpus", "core_siblings"}) and cpu in by_package:
            yield f"{folder}/package_cpus", mask_text(by_package[cpu])
        if "die_cpus" not in found and cpu in by_die and by_die[cpu] != by_package[cpu]:
            yield f"{folder}/die_cpus", mask_text(by_die[cpu])
        for index in tree.numbers(f"{CPU}/cpu{cpu}/cache", "index"):
            yield from _missing_of_cache(tree, f"{CPU}/cpu{cpu}/cache/index{index}")
    for node in tree.numbers(NODE, "node"):
        listed = tree.cpus(f"{NODE}/node{node}/cpulist")
        if listed is not None and tree.text(f"{NODE}/node{node}/cpumap") is None:
            yield f"{NODE}/node{node}/cpumap", mask_text(listed)


def _members(tree: Tree, cpus: list[int]) -> tuple[dict[int, set[int]], dict[int, set[int]]]:
    """The hardware threads of the package, and of the die, of each one whose package or die has a number."""
    packages: dict[tuple[int, ...], set[int]] = {}
    found: tuple[dict[int, set[int]], dict[int, set[int]]] = {}, {}
    for cpu in cpus:
        package, die = (tree.amount(f"{CPU}/cpu{cpu}/topology/{name}_id") for name in ("physical_package", "die"))
        if package is None:
            continue
        found[0][cpu] = packages.setdefault((package,), set())
        found[0][cpu].add(cpu)
        if die is not None:
            found[1][cpu] = packages.setdefault((package, die), set())
            found[1][cpu].add(cpu)
    return found


def _missing_of_cache(tree: Tree, folder: str) -> Iterator[tuple[str, str]]:
    listed = tree.cpus(f"{folder}/shared_cpu_list")
    if not listed or tree.text(f"{folder}/shared_cpu_map") is not None:
        return
    yield f"{folder}/shared_cpu_map", mask_text(listed)
    size = (tree.text(f"{folder}/size") or "").removesuffix("K")
    line, ways = (tree.amount(f"{folder}/{name}") for name in ("coherency_line_size", "ways_of_associativity"))
    if size.isdecimal() and line and ways and tree.text(f"{folder}/number_of_sets") is None:
        yield f"{folder}/number_of_sets", str(int(size) * 1024 // (line * ways))
        yield f"{folder}/physical_line_partition", "1"
