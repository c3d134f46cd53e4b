"""Pair latencies show groups of hardware threads that the operating system does not report."""

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
    """Return a finding on the figure that shows most groups that the operating system does not report."""
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
            passed=("the operating system reports all groups of hardware threads that the pair latencies show",)
        )
    return RuleResult((_finding(figure, found),))


def _finding(figure: Figure, found: Clusters) -> RunFinding:
    first = found.unreported[0]
    pairs = all(len(group) == len(first.groups[0]) == _OF_A_CORE for group in first.groups)
    siblings = ", probably SMT siblings" if pairs and "core" not in found.reported else ""
    within, between = si_text(first.within, "s"), si_text(first.between, "s")
    return RunFinding(
        rule="unreported groups",
        title=f"{counted(len(first.groups), 'group')} of hardware threads not reported by the operating "
        f"system{siblings}",
        body=f"A cache-line transfer takes {within} within and {between} between the groups "
        f"{groups_text(first.groups)} "
        f"({short_name(figure)}). Place one rank on each group, or communicating ranks in the same group.",
        lines=(f"octant bind --place {set_text(NonEmptySet(map(min, first.groups), 'first threads of the groups'))}",),
        family="topology",
        details=tuple(
            f"{groups_text(one.groups, 64)}: {si_text(one.within, 's')} within a group, {si_text(one.between, 's')} "
            f"between groups"
            for one in found.unreported
        ),
    )
