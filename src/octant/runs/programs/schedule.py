"""What is launched next of a run with programs: the baseline, the first launch of each cell, then as many as fit.

It is a function of what was asked and recorded, so that resuming a run decides the same again.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import replace

from octant.ask import Ask, Launch
from octant.failure import Exit, Refusal
from octant.program import ProgramCheck
from octant.record import MISSING, UNCHECKED, Point
from octant.runs.programs.reference import baseline_of, is_of_cell
from octant.runs.session import Batch, Decide
from octant.store import Repeats, StoredRun, finished_cells
from octant.units import counted, differing_texts, duration_text, si_text

BUDGET_S = 600.0
"""Time into which the launches of a program have to fit, the first included."""
_LONG_S = 10.0
_SPREAD = 2.0  # times the difference of two equal runs that a suggested tolerance allows

Decided = Callable[[Repeats], None]
"""Called once with the number of launches, before the second launch."""


def needs_decision(run: StoredRun) -> bool:
    """Return whether the first launches of a run have to decide how many there are; studies and suites say it."""
    return run.repeats is None and run.who == "run" and any(ask.subject.command for ask in run.asks)


def decide(run: StoredRun, decided: Decided = lambda _: None, report: Callable[[str], None] = lambda _: None) -> Decide:
    """Yield the launches of a run: the baseline twice if a check needs it, the first launch of each cell, the rest.

    If the baseline or every first launch fails, nothing else is launched.

    Args:
        run: as it is stored; of a run without programs, its launches are yielded in their order.
        decided: records the number of launches, and reports it.
        report: called with what the first launches lack, if the others take long.

    Raises:
        Refusal: a check cannot be carried out, because two equal runs differ by more than its tolerance, or the
            baseline lacks what it compares.
    """
    if not (yield from settle_baseline(run.asks)):
        return
    programs = [launch for launch in run.launches if launch.ask.subject.command]
    first, points = [launch for launch in programs if launch.repeat == 0], list[Point]()
    for launch in first:
        batch = yield launch
        points += batch.points
    if programs and not points:
        return
    taken_s = sum(sum(point.spent_s.values()) for point in points)
    repeats = run.repeats
    if needs_decision(run):
        repeats = Repeats(launches_within(BUDGET_S, taken_s, max(launch.ask.repeats for launch in first)), taken_s)
        decided(repeats)
        if taken_s * (repeats.repeats - 1) > _LONG_S:
            for text in dict.fromkeys(point.notes[MISSING] for point in points if MISSING in point.notes):
                report(f"no value: {text}")
    for launch in run.launches:
        is_left = not repeats or launch.repeat < repeats.repeats
        if not launch.ask.subject.command or (launch.repeat and is_left):
            yield launch


def launches_within(budget_s: float, round_s: float, most: int) -> int:
    """Return how many launches fit into a time, at least one.

    Args:
        budget_s: the time, s.
        round_s: that one launch of every cell takes, s.
        most: launches at most.
    """
    return max(1, min(most, math.floor(budget_s / round_s))) if round_s > 0 else most


def repeats_text(decided: Repeats, cells: int) -> str:
    """Return the number of launches for people: `one launch takes 90 s: 6 launches, about 9.0 min; …`.

    Args:
        cells: of a launch.
    """
    of_cells = f" of all {cells} cells" * (cells > 1)
    first = f"one launch{of_cells} takes {_time_text(decided.round_s)}"
    every = f"{counted(decided.repeats, 'launch')}, about {_time_text(decided.repeats * decided.round_s)}"
    return f"{first}: {every if decided.repeats > 1 else 'no other launch follows'}; --repeats N changes that"


def _time_text(seconds: float) -> str:
    return duration_text(seconds) if seconds >= 10 else si_text(seconds, "s", 2)


def baseline_starts(run: StoredRun) -> list[Launch]:
    """Return the starts of baselines that are left and are no launches of the run: the second, if it has only one."""
    own, done = {launch.key for launch in run.launches}, finished_cells(run.points, run.failures)
    both = [replace(one, repeat=repeat) for one in _baselines(run.asks) for repeat in (0, 1)]
    return [rest for one in both if one.key not in own for rest in one.without(done.get(one.key, ()))]


def _baselines(asks: Sequence[Ask]) -> Iterable[Launch]:
    """Return the baseline of each program that a check compares with it."""
    needing = [ask for ask in asks if any(check.needs_baseline for check in ask.subject.checks)]
    return {one.key: one for one in (baseline_of(ask, asks) for ask in needing)}.values()


def settle_baseline(asks: Sequence[Ask]) -> Generator[Launch, Batch, bool]:
    """Yield the baseline of each program twice if a check needs it; return whether these launches ended well.

    Args:
        asks: of the run that has the baseline.

    Raises:
        Refusal: two equal runs differ by more than a tolerance, or the baseline lacks what a check compares.
    """
    for baseline in _baselines(asks):
        points: list[Point] = []
        for repeat in (0, 1):
            batch = yield replace(baseline, repeat=repeat)
            points += [point for point in batch.points if is_of_cell(point, baseline)][:1]
        if len(points) < 2:
            return False
        _check_equal(baseline.ask.subject.checks, points)
    return True


def _check_equal(checks: Sequence[ProgramCheck], points: Sequence[Point]) -> None:
    """Look at whether two launches of the baseline agree in what is compared with it.

    Raises:
        Refusal: they do not.
    """
    for check, *results in zip(checks, *(point.checks for point in points), strict=False):
        first, second = results
        what = check.value or check.file
        if not check.needs_baseline or (first.passed and second.passed):
            continue
        found = [value for point in points for value in _values(point, check.value)]
        if not first.passed or (check.kind == "value" and len(found) < 2):
            why = (first.where or second.where).removeprefix(UNCHECKED)
            reason, _, hint = why.rpartition("; ")
            text = f"cannot check {what} of the baseline ({reason or why})"
            raise Refusal(f"{text}; {hint}" if reason else text, Exit.WRONG_ANSWER)
        if check.kind == "file":
            hint = "try --value with a number in it, and --check with a tolerance"
            raise Refusal(
                f"cannot check {what} (two equal runs differ: {_bytes_text(second.value)}); {hint}", Exit.NOT_SUPPORTED
            )
        absolute = "" if check.relative else " absolute"
        hint = f"try a tolerance of {_rounded_up(_SPREAD * second.value)}{absolute}"
        why = f"two equal runs gave {' and '.join(differing_texts(found[0], found[1]))}"
        if not math.isfinite(second.value):
            hint = f"try {second.where.rpartition('; ')[2]}"
        raise Refusal(f"cannot check {what} ({why}); {hint}", Exit.NOT_SUPPORTED)


def _values(point: Point, name: str) -> Iterable[float]:
    return (one.value for one in point.results if one.bound is None and one.name == name)


def _bytes_text(count: float) -> str:
    return counted(int(count), "byte") if math.isfinite(count) else "in their digests"


def _rounded_up(number: float) -> str:
    """Return a number with one significant digit that is not smaller: `0.17` gives `0.2`."""
    power = math.floor(math.log10(number))
    return f"{math.ceil(number / 10**power - 1e-9) * 10.0**power:.6g}"
