"""Finds what the folders declare. The folder is the registration."""

import functools
import importlib
import pkgutil

import octant.workloads
from octant.workload import Workload


@functools.cache
def workloads() -> dict[str, Workload]:
    """Every workload, by name."""
    found = (module.name for module in pkgutil.iter_modules(octant.workloads.__path__))
    names = sorted(name for name in found if not name.startswith("_"))
    return {name: importlib.import_module(f"octant.workloads.{name}").WORKLOAD for name in names}


def workload(name: str) -> Workload:
    """One workload.

    Raises:
        LookupError: no such folder; the message lists the known ones.
    """
    found = workloads()
    if name not in found:
        raise LookupError(f"no workload {name!r}; try {', '.join(found)}")
    return found[name]
