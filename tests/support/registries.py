"""Registries with an entry left out or broken, in this process, and the packages that are registries."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Literal

import pytest

from octant import benchmarks, registry, workloads

How = Literal["left out", "broken"]

REGISTRIES = {
    "workload": tuple(f"octant.workloads.{family}" for family in registry.names("octant.workloads")),
    "rule": ("octant.advice.rules",),
    "finding": ("octant.advice.findings",),
    "kind of test": ("octant.study.kinds",),
    "launcher": ("octant.launch.launchers",),
    "batch system": ("octant.launch.jobs",),
    "syntax": ("octant.placement.launchers",),
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


def _forget() -> None:
    """Empty what remembers entries."""
    registry._imported.cache_clear()
    workloads.entries.cache_clear()
    benchmarks.entries.cache_clear()


def place_of(package: str, name: str) -> Path:
    """The file in which an entry lies."""
    return registry._file(package, name)
