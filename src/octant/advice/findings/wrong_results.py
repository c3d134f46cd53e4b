"""A result failed verification: a check is outside its bound."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from octant.advice.findings import RuleResult, RunFinding
from octant.advice.findings._lines import figure_command
from octant.analysis.names import short_name
from octant.record import UNCHECKED
from octant.runs.programs.command_text import check_text
from octant.runs.programs.reference import baseline_of
from octant.units import counted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from octant.analysis.figures import Figure
    from octant.analysis.summary import Summary
    from octant.program import ProgramCheck


@dataclass(frozen=True)
class _Baseline:
    """The baseline cell of a failed check of a program, if it differs from the figure's cell."""

    check: ProgramCheck
    values: Mapping[str, str]  # of each knob with another value: the baseline's, then the figure's


def judge(summary: Summary) -> RuleResult:
    """Return a finding per figure with a failed check; such a figure has no performance."""
    checked = [point for point in summary.run.points if point.checks]
    wrong = [figure for figure in summary.figures if figure.wrong]
    if not wrong:
        number = sum(len(point.checks) for point in checked)
        return RuleResult(passed=(f"{counted(number, 'result')} verified, all correct",) if number else ())
    found = []
    for figure in wrong:
        baseline = _other_baseline(summary, figure)
        check, failed = figure.wrong[0], sum(not point.passed for point in figure.points)
        found.append(
            RunFinding(
                rule="wrong results",
                title=f"{_kind(figure)}: {short_name(figure)}",
                body=f"{check.text}, in {failed} of {counted(len(figure.points), 'launch')}. Repeat the measurement "
                f"with the command.{_baseline_hint(baseline)}",
                lines=figure_command(summary, figure, **(baseline.values if baseline else {})),
                details=tuple(one.text for one in figure.wrong),
                kind="wrong",
            )
        )
    return RuleResult(tuple(found))


def _kind(figure: Figure) -> str:
    """Return whether a result is wrong or could not be verified."""
    return "Result not verified" if all(one.where.startswith(UNCHECKED) for one in figure.wrong) else "Wrong result"


def _other_baseline(summary: Summary, figure: Figure) -> _Baseline | None:
    run = summary.run
    request = run.request_of(figure.point.launch)
    if request is None or not request.subject.command or run.pair:  # of two programs, A's launch of the same cell is it
        return None
    cell = baseline_of(request, run.requests).cells()[0]
    values = {name: f"{cell[name]},{value}" for name, value in figure.knobs.items() if cell.get(name, value) != value}
    failed = {one.name for one in figure.wrong}
    checks = [one for one in request.subject.checks if one.needs_baseline and one.name in failed]
    return _Baseline(checks[0], values) if checks and values else None


def _baseline_hint(baseline: _Baseline | None) -> str:
    """Return the hint that knobs may change the result, with the check to use instead."""
    if baseline is None:
        return ""
    names = list(baseline.values)
    cell = " ".join(f"{name}={values.partition(',')[0]}" for name, values in baseline.values.items())
    other, what = ("FILE", "your own reference file") if baseline.check.kind == "file" else ("NUMBER", "a number")
    return (
        f" The baseline is {cell}; if {' or '.join(names)} changes the result, compare with {what}: "
        f"--check '{check_text(baseline.check, other)}'."
    )
