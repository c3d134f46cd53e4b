"""Exit codes that apply to a run, with their reasons."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from octant.failure import Exit
from octant.record import MISSING
from octant.runs.programs.command_text import resume_line
from octant.units import counted
from octant.workloads import alone_knobs

if TYPE_CHECKING:
    from octant.record import Failure
    from octant.store import StoredRun

MAX_REASONS = 5
"""Maximum number of different reasons that one message lists."""


@dataclass(frozen=True)
class ExitReason:
    """An exit code other than 0 that applies to a run, and its message on standard error."""

    code: Exit
    text: str


def list_exit_reasons(run: StoredRun) -> list[ExitReason]:
    """Return the reasons for exit codes other than 0; empty if every launch succeeded.

    `failure.worst` combines the codes. An unsupported configuration counts if the user requested it. Suites and studies
    also try configurations that a machine may not support. For them it counts only if nothing could be measured, or if
    a communication pattern of a suite does not work with the MPI library.
    """
    return [*_wrong_results(run), *_missing(run), *_missing_values(run), *_refused(run)]


def _wrong_results(run: StoredRun) -> list[ExitReason]:
    found = {f"{point.workload}: {check.text}": None for point in run.points for check in point.failed_checks}
    return [ExitReason(Exit.WRONG_ANSWER, f"WRONG RESULT: {text}") for text in found]


def _missing(run: StoredRun) -> Iterator[ExitReason]:
    """Yield the reason for launches that failed and can be repeated."""
    if left := [launch for launch in run.remaining() if launch.request.show.purpose != "limit"]:
        reasons = [one.reason for one in run.failures if one.exit == Exit.CANNOT_RUN and not _of_limit(run, one)]
        why = reasons[-1] if reasons else "the launches produced no records"
        hint = "" if run.pair else f"; correct the cause, then run {resume_line(run)}"
        count = f"{counted(len(left), 'launch')} failed" if run.points else "nothing could be measured"
        yield ExitReason(Exit.CANNOT_RUN, f"{count} ({why}){hint}")


def _missing_values(run: StoredRun) -> Iterator[ExitReason]:
    """Yield the reason for values that the output of a program does not contain; its times are kept."""
    texts = [point.notes[MISSING] for point in run.points if MISSING in point.notes]
    if texts:
        count = counted(len(run.points), "measurement")
        yield ExitReason(Exit.WRONG_WORD, f"a requested value is missing in {len(texts)} of {count}: {texts[0]}")


def _refused(run: StoredRun) -> Iterator[ExitReason]:
    """Yield the reasons for failures that repetition cannot repair."""
    for code in (Exit.WRONG_WORD, Exit.NOT_SUPPORTED):
        found = [failure for failure in run.failures if failure.exit == code and _counts(run, failure)]
        if reasons := list(dict.fromkeys(failure.reason for failure in found)):
            more = [f"{len(reasons) - MAX_REASONS} more reasons"] * (len(reasons) > MAX_REASONS)
            extent = "some configurations could not be measured" if run.points else "nothing could be measured"
            yield ExitReason(code, f"{extent} ({'; '.join(reasons[:MAX_REASONS] + more)})")


def explain_missing_limits(run: StoredRun) -> list[str]:
    """Return the reasons for failed measurements of limits; they do not change the exit code."""
    reasons = dict.fromkeys(one.reason for one in run.failures if _of_limit(run, one))
    return [f"the limit could not be measured completely ({reason})" for reason in reasons]


def _of_limit(run: StoredRun, failure: Failure) -> bool:
    """Return whether a failed launch only measured a limit."""
    request = run.request_of(failure.launch)
    return request is not None and request.show.purpose == "limit"


def _counts(run: StoredRun, failure: Failure) -> bool:
    if _of_limit(run, failure):
        return False
    if failure.exit == Exit.WRONG_WORD or not run.points or run.who == "run":
        return True
    return run.study is None and run.pair is None and bool(alone_knobs(failure.workload))
