"""Shared by commands that read or measure runs: find a run, report damaged lines, measure missing launches."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from octant.failure import Exit, Refusal

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from octant.runs.durations import Durations
    from octant.store import Repeats, Store, StoredRun


MAX_NAMED = 20
"""Largest number of damaged lines of a run that are reported on standard error."""


def find_run(store: Path | None, name: str) -> StoredRun:
    """Find a run by its id, a unique prefix of its id, its folder, `last` or `previous`.

    `last` is the newest run that can be read. `previous` is the last run of the same kind before it
    (`analysis.previous`), of the same machine or imported (or `last` is imported). The chosen run and damaged lines are
    reported on standard error.

    Raises:
        Refusal: no run or several runs match, or the run cannot be read.
    """
    from octant.store import open_store

    where = open_store(store)
    short = {"last": _last, "previous": _previous}
    run = short[name](where) if name in short else where.find(name, tuple(short))
    report_damage(run.id, run.unread)
    return run


def _last(where: Store) -> StoredRun:
    run, refused = where.newest()
    for text in refused:
        typer.echo(f"octant: {text}; last is {run.id}", err=True)
    return run


def _previous(where: Store) -> StoredRun:
    from octant.analysis.previous import previous_run
    from octant.build.describe import default_knobs
    from octant.units import counted

    last = where.newest()[0]
    if found := previous_run(last, where.runs_like(last, imported=True), default_knobs):
        common = counted(found.common, "common figure")
        typer.echo(f"octant: previous is {found.run.id} ({found.run.title}): {found.why}, {common}", err=True)
        return found.run
    why = f"no earlier run of this machine, and no imported run, has a figure in common with {last.id}"
    raise Refusal(f"cannot find the previous run ({why}); name a run (see octant runs)")


def warn(text: str) -> None:
    """Print a warning on standard error."""
    typer.echo(f"octant: {text}", err=True)


def warn_of_few_launches(launches: int) -> None:
    """Print which conclusions are impossible with this number of launches per configuration, if any."""
    from octant.stats.launches import explain_few_launches

    if text := explain_few_launches(launches):
        warn(text)


def report_damage(name: str, unread: Sequence[str]) -> None:
    """Report the first unreadable lines of a run, and the number of further ones."""
    for text in unread[:MAX_NAMED]:
        typer.echo(f"octant: {name}: {text}", err=True)
    if more := len(unread[MAX_NAMED:]):
        typer.echo(f"octant: {name}: {more} more lines cannot be read", err=True)


def measure(
    where: Store,
    run: StoredRun,
    timeout: float | None,
    after_s: float = 0.0,
    known: Durations | None = None,
    shows_output: bool = False,
) -> StoredRun:
    """Measure the missing launches of a run; Ctrl-C keeps the measurements and prints how to resume.

    Args:
        after_s: seconds of the work that follows, included in the time left.
        known: durations of launches; `None`: general estimates.
        shows_output: pass the output of programs through while they run.

    Raises:
        Refusal: the store cannot be written, or the environment contains a setting that the MPI library would ignore.
        typer.Exit: it was stopped.
    """
    from octant.cli._progress import RemainingTime, progress_by
    from octant.launch.program import Attached
    from octant.runs.cell_costs import list_step_errors
    from octant.runs.plan import planner_of
    from octant.runs.program_schedule import baseline_starts, needs_decision, repeats_text, schedule_launches
    from octant.runs.programs.command_text import resume_line
    from octant.runs.rounds import rounds_of
    from octant.runs.session import execute_run
    from octant.units import counted

    for text in list_step_errors(run.requests):
        warn(text)
    due = [one.request.repeats for one in run.remaining() if one.request.show.purpose != "limit"]
    if due and not run.study and run.who != "evaluate" and not needs_decision(run):
        warn_of_few_launches(run.repeats.repeats if run.repeats else min(due))
    rounds = rounds_of(run) if len(run.requests) > 1 else {}
    left = () if needs_decision(run) else (*baseline_starts(run), *run.remaining())
    clock = RemainingTime(left, rounds, after_s, known=known)

    def decided(repeats: Repeats) -> None:
        where.decide_repeats(run, repeats)
        warn(repeats_text(repeats, sum(len(request.cells()) for request in run.requests)))
        warn_of_few_launches(repeats.repeats)
        clock.replan(where.read(run.id).remaining())

    try:
        with progress_by(clock, shows_output) as observe:
            plan, launches = planner_of(run, timeout, known), schedule_launches(run, decided, warn)
            attached = Attached(output=shows_output)
            run = execute_run(where, run, launches, plan, observe, report=warn, attached=attached)
    except KeyboardInterrupt:
        kept = len(where.read(run.id).points)
        typer.echo(f"\nStopped; {counted(kept, 'measurement')} stored. To continue: {resume_line(run)}", err=True)
        raise typer.Exit(int(Exit.INTERRUPTED)) from None
    report_damage(run.id, run.unread)
    return run
