"""How a run ended: which exit codes apply to the command that measured it, and why."""

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

MOST_REASONS = 5
"""Different reasons that one sentence lists."""


@dataclass(frozen=True)
class End:
    """An outcome that is no success: its exit code, and what is said of it on standard error."""

    code: Exit
    text: str


def ends_of(run: StoredRun) -> list[End]:
    """Return what is not well with a run; none if every launch succeeded. `failure.worst` combines the codes.

    What is not supported here counts where the user named what to measure. Suites and studies try what a machine may
    lack; theirs counts where nothing could be measured, and of a suite where a pattern of the MPI library does not
    work.
    """
    return [*_wrong_answers(run), *_missing(run), *_missing_values(run), *_refused(run)]


def _wrong_answers(run: StoredRun) -> list[End]:
    found = {f"{point.workload}: {check.text}": None for point in run.points for check in point.failed_checks}
    return [End(Exit.WRONG_ANSWER, f"WRONG ANSWER: {text}") for text in found]


def _missing(run: StoredRun) -> Iterator[End]:
    """Launches that failed and can be repeated."""
    if left := run.remaining():
        reasons = [failure.reason for failure in run.failures if failure.exit == Exit.CANNOT_RUN]
        why = reasons[-1] if reasons else "no record of them came"
        hint = "" if run.pair else f"; correct that and try {resume_line(run)}"
        said = f"{counted(len(left), 'launch')} failed" if run.points else "nothing could be measured"
        yield End(Exit.CANNOT_RUN, f"{said} ({why}){hint}")


def _missing_values(run: StoredRun) -> Iterator[End]:
    """Values that a program was to print and that were not found; its times are kept."""
    texts = [point.notes[MISSING] for point in run.points if MISSING in point.notes]
    if texts:
        yield End(Exit.WRONG_WORD, f"no value in {len(texts)} of {counted(len(run.points), 'point')}: {texts[0]}")


def _refused(run: StoredRun) -> Iterator[End]:
    """What fails however often it is repeated."""
    for code in (Exit.WRONG_WORD, Exit.NOT_SUPPORTED):
        found = [failure for failure in run.failures if failure.exit == code and _counts(run, failure)]
        if reasons := list(dict.fromkeys(failure.reason for failure in found)):
            more = [f"{len(reasons) - MOST_REASONS} more reasons"] * (len(reasons) > MOST_REASONS)
            said = "not everything could be measured" if run.points else "nothing could be measured"
            yield End(code, f"{said} ({'; '.join(reasons[:MOST_REASONS] + more)})")


def _counts(run: StoredRun, failure: Failure) -> bool:
    if failure.exit == Exit.WRONG_WORD or not run.points or run.who == "run":
        return True
    return run.study is None and run.pair is None and bool(alone_knobs(failure.workload))
