"""Short looks at the machine that come first and last in a run: what they differ by, nothing between them shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from octant import workloads
from octant.ask import Ask, Presentation, Subject

if TYPE_CHECKING:
    from collections.abc import Sequence

LOOKS = 2


def probes_for(asks: Sequence[Ask]) -> tuple[Ask, ...]:
    """The probes of the families that these asks are of, each once; none where the asks have them already.

    An ask over an emulated link or on other hosts says nothing of a core here, and has none.
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
    """The asks and the order of their launches, with each probe's looks at both ends.

    Args:
        order: (ask, repeat) of each launch.
    """
    probes = probes_for(asks)
    numbers = range(len(asks), len(asks) + len(probes))
    first, last = (tuple((number, look) for number in numbers) for look in range(LOOKS))
    return (*asks, *probes), (*first, *order, *last)
