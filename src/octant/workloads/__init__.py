"""One folder a workload, in that of its family; the folder is the registration, `family/name` the identity."""

import dataclasses
import functools
from collections.abc import Callable, Iterable, Mapping

from octant import registry
from octant.failure import suggestion
from octant.machine import Machine
from octant.record.renamed import meant_today
from octant.workload import Workload

FIRST_FAMILY = "node"
"""Of several workloads of one name, that of this family needs no family before it."""


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
    """One workload, by `family/name` or by a bare name (see `full_name`).

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


def sizes(name: str) -> Mapping[str, Callable[[Machine, str], str]]:
    """What of a workload's sizes matters to a comparison with other tools, by knob (`Workload.sizes`)."""
    known = workloads().get(name)
    return known.sizes if known else {}


def is_ours(name: str, values: Iterable[str]) -> bool:
    """Whether one of the values of such knobs is code of this project and no library's."""
    known = workloads().get(name)
    return known is not None and not set(values).isdisjoint(known.ours)


def called(name: str, known: Iterable[str]) -> list[str]:
    """Those among the `known` workloads that `family/name` or a bare name may mean."""
    return [one for one in known if name in (one, one.rpartition("/")[2])]


def full_name(name: str, known: Iterable[str]) -> str:
    """The one among the `known` workloads that `family/name` or a bare name means, or an old name of either kind.

    A bare name that several families have means the workload of the family `node`: the others are variants of it, as
    HPC Challenge defines them.

    Raises:
        LookupError: none, or several of other families; the message lists what there is.
    """
    names = list(known)
    meant = called(name, names)
    if len(meant) > 1 and (first := f"{FIRST_FAMILY}/{name}") in meant:
        return first
    if not meant and (today := meant_today(name, names)):
        return today
    if len(meant) != 1:
        if meant:
            raise LookupError(f"several workloads are called {name!r}; try {' or '.join(meant)}")
        offered = names if "/" in name else sorted({one.rpartition("/")[2] for one in names})
        raise LookupError(f"no workload {name!r}; {suggestion(name, offered, 'octant workloads')}")
    return meant[0]
