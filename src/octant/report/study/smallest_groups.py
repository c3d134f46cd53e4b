"""What to do with times of pairs of hardware threads: on which of them to put what exchanges much."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from octant.advice.findings import RunFinding
from octant.analysis.clusters import clusters, groups_text
from octant.placement import set_text
from octant.placement.nonempty import NonEmptySet
from octant.stats import Grade
from octant.units import counted, si_text

if TYPE_CHECKING:
    from octant.study.outcome import Outcome
    from octant.study.values import StudyValue


def smallest_groups(outcome: Outcome) -> Iterator[RunFinding]:
    """The smallest groups that the first measure of pairs shows; nothing where it shows none."""
    topology = outcome.values.topology
    found = next((one for by_place in outcome.values.by_cell.values() for one in by_place.values() if _sure(one)), None)
    here = clusters(found.pairs, topology) if found and topology else None
    if here is None or not here.complete or not here.found:
        return
    first = here.found[0]
    largest = max(first.groups, key=len)
    what = here.names(first.groups) or "groups that the system does not tell"
    yield RunFinding(
        "near",
        f"Put what exchanges much on the same of {counted(len(first.groups), 'group')} ({what})",
        f"{groups_text(first.groups)}: a line takes {si_text(first.within, 's')} within a group and "
        f"{si_text(first.between, 's')} to the next.",
        (f"octant bind --place {set_text(NonEmptySet(largest, 'hardware threads of a group'))}",),
    )


def _sure(value: StudyValue) -> bool:
    return bool(value.pairs) and not any(caveat.grade == Grade.INVALID for caveat in value.caveats)
