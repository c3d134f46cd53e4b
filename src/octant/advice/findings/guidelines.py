"""An MPI call violates a performance guideline: another way to do the same is faster."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from octant.advice.findings import RuleResult, RunFinding
from octant.advice.findings._curves import size_text
from octant.advice.findings._lines import figure_command
from octant.record import known_count
from octant.stats.guidelines import LEAST_LAUNCHES, MARGIN, judge_guidelines
from octant.units import counted

if TYPE_CHECKING:
    from octant.analysis.figures import Figure
    from octant.analysis.summary import Summary
    from octant.stats.guidelines import NonInferiority


def judge(summary: Summary) -> RuleResult:
    """Return a finding per guideline that is significantly violated, corrected for the number of guidelines."""
    figures = [
        figure
        for workload, found in summary.by_workload()
        if workload.guideline is not None
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
    assert figure.workload.guideline is not None  # noqa: S101 - `judge` leaves such figures out
    call, instead = figure.workload.guideline(figure.point)
    size, where = size_text(figure), counted(known_count(figure.point.working_ranks), "rank")
    return RunFinding(
        rule="guidelines",
        title=f"{call}{f' {size}' if size else ''}, {where}: {one.ratio:.2f} times as long as {instead}",
        body=f"The interval is {one.low:.2f} to {one.high:.2f}, from {one.launches} interleaved launches. Use the "
        f"alternative, "
        "or select another algorithm of the library (`octant settings`).",
        lines=figure_command(summary, figure),
        family="guidelines",
        gain=math.log(one.ratio) * 0.01,
        details=(
            f"A guideline is violated if the call is significantly slower by more than {MARGIN:.0%}. The test requires "
            f"{LEAST_LAUNCHES} launches and uses Holm's correction for {counted(of, 'guideline')}. The result applies "
            "to this library, size and number of ranks.",
        ),
    )
