"""Short looks at the machine that come first and last in a run: what they differ by, nothing between them shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from octant import workloads
from octant.request import Presentation, Request, Subject

if TYPE_CHECKING:
    from collections.abc import Sequence

PROBE_LAUNCHES = 2


def probes_for(requests: Sequence[Request]) -> tuple[Request, ...]:
    """The probes of the families that these requests are of, each once; none where the requests have them already.

    A request over an emulated link or on other hosts says nothing of a core here, and has none.
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
    """The requests and the order of their launches, with each probe's looks at both ends.

    Args:
        order: (ask, repeat) of each launch.
    """
    probes = probes_for(requests)
    numbers = range(len(requests), len(requests) + len(probes))
    first, last = (tuple((number, look) for number in numbers) for look in range(PROBE_LAUNCHES))
    return (*requests, *probes), (*first, *order, *last)
