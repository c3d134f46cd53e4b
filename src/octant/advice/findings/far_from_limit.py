"""A reliable figure is far below its limit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from octant.advice.findings import RuleResult, RunFinding
from octant.advice.findings._curves import subject
from octant.advice.findings._evidence import gain_of, gap_of, is_of_another_core, is_sure
from octant.advice.findings._lines import larger_sizes_command, page_command
from octant.advice.findings._thresholds import OF_LIMIT
from octant.analysis.names import short_name
from octant.units import capital, percent_text, si_text

if TYPE_CHECKING:
    from octant.analysis.figures import Figure
    from octant.analysis.summary import Summary
    from octant.stats import Estimate


def judge(summary: Summary) -> RuleResult:
    """Return one finding per workload: the figure of the table that is farthest from its limit, below `OF_LIMIT`."""
    found, passed = [], []
    for _, figures in summary.by_workload():
        known = [(share, figure) for figure in figures if figure.show.table and (share := figure.of_limit) is not None]
        passed += [
            f"{short_name(one)} reaches {percent_text(share)} of its limit" for share, one in known if share >= OF_LIMIT
        ]
        far = [
            (share, one, gap)
            for share, one in known
            if share < OF_LIMIT and is_sure(one) and (gap := gap_of(one)) and not is_of_another_core(summary, one)
        ]
        if far:
            found.append(_finding(summary, *min(far, key=lambda each: each[0])))
    return RuleResult(tuple(found), tuple(passed))


def _finding(summary: Summary, share: float, figure: Figure, gap: Estimate) -> RunFinding:
    assert figure.value is not None  # noqa: S101 - it has a share
    assert figure.at_limit is not None  # noqa: S101
    assert figure.limit is not None  # noqa: S101
    unit = figure.metric.unit
    sizes = larger_sizes_command(summary, figure)
    larger_sizes = ", and the second command measures larger sizes" if sizes else ""
    return RunFinding(
        rule="far from a limit",
        title=f"{capital(subject((figure,)))} reaches {percent_text(share)} of its limit",
        body=f"It is {si_text(figure.value.middle, unit)}, and the limit is {si_text(figure.at_limit, unit)} "
        f"({figure.limit.source}). The page of {figure.workload.name} lists possible causes{larger_sizes}.",
        lines=(page_command(figure), *sizes),
        family="limit",
        gain=gain_of(summary, gap.middle, (figure,)),
        details=(
            figure.name,
            f"limit / figure: {gap.low:.2f} … {gap.high:.2f}, {gap.text}",
        ),
        kind="gain",
        effect=gap,
    )
