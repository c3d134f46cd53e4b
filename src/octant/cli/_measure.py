"""What commands that request and measure share: a run of requests, settings of the MPI library, and what is said at the end."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import typer

from octant.failure import Exit, Refusal, worst

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from octant.machine import Machine
    from octant.mpi.settings import MpiSettings
    from octant.request import Request
    from octant.runs.durations import Durations
    from octant.runs.ends import End
    from octant.store import ProvenSetting, Store, StoredRun
    from octant.tile import DeclaredScreen


def safe(requests: Sequence[Request]) -> Sequence[Request]:
    """The requests without what the library in use is known to do wrong; what is left out is said on standard error."""
    from octant.mpi.faults import safe_requests
    from octant.mpi.inventory import linked
    from octant.mpi.settings import library_of

    kept, reasons = safe_requests(requests, library_of(linked(), {}))
    for text in reasons:
        typer.echo(f"octant: {text}", err=True)
    if not kept:
        raise Refusal(f"nothing is left to measure ({'; '.join(reasons)})", Exit.NOT_SUPPORTED)
    return kept


def create(
    where: Store,
    title: str,
    machine: Machine,
    requests: Sequence[Request],
    who: str,
    settings: Sequence[ProvenSetting] = (),
    screen: DeclaredScreen | None = None,
    benchmark: str = "",
) -> StoredRun:
    """A run whose launches start in rounds; what a suite asks, between two looks at the machine."""
    from octant.runs.probes import with_probes
    from octant.runs.rounds import drawn_order, new_seed

    seed = new_seed()
    order = drawn_order([request.repeats for request in requests], seed)
    if who == "evaluate":
        requests, order = with_probes(requests, order)
    return where.create(
        title, machine, requests, order, who, seed=seed, settings=settings, screen=screen, benchmark=benchmark
    )


def settings_of(words: Sequence[str]) -> MpiSettings:
    """The settings of the MPI library that `--mpi` names; those without effect here are named and left out."""
    from octant.mpi.inventory import linked
    from octant.mpi.settings import MpiSettings, read

    if not words:
        return MpiSettings({}, ())
    settings = read(words, linked())
    for text in settings.without_effect:
        typer.echo(f"octant: {text}; left out", err=True)
    return settings


def prove(settings: MpiSettings, request: Request, to: Store) -> tuple[ProvenSetting, ...]:
    """Tries the settings, and those of the environment where ranks communicate, and says what came of it."""
    import os

    from octant.mpi import proof
    from octant.mpi.inventory import linked
    from octant.mpi.settings import library_of

    outside = proof.set_outside(os.environ) if request.shape.ranks > 1 else {}
    if not settings.variables and not settings.settings and not outside:
        return ()
    library = library_of(linked(), {**os.environ, **settings.variables})
    root = to.root.absolute()  # where kernels write their records, every host can read
    shared = next(folder for folder in (root, *root.parents) if folder.is_dir())
    proven = proof.prove(settings, library, proof.starter(request.shape.launcher, shared), outside)
    for one in proven:
        typer.echo(f"octant: {proof.text(one, library)}", err=True)
    return proven


def finish(
    where: Store,
    run: StoredRun,
    timeout: float | None,
    show: Callable[[StoredRun], None],
    show_s: float = 0.0,
    known: Durations | None = None,
    shown: bool = False,
) -> None:
    """Measures what a run lacks, shows it, and ends the command with the exit code that the run deserves.

    Args:
        show: prints the run.
        show_s: the seconds that this takes, for the time left.
        known: of the times of launches; then what was promised is compared with what it took.
        shown: pass what programs print through while they run.

    Raises:
        typer.Exit: something failed, was wrong, is not supported, or was stopped.
    """
    from octant.analysis.given import all_mismatches
    from octant.cli._stored import measure
    from octant.mpi.faults import known_wrong_answers
    from octant.runs.ends import ends_of
    from octant.runs.starts import starts_of
    from octant.units import duration_text

    begun_s = time.monotonic()
    promised_s = show_s + sum(map(known.seconds, starts_of(run.remaining()))) if known else 0.0
    run = measure(where, run, timeout, show_s, known, shown)
    show(run)
    if promised_s:
        took, promised = duration_text(time.monotonic() - begun_s), duration_text(promised_s)
        typer.echo(f"octant: took {took}, about {promised} were expected", err=True)
    for text in known_wrong_answers(run.points):
        typer.echo(f"octant: {text}", err=True)
    for text in all_mismatches(run):
        typer.echo(f"octant: NOT AS ASKED: {text}", err=True)
    if not shown:
        warn_of_output(run)
    warn_of_commands(run)
    end_command(ends_of(run))


def warn_of_output(run: StoredRun) -> None:
    """Print the end of what the program printed whose launch failed last."""
    from octant.report.screen.failed_output import failed_output

    for number, text in enumerate(failed_output(run)):
        typer.echo(text if number else f"octant: {text}", err=True)


def warn_of_commands(run: StoredRun) -> None:
    """Name the commands after launches that failed; they do not change the exit code."""
    from octant.analysis.caveats import failed_commands

    for text in failed_commands(run.points):
        typer.echo(f"octant: {text}", err=True)


def end_command(ends: Sequence[End]) -> None:
    """Print what is not well, and end the command with the exit code of all of it together; return if there is none.

    Raises:
        typer.Exit: something failed, was wrong or is not supported.
    """
    for text in dict.fromkeys(end.text for end in ends if end.text):
        typer.echo(f"octant: {text}", err=True)
    if ends:
        raise typer.Exit(int(worst(end.code for end in ends)))
