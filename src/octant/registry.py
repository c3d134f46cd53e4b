"""Finds what lies in folders, and is the one place that imports modules by their names. Lying there registers it."""

import functools
import importlib
import pkgutil
from types import ModuleType


@functools.cache
def modules(package: str) -> dict[str, ModuleType]:
    """The modules and packages that lie directly in a package, by name in order, without those of a leading `_`.

    Raises:
        ImportError: no such package, or one of them cannot be imported.
    """
    found = pkgutil.iter_modules(importlib.import_module(package).__path__)
    names = sorted(module.name for module in found if not module.name.startswith("_"))
    return {name: module(package, name) for name in names}


def module(package: str, name: str) -> ModuleType:
    """One module of a package.

    Raises:
        ImportError: no such module, or it cannot be imported.
    """
    return importlib.import_module(f"{package}.{name}")
