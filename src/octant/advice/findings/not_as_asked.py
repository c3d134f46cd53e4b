"""Launches were given other places, memory or settings than asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from octant.advice.findings import RuleResult, RunFinding
from octant.advice.findings._lines import DOCTOR, again
from octant.analysis.names import short_name

if TYPE_CHECKING:
    from octant.analysis.summary import Summary
    from octant.request import Request


def judge(summary: Summary) -> RuleResult:
    """Fires where a figure has a launch that was given other than asked; such a figure is not measurable."""
    if not summary.figures:
        return RuleResult()
    given = [figure for figure in summary.figures if figure.mismatches]
    if not given and not any(map(_was_asked, summary.run.requests)):
        return RuleResult()
    if not given:
        return RuleResult(passed=("threads, memory, pages and settings were given as asked",))
    texts = tuple(dict.fromkeys(text for figure in given for text in figure.mismatches))
    return RuleResult(
        (
            RunFinding(
                rule="not as asked",
                title=f"{len(given)} of {len(summary.figures)} figures were not measured as asked",
                body=f"{short_name(given[0])}: {texts[0]}. Such figures count for nothing; "
                "find out what the system allows.",
                lines=(DOCTOR, *again(summary.run)),
                family="binding",
                details=texts,
                kind="reliability",
            ),
        )
    )


def _was_asked(request: Request) -> bool:
    """Whether something could have been given otherwise: kernels always ask for a place, programs where it is said."""
    return not request.subject.command or bool(request.shape.place or request.mpi)
