"""Profiles of MPI programs in a run, with the commands that repeat them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from octant.advice.findings import RuleResult
from octant.analysis.profiles import newest_analysis, profiled_launches
from octant.failure import Refusal
from octant.profile.efficiency import thread_seconds
from octant.profile.totals import share_of
from octant.program import shell_text
from octant.runs.programs.command_text import shape_words, subject_words
from octant.runs.programs.placeholders import cell_values, fill_words

if TYPE_CHECKING:
    from collections.abc import Callable

    from octant.analysis.summary import Summary
    from octant.profile.results import Analysis
    from octant.request import Request


@dataclass(frozen=True)
class ProfiledProgram:
    """The newest profile of a run."""

    analysis: Analysis
    report_line: str  # the command that shows it
    request: Request | None = None  # `None`: it is not stored
    knobs: tuple[tuple[str, str], ...] = ()

    def lines(self, *options: str) -> tuple[str, ...]:
        """Return the command that profiles the program again with these options, else the one that shows the profile.

        A program with variables, files or values of its own cannot be typed in one line.
        """
        request = self.request
        if request is None or request.mpi or subject_words(request.subject):
            return (self.report_line,)
        command = fill_words(request.subject.command, cell_values(request, dict(self.knobs)))
        words = ["octant", "profile", *shape_words(request), *options, "--", *command]
        return (shell_text(words) if all(word.isprintable() for word in words) else self.report_line,)

    def share_of_time(self, seconds: float) -> float:
        """Return a sum of seconds over ranks and threads as a share of the time of all threads that called MPI."""
        return min(1.0, share_of(seconds, thread_seconds(self.analysis.job.processes)))

    def order(self, seconds: float) -> float:
        """Return the order of a finding: the logarithm of the gain if this time, a sum over ranks, were saved."""
        return -math.log(max(0.01, 1 - self.share_of_time(seconds)))


def of_newest_profile(judge_profile: Callable[[ProfiledProgram], RuleResult]) -> Callable[[Summary], RuleResult]:
    """Return the rule about a run that judges its newest profile; without one, the rule has no result."""

    def judge(summary: Summary) -> RuleResult:
        program = profile_of(summary)
        return judge_profile(program) if program else RuleResult()

    return judge


def profile_of(summary: Summary) -> ProfiledProgram | None:
    """Return the newest profile of a run; `None`: it has none, or it cannot be read, which the report states."""
    try:
        analysis = newest_analysis(summary.run)
    except Refusal:
        return None
    if analysis is None:
        return None
    newest = profiled_launches(summary.run)[-1]
    line = f"octant profile report {summary.run.id}"
    return ProfiledProgram(analysis, line, summary.run.request_of(newest.launch), newest.knobs)
