"""`octant profile --cost`: the overhead of recording, in paired rounds with and without it."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

import typer

from octant.failure import Exit, Refusal, worst

if TYPE_CHECKING:
    from octant.cli._profile import ProfileOptions
    from octant.cli._program import ProgramWords
    from octant.request import Request
    from octant.runs.interleaved import Interleaved, RoundEnd
    from octant.store import Store

ROUNDS, LONG_S = 12, 600.0
"""Usual number of paired rounds, and the time after which no further one begins if there are enough for an interval."""


def measure_cost(program: ProgramWords, options: ProfileOptions, rounds: int | None) -> None:
    """Measure the overhead of recording, print it on standard output, and show the last profile on standard error.

    Raises:
        Refusal: an option does not apply, or a launch failed.
        typer.Exit: it was stopped.
    """
    from octant.analysis.profile_cost import profile_cost
    from octant.cli._profile import checked_request, show_if_any
    from octant.cli._progress import ended_like_ctrl_c
    from octant.machine.discover import discover
    from octant.runs import interleaved
    from octant.store import open_store

    if options.repeats > 1:
        raise Refusal("cannot use --repeats with --cost; use --rounds N instead", Exit.WRONG_WORD)
    request, _ = checked_request(program, options)
    to, words = open_store(options.store), program.command or ()
    couples = ((_unrecorded(request), request),)
    sides = interleaved.create_program_runs(to, couples, (words, words), discover(), rounds or ROUNDS, "once")
    try:
        with ended_like_ctrl_c():
            sides = _measure(to, sides, options, rounds)
    except KeyboardInterrupt:
        typer.echo(f"\noctant: stopped; the runs are {sides.before.id} and {sides.after.id}", err=True)
        raise typer.Exit(int(Exit.INTERRUPTED)) from None
    failures = [failure for run in (sides.before, sides.after) for failure in run.failures]
    found = profile_cost(sides.before, sides.after)
    if failures or found is None:
        why = failures[0].reason if failures else "too few rounds have a result"
        code = worst(failure.exit for failure in failures) if failures else Exit.CANNOT_RUN
        raise Refusal(f"cannot determine the cost ({why}); correct the cause, then repeat the command", code)
    show_if_any(sides.after, options)
    print(found.text)


def _unrecorded(request: Request) -> Request:
    """Return the request without recording, and without the values that need it."""
    values = tuple(value for value in request.subject.values if not value.region)
    return replace(request, subject=replace(request.subject, profile=None, values=values))


def _measure(to: Store, sides: Interleaved, options: ProfileOptions, rounds: int | None) -> Interleaved:
    from octant.cli._stored import warn
    from octant.runs import interleaved
    from octant.runs.plan import planner_of
    from octant.stats.paired import LEAST_ROUNDS

    begun_s = time.monotonic()

    def is_enough(end: RoundEnd) -> bool:
        if any(batch.failures for _, batch in end.batches):
            return True
        is_long = rounds is None and time.monotonic() - begun_s > LONG_S
        return is_long and end.number >= LEAST_ROUNDS

    planners = planner_of(sides.before, options.timeout), planner_of(sides.after, options.timeout)
    return interleaved.measure_rounds(to, sides, planners, rounds or ROUNDS, is_enough, report=warn)
