"""Order and number of the launches of programs: the baseline, the first launch of each cell, then as many as fit.

The schedule depends only on the requests and the records, so that a resumed run makes the same decisions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import replace

from octant.failure import Exit, Refusal
from octant.program import ProgramCheck
from octant.record import MISSING, UNCHECKED, Point
from octant.request import Launch, Request
from octant.runs.programs.reference import baseline_of, is_of_cell
from octant.runs.session import Batch, LaunchSchedule
from octant.store import Repeats, StoredRun, finished_cells
from octant.units import counted, differing_texts, duration_text, si_text

BUDGET_S = 600.0
"""Time limit of all launches of a program, including the first, in seconds."""
_LONG_S = 10.0
_SPREAD = 2.0  # suggested tolerance over the difference of two equal launches

Decided = Callable[[Repeats], None]
"""Called once with the number of launches, before the second launch."""


def needs_decision(run: StoredRun) -> bool:
    """Return whether the first launches of a run determine the number of launches; studies and suites state it."""
    return run.repeats is None and run.who == "run" and any(request.subject.command for request in run.requests)


def schedule_launches(
    run: StoredRun, decided: Decided = lambda _: None, report: Callable[[str], None] = lambda _: None
) -> LaunchSchedule:
    """Yield the launches of a run: the baseline twice if a check needs it, the first launch of each cell, the rest.

    If the baseline or every first launch fails, no other launch follows.

    Args:
        run: the stored run; without programs, its launches are yielded in their order.
        decided: records the number of launches, and reports it.
        report: called with missing values of the first launches, if the other launches take long.

    Raises:
        Refusal: a check is impossible, because two equal launches differ by more than its tolerance, or the baseline
            has no such value or file.
    """
    if not (yield from settle_baseline(run.requests)):
        return
    programs = [launch for launch in run.launches if launch.request.subject.command]
    first, points = [launch for launch in programs if launch.repeat == 0], list[Point]()
    for launch in first:
        batch = yield launch
        points += batch.points
    if programs and not points:
        return
    taken_s = sum(sum(point.spent_s.values()) for point in points)
    repeats = run.repeats
    if needs_decision(run):
        repeats = Repeats(launches_within(BUDGET_S, taken_s, max(launch.request.repeats for launch in first)), taken_s)
        decided(repeats)
        if taken_s * (repeats.repeats - 1) > _LONG_S:
            for text in dict.fromkeys(point.notes[MISSING] for point in points if MISSING in point.notes):
                report(f"a requested value is missing: {text}")
    for launch in run.launches:
        is_left = not repeats or launch.repeat < repeats.repeats
        if not launch.request.subject.command or (launch.repeat and is_left):
            yield launch


def launches_within(budget_s: float, round_s: float, most: int) -> int:
    """Return the number of launches that fit into a time, at least one.

    Args:
        budget_s: the time, in seconds.
        round_s: duration of one launch of every cell, in seconds.
        most: maximum number of launches.
    """
    return max(1, min(most, math.floor(budget_s / round_s))) if round_s > 0 else most


def repeats_text(decided: Repeats, cells: int) -> str:
    """Return the number of launches, for the user: `one launch takes 90 s; 6 launches take about 9.0 min …`.

    Args:
        cells: number of cells of a launch.
    """
    of_cells = f" of all {cells} configurations" * (cells > 1)
    first = f"one launch{of_cells} takes {_time_text(decided.round_s)}"
    every = f"{decided.repeats} launches take about {_time_text(decided.repeats * decided.round_s)}"
    return f"{first}; {every if decided.repeats > 1 else 'no further launch is planned'} (--repeats N sets the number)"


def _time_text(seconds: float) -> str:
    return duration_text(seconds) if seconds >= 10 else si_text(seconds, "s", 2)


def baseline_starts(run: StoredRun) -> list[Launch]:
    """Return the remaining starts of baselines that are not launches of the run: the second, if it has only one."""
    own, done = {launch.key for launch in run.launches}, finished_cells(run.points, run.failures)
    both = [replace(one, repeat=repeat) for one in _baselines(run.requests) for repeat in (0, 1)]
    return [rest for one in both if one.key not in own for rest in one.without(done.get(one.key, ()))]


def _baselines(requests: Sequence[Request]) -> Iterable[Launch]:
    """Return the baselines that checks need, one per program."""
    needing = [request for request in requests if any(check.needs_baseline for check in request.subject.checks)]
    return {one.key: one for one in (baseline_of(request, requests) for request in needing)}.values()


def settle_baseline(requests: Sequence[Request]) -> Generator[Launch, Batch, bool]:
    """Yield the baseline of each program twice if a check needs it; return whether these launches succeeded.

    Args:
        asks: requests of the run that contains the baseline.

    Raises:
        Refusal: two equal launches differ by more than a tolerance, or the baseline has no such value or file.
    """
    for baseline in _baselines(requests):
        points: list[Point] = []
        for repeat in (0, 1):
            batch = yield replace(baseline, repeat=repeat)
            points += [point for point in batch.points if is_of_cell(point, baseline)][:1]
        if len(points) < 2:
            return False
        _check_equal(baseline.request.subject.checks, points)
    return True


def _check_equal(checks: Sequence[ProgramCheck], points: Sequence[Point]) -> None:
    """Raise `Refusal` if two launches of the baseline differ in a checked value or file."""
    for check, *results in zip(checks, *(point.checks for point in points), strict=False):
        first, second = results
        what = check.value or check.file
        if not check.needs_baseline or (first.passed and second.passed):
            continue
        found = [value for point in points for value in _values(point, check.value)]
        if not first.passed or (check.kind == "value" and len(found) < 2):
            why = (first.where or second.where).removeprefix(UNCHECKED)
            reason, _, hint = why.rpartition("; ")
            text = f"check of {what} failed for the baseline ({reason or why})"
            raise Refusal(f"{text}; {hint}" if reason else text, Exit.WRONG_ANSWER)
        if check.kind == "file":
            hint = "read a number of the file with --value, and check it with a tolerance"
            why = f"two launches with equal inputs differ in {_bytes_text(second.value)}"
            raise Refusal(f"cannot check the file {what} ({why}); {hint}", Exit.NOT_SUPPORTED)
        absolute = "" if check.relative else " absolute"
        hint = f"try a tolerance of {_rounded_up(_SPREAD * second.value)}{absolute}"
        why = f"two launches with equal inputs gave {' and '.join(differing_texts(found[0], found[1]))}"
        if not math.isfinite(second.value):
            hint = f"try {second.where.rpartition('; ')[2]}"
        raise Refusal(f"cannot check {what} ({why}); {hint}", Exit.NOT_SUPPORTED)


def _values(point: Point, name: str) -> Iterable[float]:
    return (one.value for one in point.results if one.bound is None and one.name == name)


def _bytes_text(count: float) -> str:
    return counted(int(count), "byte") if math.isfinite(count) else "their SHA-256"


def _rounded_up(number: float) -> str:
    """Round a number up to one significant digit: `0.17` gives `0.2`."""
    power = math.floor(math.log10(number))
    return f"{math.ceil(number / 10**power - 1e-9) * 10.0**power:.6g}"
