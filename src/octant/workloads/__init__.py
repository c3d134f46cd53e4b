"""One folder a workload, in that of its family; the folder is the registration, `family/name` the identity."""

import dataclasses
import functools
from collections.abc import Iterable

from octant import registry
from octant.failure import suggestion
from octant.record.renamed import meant_today
from octant.workload import Workload


@functools.cache
def workloads() -> dict[str, Workload]:
    """Every workload, by `family/name`."""
    return {
        f"{family}/{name}": dataclasses.replace(module.WORKLOAD, name=f"{family}/{name}").answering_every_point()
        for family in registry.modules(__name__)
        for name, module in registry.modules(f"{__name__}.{family}").items()
    }


def families() -> dict[str, str]:
    """The title of every family, by its name."""
    return {name: (package.__doc__ or "").strip() for name, package in registry.modules(__name__).items()}


def workload(name: str) -> Workload:
    """One workload, by `family/name` or by a bare name that only one family has.

    Raises:
        LookupError: no such folder, or several; the message lists what there is.
    """
    return workloads()[full_name(name, workloads())]


def alone_knobs(name: str) -> tuple[str, ...]:
    """The knobs of a workload whose values are started one by one; none where this installation does not have it."""
    known = workloads().get(name)
    return known.alone if known else ()


def apart_knobs(name: str) -> tuple[str, ...]:
    """The knobs of a workload whose values are started one by one without a limit of their own."""
    known = workloads().get(name)
    return known.apart if known else ()


def is_ours(name: str, values: Iterable[str]) -> bool:
    """Whether one of the values of such knobs is code of this project and no library's."""
    known = workloads().get(name)
    return known is not None and not set(values).isdisjoint(known.ours)


def full_name(name: str, known: Iterable[str]) -> str:
    """The one among the `known` workloads that `family/name` or a bare name means, or an old name of either kind.

    Raises:
        LookupError: none or several; the message lists what there is.
    """
    names = list(known)
    meant = [one for one in names if name in (one, one.rpartition("/")[2])]
    if not meant and (today := meant_today(name, names)):
        return today
    if len(meant) != 1:
        if meant:
            raise LookupError(f"several workloads are called {name!r}; try {' or '.join(meant)}")
        offered = names if "/" in name else sorted({one.rpartition("/")[2] for one in names})
        raise LookupError(f"no workload {name!r}; {suggestion(name, offered, 'octant workloads')}")
    return meant[0]
