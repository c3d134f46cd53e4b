"""Shared by commands that measure: create a run, apply MPI settings, finish with warnings and an exit code."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import typer

from octant.failure import Exit, Refusal, worst

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from octant.limit import StoredLimit
    from octant.machine import Machine
    from octant.mpi.settings import MpiSettings
    from octant.request import Request
    from octant.runs.durations import Durations
    from octant.runs.exit_reasons import ExitReason
    from octant.store import ProvenSetting, Store, StoredRun
    from octant.tile import DeclaredScreen


def safe(requests: Sequence[Request]) -> Sequence[Request]:
    """Return the requests without those that trigger known bugs of the MPI library, and print what is skipped.

    Raises:
        Refusal: no request remains.
    """
    from octant.mpi.faults import safe_requests
    from octant.mpi.inventory import linked
    from octant.mpi.settings import library_of

    kept, reasons = safe_requests(requests, library_of(linked(), {}))
    for text in reasons:
        typer.echo(f"octant: {text}", err=True)
    if not kept:
        why = "; ".join(reasons)
        raise Refusal(f"cannot measure (all tests are skipped: {why}); try without --only-safe", Exit.NOT_SUPPORTED)
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
    limits: Sequence[StoredLimit] = (),
) -> StoredRun:
    """Create a run whose launches start in rounds, in random order; a suite begins and ends with probes."""
    from octant.runs.probes import with_probes
    from octant.runs.rounds import drawn_order, new_seed

    seed = new_seed()
    order = drawn_order([request.repeats for request in requests], seed)
    if who == "evaluate":
        requests, order = with_probes(requests, order)
    return where.create(
        title,
        machine,
        requests,
        order,
        who,
        seed=seed,
        settings=settings,
        screen=screen,
        benchmark=benchmark,
        limits=limits,
    )


def settings_of(words: Sequence[str]) -> MpiSettings:
    """Read the MPI settings of `--mpi`; settings without effect on this library are reported and ignored."""
    from octant.mpi.inventory import linked
    from octant.mpi.settings import MpiSettings, read

    if not words:
        return MpiSettings({}, ())
    settings = read(words, linked())
    for text in settings.without_effect:
        typer.echo(f"octant: {text}; the setting is ignored", err=True)
    return settings


def prove(settings: MpiSettings, request: Request, to: Store) -> tuple[ProvenSetting, ...]:
    """Verify the MPI settings, also those of the environment if ranks communicate, and print the results."""
    import os

    from octant.mpi import proof
    from octant.mpi.inventory import linked
    from octant.mpi.settings import library_of

    outside = proof.set_outside(os.environ) if request.shape.ranks > 1 else {}
    if not settings.variables and not settings.settings and not outside:
        return ()
    library = library_of(linked(), {**os.environ, **settings.variables})
    root = to.root.absolute()  # every host can read the folder of the records
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
    shows_output: bool = False,
) -> None:
    """Measure the missing launches of a run, show it, print warnings, and exit with the code of the run.

    Args:
        show: prints the run.
        show_s: seconds that `show` takes, for the time left.
        known: durations of launches; if given, the estimate is printed next to the actual time.
        shows_output: pass the output of programs through while they run.

    Raises:
        typer.Exit: something failed, was wrong, is not supported, or was stopped.
    """
    from octant.analysis.mismatches import all_mismatches
    from octant.cli._stored import measure
    from octant.mpi.faults import known_wrong_results
    from octant.runs.exit_reasons import explain_missing_limits, list_exit_reasons
    from octant.runs.starts import list_starts
    from octant.units import duration_text

    begun_s = time.monotonic()
    estimate_s = show_s + sum(map(known.seconds, list_starts(run.remaining()))) if known else 0.0
    run = measure(where, run, timeout, show_s, known, shows_output)
    show(run)
    if estimate_s:
        took, estimate = duration_text(time.monotonic() - begun_s), duration_text(estimate_s)
        typer.echo(f"octant: the run took {took} (estimate: {estimate})", err=True)
    for text in known_wrong_results(run.points):
        typer.echo(f"octant: {text}", err=True)
    for text in all_mismatches(run):
        typer.echo(f"octant: REQUEST NOT MET: {text}", err=True)
    for text in explain_missing_limits(run):
        typer.echo(f"octant: {text}", err=True)
    if not shows_output:
        warn_of_output(run)
    warn_of_commands(run)
    end_command(list_exit_reasons(run))


def warn_of_output(run: StoredRun) -> None:
    """Print the last lines of the output of the program that failed last."""
    from octant.report.results import failed_output

    for number, text in enumerate(failed_output(run)):
        typer.echo(text if number else f"octant: {text}", err=True)


def warn_of_commands(run: StoredRun) -> None:
    """Print the `--after` commands that failed; they do not change the exit code."""
    from octant.analysis.caveats import failed_commands

    for text in failed_commands(run.points):
        typer.echo(f"octant: {text}", err=True)


def end_command(ends: Sequence[ExitReason]) -> None:
    """Print the reasons and exit with the code that takes precedence; return if there are none.

    Raises:
        typer.Exit: something failed, was wrong or is not supported.
    """
    for text in dict.fromkeys(end.text for end in ends if end.text):
        typer.echo(f"octant: {text}", err=True)
    if ends:
        raise typer.Exit(int(worst(end.code for end in ends)))
