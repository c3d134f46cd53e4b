"""An answer is wrong: a check of a kernel is not within its bound."""

from __future__ import annotations

from typing import TYPE_CHECKING

from octant.advice.findings import Finding, Judged
from octant.advice.findings._lines import of_figure
from octant.analysis.names import short_name
from octant.units import counted

if TYPE_CHECKING:
    from octant.analysis.summary import Summary


def judge(summary: Summary) -> Judged:
    """Fires once for every figure with a failed check; what is wrong has no speed."""
    checked = [point for point in summary.run.points if point.checks]
    wrong = [figure for figure in summary.figures if figure.wrong]
    if not wrong:
        number = sum(len(point.checks) for point in checked)
        return Judged(passed=(f"{counted(number, 'answer')} checked, all right",) if number else ())
    found = []
    for figure in wrong:
        check, failed = figure.wrong[0], sum(not point.passed for point in figure.points)
        found.append(
            Finding(
                rule="wrong answers",
                title=f"Wrong answer: {short_name(figure)}",
                body=f"{check.text}, in {failed} of "
                f"{counted(len(figure.points), 'launch')}. It has no speed; see whether the answer is wrong again.",
                lines=of_figure(summary, figure),
                details=tuple(one.text for one in figure.wrong),
                kind="wrong",
            )
        )
    return Judged(tuple(found))
