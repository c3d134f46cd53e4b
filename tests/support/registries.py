"""Registries with an entry added, left out or broken, in this process, and the packages that are registries."""

import importlib
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Literal

import pytest

from octant import benchmarks, registry, workloads
from octant.benchmarks import table

How = Literal["left out", "broken"]

REGISTRIES = {
    "workload": tuple(f"octant.workloads.{family}" for family in registry.names("octant.workloads")),
    "rule": ("octant.advice.rules",),
    "finding": ("octant.advice.findings",),
    "kind of test": ("octant.study.kinds",),
    "launcher": ("octant.launchers",),
    "import format": ("octant.foreign",),
    "command group": ("octant.cli",),
    "benchmark": ("octant.benchmarks",),
}
"""The packages of each kind of entry."""
ENTRIES = [
    (kind, package, name)
    for kind, packages in REGISTRIES.items()
    for package in packages
    for name in registry.names(package, folders=kind == "benchmark")
]
"""Every entry that is a module: what it is, its package, its name."""
ERROR = "a planted error"


@contextmanager
def changed(package: str, name: str, how: How) -> Iterator[None]:
    """Leave an entry out, or have its import raise `ValueError(ERROR)`, while the block runs."""
    names = registry.names
    imported: Callable[[str], ModuleType] = registry._import

    def without(of: str, folders: bool = False) -> tuple[str, ...]:
        found = names(of, folders)
        return tuple(one for one in found if (of, one) != (package, name)) if how == "left out" else found

    def raising(module: str) -> ModuleType:
        if module == f"{package}.{name}":
            raise ValueError(ERROR)
        return imported(module)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(registry, "names", without)
        patch.setattr(registry, "_import", raising)
        _forget()
        try:
            yield
        finally:
            patch.undo()
            _forget()


@contextmanager
def added(package: str, folder: Path) -> Iterator[None]:
    """Let the modules in a folder be entries of a package too, as if they lay in it, while the block runs."""
    own: list[str] = importlib.import_module(package).__path__  # type: ignore[assignment]
    own.append(str(folder))
    importlib.invalidate_caches()
    _forget()
    try:
        yield
    finally:
        own.remove(str(folder))
        for path in (*folder.glob("*.py"), *folder.glob("*/")):
            sys.modules.pop(f"{package}.{path.stem}", None)
        _forget()


def _forget() -> None:
    """Empty what remembers entries."""
    for cached in (registry.names, registry._imported, registry.file_of):
        if hasattr(cached, "cache_clear"):  # `changed` replaces one of them
            cached.cache_clear()
    workloads.entries.cache_clear()
    benchmarks.entries.cache_clear()
    table.file_of.cache_clear()
    table.read_tests.cache_clear()


def place_of(package: str, name: str) -> Path:
    """The file in which an entry lies."""
    return registry.file_of(package, name)
