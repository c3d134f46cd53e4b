"""Probes: short measurements at the beginning and at the end of a run, which detect changes of the machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from octant import workloads
from octant.request import Presentation, Request, Subject

if TYPE_CHECKING:
    from collections.abc import Sequence

PROBE_LAUNCHES = 2


def probes_for(requests: Sequence[Request]) -> tuple[Request, ...]:
    """Return the probes of the workload families of these requests, without those that are requested anyway.

    Requests over an emulated link or on other hosts do not measure a core of this machine, and have no probe.
    """
    local = [
        request
        for request in requests
        if request.subject.workload and not request.shape.link and not request.shape.hosts
    ]
    families = {workloads.workload(request.subject.workload).family for request in local}
    found = (
        Request(
            Subject(one.name), one.probe.knobs, show=Presentation(one.probe.title, table=False), repeats=PROBE_LAUNCHES
        )
        for one in workloads.workloads().values()
        if one.probe and one.family in families
    )
    asked = {request.key for request in requests}
    return tuple(request for request in found if request.key not in asked)


def with_probes(
    requests: Sequence[Request], order: Sequence[tuple[int, int]]
) -> tuple[tuple[Request, ...], tuple[tuple[int, int], ...]]:
    """Return the requests with their probes, and the order of launches with a probe at both ends.

    Args:
        order: (request, repeat) of each launch.
    """
    probes = probes_for(requests)
    numbers = range(len(requests), len(requests) + len(probes))
    first, last = (tuple((number, look) for number in numbers) for look in range(PROBE_LAUNCHES))
    return (*requests, *probes), (*first, *order, *last)
