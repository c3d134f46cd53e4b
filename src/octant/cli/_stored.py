"""What commands that read or measure runs share: finding one, naming its damaged lines, going on with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from octant.failure import Exit

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from octant.store import Store, StoredRun


def find_run(store: Path | None, name: str) -> StoredRun:
    """A run of a store; its damaged lines are reported on standard error.

    Raises:
        Refusal: none or several fit, or it cannot be read at all.
    """
    from octant.store import open_store

    run = open_store(store).find(name)
    report_damage(run.id, run.damaged)
    return run


def report_damage(name: str, damaged: Iterable[str]) -> None:
    """Reports the lines of a run that cannot be read."""
    for text in damaged:
        typer.echo(f"octant: {name}: {text}", err=True)


def measure(where: Store, run: StoredRun, timeout: float | None) -> StoredRun:
    """Measures what a run lacks, showing progress; Ctrl-C keeps what was measured, and prints how to resume.

    Raises:
        Refusal: the store cannot be written, or the environment holds what the MPI library would ignore.
        typer.Exit: it was stopped.
    """
    from octant.cli._progress import progress_of
    from octant.runs.carry_out import carry_out, in_turn
    from octant.runs.plan import planner_of
    from octant.units import counted

    try:
        with progress_of(run) as observe:
            run = carry_out(where, run, in_turn(run.launches), planner_of(run, timeout), observe)
    except KeyboardInterrupt:
        kept = len(where.read(run.id).points)
        typer.echo(f"\nStopped; {counted(kept, 'point')} kept. Resume with: octant resume {run.id}", err=True)
        raise typer.Exit(int(Exit.INTERRUPTED)) from None
    report_damage(run.id, run.damaged)
    return run
