"""Registries with an entry added, left out or broken, in this process, and the packages that are registries."""

import importlib
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Literal

import pytest

from octant import registry, workloads

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
}
"""The packages of each kind of entry."""
ENTRIES = [
    (kind, package, name)
    for kind, packages in REGISTRIES.items()
    for package in packages
    for name in registry.names(package)
]
"""Every entry that is a module: what it is, its package, its name."""
ERROR = "a planted error"


@contextmanager
def changed(package: str, name: str, how: How) -> Iterator[None]:
    """Leave an entry out, or have its import raise `ValueError(ERROR)`, while the block runs."""
    names: Callable[[str], tuple[str, ...]] = registry.names
    imported: Callable[[str], ModuleType] = registry._import

    def without(of: str) -> tuple[str, ...]:
        found = names(of)
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
def added(package: str, name: str, source: str, folder: Path) -> Iterator[None]:
    """Add a module with this source to a package while the block runs; `folder` is where its file is written."""
    home = folder / package.replace(".", "_")
    home.mkdir(exist_ok=True)
    (home / f"{name}.py").write_text(source, encoding="utf-8")
    module = importlib.import_module(package)
    assert module.__spec__ is not None
    places = {id(one): one for one in (module.__path__, module.__spec__.submodule_search_locations or [])}
    for searched in places.values():  # usually one list
        searched.append(str(home))
    _forget()
    try:
        yield
    finally:
        for searched in places.values():
            searched.remove(str(home))
        sys.modules.pop(f"{package}.{name}", None)
        _forget()


def _forget() -> None:
    """Empty what remembers entries."""
    for remembered in (registry.names, registry._file, registry._imported):
        remembered.cache_clear()
    workloads.entries.cache_clear()


def place_of(package: str, name: str) -> Path:
    """The file in which an entry lies."""
    return registry._file(package, name)
