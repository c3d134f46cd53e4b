"""The noise test of `octant doctor`: a run of the suite `noise` in a temporary store."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import typer

from octant.failure import Exit, Refusal

if TYPE_CHECKING:
    from collections.abc import Callable

    from octant.analysis.summary import Summary
    from octant.machine import Machine
    from octant.request import Launch
    from octant.runs.session import LaunchSchedule, LaunchStart

SUITE = "noise"
MAX_S = 10.0
"""No launch starts that would probably end later, in seconds."""


def measure_noise(machine: Machine) -> Summary:
    """Measure lost time on all usable hardware threads, and return the summary of the run, which is not kept.

    Raises:
        Refusal: noise cannot be measured here.
        KeyboardInterrupt: the user stopped the test.
    """
    from octant import suites
    from octant.analysis.summary import summarise
    from octant.cli._measure import create
    from octant.cli._progress import ended_like_ctrl_c, status_line
    from octant.runs.plan import planner_of
    from octant.runs.session import execute_run
    from octant.store import Store, scratch

    chosen = suites.load(SUITE)
    for why in suites.absent(chosen, SUITE).values():
        raise Refusal(why, Exit.NOT_SUPPORTED)
    requests = suites.requests(chosen, machine, name=SUITE)
    with ended_like_ctrl_c(), status_line() as tick, scratch.short_lived(None) as folder:
        typer.echo("octant: measuring noise for at most ten seconds (--static omits this)", err=True)
        to = Store(folder)
        run = create(to, f"evaluate --suite {SUITE}", machine, requests, "doctor")
        run = execute_run(
            to, run, _until(run.launches), planner_of(run, MAX_S), _observer(tick, len(run.launches)), report=warn
        )
        if not run.points:
            why = next((failure.reason for failure in run.failures), "no launch ended in time")
            raise Refusal(why.partition("\n")[0])
        return summarise(run)


def warn(text: str) -> None:
    """Print a warning on standard error."""
    typer.echo(f"octant: {text}", err=True)


def _until(launches: tuple[Launch, ...]) -> LaunchSchedule:
    """Yield the launches that are expected to end within `MAX_S`; at least the first."""
    begun_s, longest_s = time.monotonic(), 0.0
    for launch in launches:
        started_s = time.monotonic()
        if started_s - begun_s + longest_s > MAX_S:
            return
        yield launch
        longest_s = max(longest_s, time.monotonic() - started_s)


def _observer(tick: Callable[[str], None], total: int) -> Callable[[LaunchStart, float], None]:
    """Return the callback that shows the number of the launch."""
    return lambda step, _elapsed_s: tick(f"measuring noise: launch {step.number + 1} of {total}")
