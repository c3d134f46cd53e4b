"""One folder a workload; the folder is the registration."""

import functools

from octant import registry
from octant.workload import Workload


@functools.cache
def workloads() -> dict[str, Workload]:
    """Every workload, by name."""
    return {name: module.WORKLOAD for name, module in registry.modules(__name__).items()}


def workload(name: str) -> Workload:
    """One workload.

    Raises:
        LookupError: no such folder; the message lists the known ones.
    """
    found = workloads()
    if name not in found:
        raise LookupError(f"no workload {name!r}; try {', '.join(found)}")
    return found[name]
