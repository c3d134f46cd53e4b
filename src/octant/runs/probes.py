"""Probes: short measurements at the beginning and at the end of a run, which detect changes of the machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from octant import workloads
from octant.ask import Ask, Presentation, Subject

if TYPE_CHECKING:
    from collections.abc import Sequence

LOOKS = 2


def probes_for(asks: Sequence[Ask]) -> tuple[Ask, ...]:
    """Return the probes of the workload families of these requests, without those that are requested anyway.

    Requests over an emulated link or on other hosts do not measure a core of this machine, and have no probe.
    """
    local = [ask for ask in asks if ask.subject.workload and not ask.shape.link and not ask.shape.hosts]
    families = {workloads.workload(ask.subject.workload).family for ask in local}
    found = (
        Ask(Subject(one.name), one.probe.knobs, show=Presentation(one.probe.title, table=False), repeats=LOOKS)
        for one in workloads.workloads().values()
        if one.probe and one.family in families
    )
    asked = {ask.key for ask in asks}
    return tuple(ask for ask in found if ask.key not in asked)


def with_probes(
    asks: Sequence[Ask], order: Sequence[tuple[int, int]]
) -> tuple[tuple[Ask, ...], tuple[tuple[int, int], ...]]:
    """Return the requests with their probes, and the order of launches with a probe at both ends.

    Args:
        order: (request, repeat) of each launch.
    """
    probes = probes_for(asks)
    numbers = range(len(asks), len(asks) + len(probes))
    first, last = (tuple((number, look) for number in numbers) for look in range(LOOKS))
    return (*asks, *probes), (*first, *order, *last)
