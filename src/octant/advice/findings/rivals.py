"""A call takes longer than the same done otherwise, which it should not."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from octant.advice.findings import RuleResult, RunFinding
from octant.advice.findings._curves import size_text
from octant.advice.findings._lines import of_figure
from octant.record import known_count
from octant.stats.guidelines import LEAST_LAUNCHES, MARGIN, judge_guidelines
from octant.units import counted

if TYPE_CHECKING:
    from octant.analysis.figures import Figure
    from octant.analysis.summary import Summary
    from octant.stats.guidelines import NonInferiority


def judge(summary: Summary) -> RuleResult:
    """Fires for every pair of ways of which one is slower beyond the margin, corrected for the number of pairs."""
    figures = [
        figure
        for workload, found in summary.by_workload()
        if workload.rivals is not None
        for figure in found
        if figure.value is not None and not figure.invalid and figure.point.ranks is not None
    ]
    ratios = [[launch.value.middle for launch in figure.counted] for figure in figures]
    judged = list(zip(figures, judge_guidelines(ratios), strict=True))
    slower = [(figure, one) for figure, one in judged if one.word == "slower"]
    found = [_finding(summary, figure, one, len(judged)) for figure, one in slower]
    if not judged or slower:
        return RuleResult(tuple(found))
    undecided = sum(one.word == "undecided" for _, one in judged)
    return RuleResult(passed=(f"{counted(len(judged), 'guideline')} compared, none violated ({undecided} undecided)",))


def _finding(summary: Summary, figure: Figure, one: NonInferiority, of: int) -> RunFinding:
    assert figure.workload.rivals is not None  # noqa: S101 - `judge` leaves such figures out
    call, instead = figure.workload.rivals(figure.point)
    size, where = size_text(figure), counted(known_count(figure.point.working_ranks), "rank")
    return RunFinding(
        rule="guidelines",
        title=f"{call}{f' {size}' if size else ''}, {where}: {one.ratio:.2f} times {instead}",
        body=f"It takes {one.low:.2f} to {one.high:.2f} times as long as {instead}, in {one.launches} launches in "
        "which both took turns. Try the other, or another algorithm of the library (`octant settings`).",
        lines=of_figure(summary, figure),
        family="guidelines",
        gain=math.log(one.ratio) * 0.01,
        details=(
            f"Slower beyond {MARGIN:.0%}, by Holm's correction for {counted(of, 'guideline')}; {LEAST_LAUNCHES} "
            "launches at least. It holds for this library, size and number of ranks.",
        ),
    )
