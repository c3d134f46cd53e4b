"""Placement, memory or settings of launches differ from the request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from octant.advice.findings import RuleResult, RunFinding
from octant.advice.findings._lines import DOCTOR, rerun_command
from octant.analysis.names import short_name

if TYPE_CHECKING:
    from octant.analysis.summary import Summary
    from octant.request import Request


def judge(summary: Summary) -> RuleResult:
    """Return a finding if launches of a figure differ from the request; such a figure is not measurable."""
    if not summary.figures:
        return RuleResult()
    mismatched = [figure for figure in summary.figures if figure.mismatches]
    if not mismatched and not any(map(_has_requirements, summary.run.requests)):
        return RuleResult()
    if not mismatched:
        return RuleResult(passed=("threads, memory, pages and settings were as requested",))
    texts = tuple(dict.fromkeys(text for figure in mismatched for text in figure.mismatches))
    return RuleResult(
        (
            RunFinding(
                rule="request not met",
                title=f"{len(mismatched)} of {len(summary.figures)} figures were not measured as requested",
                body=f"{short_name(mismatched[0])}: {texts[0]}. Such figures are excluded; check what the system "
                f"allows.",
                lines=(DOCTOR, *rerun_command(summary.run)),
                family="binding",
                details=texts,
                kind="reliability",
            ),
        )
    )


def _has_requirements(request: Request) -> bool:
    """Return whether a request has a placement or settings: kernels always, programs only if given."""
    return not request.subject.command or bool(request.shape.place or request.mpi)
