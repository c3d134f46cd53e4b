"""Hardware threads are nearer to each other than the system tells, so that a placement by what it tells goes wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

from octant.advice.findings import RuleResult, RunFinding
from octant.analysis.clusters import clusters, groups_text, values_of_pairs
from octant.analysis.names import short_name
from octant.placement import set_text
from octant.placement.nonempty import NonEmptySet
from octant.units import counted, si_text

if TYPE_CHECKING:
    from octant.analysis.clusters import Clusters
    from octant.analysis.figures import Figure
    from octant.analysis.summary import Summary

_LEAST_THREADS = 3
_OF_A_CORE = 2


def judge(summary: Summary) -> RuleResult:
    """Fires for the figure of pairs that shows most groups of which the system tells nothing."""
    known: list[tuple[Figure, Clusters]] = []
    for figure in summary.figures:
        if values := {} if figure.invalid else values_of_pairs(figure):
            found = clusters(values, summary.run.machine.topology)
            if found.complete and found.number >= _LEAST_THREADS:
                known.append((figure, found))
    if not known:
        return RuleResult()
    figure, found = max(known, key=lambda one: len(one[1].unreported))
    if not found.unreported:
        return RuleResult(
            passed=("every group of hardware threads that the times of pairs show is told by the system",)
        )
    return RuleResult((_finding(figure, found),))


def _finding(figure: Figure, found: Clusters) -> RunFinding:
    first = found.unreported[0]
    pairs = all(len(group) == len(first.groups[0]) == _OF_A_CORE for group in first.groups)
    siblings = "siblings are not told: " if pairs and "core" not in found.reported else ""
    within, between = si_text(first.within, "s"), si_text(first.between, "s")
    return RunFinding(
        rule="untold groups",
        title=f"{siblings}{counted(len(first.groups), 'group')} of hardware threads that the system does not tell",
        body=f"{groups_text(first.groups)}: a line takes {within} within a group and {between} between two "
        f"({short_name(figure)}). Put one rank on each, or what exchanges much on the same.",
        lines=(f"octant bind --place {set_text(NonEmptySet(map(min, first.groups), 'first threads of the groups'))}",),
        family="topology",
        details=tuple(
            f"{groups_text(one.groups, 64)}: {si_text(one.within, 's')} within, {si_text(one.between, 's')} between"
            for one in found.unreported
        ),
    )
