"""Evidence of verdicts on figures of two runs: paired rounds, or two occasions with earlier ones."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from octant.analysis.figures import Figure, LaunchFigure, MeasuredCell, figures_of
from octant.analysis.mismatches import mismatches_of
from octant.failure import Exit, Refusal
from octant.stats import Caveat, Grade
from octant.stats.gate import (
    can_prove_difference,
    gate_verdicts,
    least_rounds,
    planned_looks,
    sufficient_rounds,
    until_sure_verdicts,
)
from octant.stats.intervals import Period
from octant.stats.occasions import LEAST_LAUNCHES, TwoRuns, occasion_verdicts
from octant.stats.paired import LEAST_ROUNDS, paired_levels, paired_verdicts
from octant.stats.verdicts import Verdict, log_speeds, no_verdict
from octant.store import StoredRun
from octant.units import counted

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from octant.record import Point
    from octant.store import Pair

Runs: TypeAlias = tuple[StoredRun, StoredRun]
FigurePairs: TypeAlias = Sequence[tuple[Figure, Figure]]
"""Pairs of comparable figures of A and B."""

APART = timedelta(hours=1)
"""Runs and launches that started within this time are of one occasion."""
ENOUGH = 12
"""Maximum number of occasions of a figure; more change its verdict little, and each takes time to read."""


@dataclass(frozen=True)
class Occasion:
    """Value of a figure at another time."""

    begun: datetime
    value: float  # base units


History = Callable[[Runs, FigurePairs], Sequence[Sequence[Occasion]]]
"""Function that returns the other occasions of each figure of two runs."""


def no_history(_runs: Runs, both: FigurePairs) -> Sequence[Sequence[Occasion]]:
    """Return no other occasions."""
    return [()] * len(both)


def judge_rounds(both: FigurePairs, runs: Runs, pair: Pair, margin: float, gate: bool) -> list[Verdict]:
    """Return verdicts from the rounds in which two runs were measured.

    Runs with early stopping are judged by sequential tests, also in a report.

    Raises:
        Refusal: fewer rounds than a gate over so many figures requires.
    """
    if not both:  # B has none of A's figures
        return []
    ratios = [log_ratios(old, new) for old, new in both]
    rounds, least, period = max(map(len, ratios), default=0), least_rounds(len(both)), _period(runs, both)
    if rounds < least and (gate or pair.looks != "once"):
        if gate:
            raise Refusal(too_few_rounds(len(both), rounds))
        return [no_verdict(len(x), "paired rounds", least, margin) for x in ratios]
    if pair.looks == "any time":
        return until_sure_verdicts(ratios, period, margin)
    if pair.looks == "rising":
        looks = planned_looks(pair.rounds)
        threshold = max(level for look, level in looks.items() if look <= max(rounds, LEAST_ROUNDS))
        return gate_verdicts(ratios, period, margin, threshold)
    return (gate_verdicts if gate else paired_verdicts)(ratios, period, margin)


def too_few_rounds(figures: int, rounds: int) -> str:
    """Return the refusal of a gate on so few rounds, with the remedy."""
    least = least_rounds(figures)
    what = (
        f"cannot gate {figures} figure{'s' * (figures != 1)} on {rounds} paired rounds (at least {least} are required)"
    )
    return f"{what}; try octant compare --gate --rounds {least}"


def refuse_insufficient_rounds(figures: int, rounds: int, until_sure: bool = False) -> None:
    """Refuse a number of rounds on which a gate over so many figures cannot decide.

    Raises:
        Refusal: with the smallest sufficient number, at least this one.
    """
    sufficient = sufficient_rounds(figures, rounds, until_sure)
    if rounds == sufficient:
        return
    if rounds < least_rounds(figures) and not until_sure:
        raise Refusal(too_few_rounds(figures, rounds), Exit.WRONG_WORD)
    options = "--gate --until-sure" if until_sure else "--gate"
    why = f"a difference in {'the figure' if figures == 1 else f'one of {figures} figures'} cannot be proven on them"
    text = f"cannot gate {counted(figures, 'figure')} on {rounds} paired rounds ({why})"
    raise Refusal(f"{text}; try octant compare {options} --rounds {sufficient}", Exit.WRONG_WORD)


def explain_insufficient_rounds(figures: int, rounds: int) -> str:
    """Return what a report on this number of rounds cannot prove; "" if nothing."""
    if can_prove_difference(figures, rounds):
        return ""
    sufficient = next(n for n in itertools.count(rounds) if can_prove_difference(figures, n))
    why = f"a difference in one of {figures} figures alone cannot be proven on {rounds} paired rounds"
    return f"{why}; use --rounds {sufficient}"


def log_ratios(old: Figure, new: Figure) -> NDArray[np.float64]:
    """Return the logarithms of B's speed over A's for each round in which both have values within an hour."""
    before, after = (log_speeds(side, old.metric.better) for side in _values_in_rounds(old, new))
    return np.asarray(after - before, np.float64)


def _values_in_rounds(old: Figure, new: Figure) -> tuple[list[float], list[float]]:
    """Return the values of A and B in each round in which both have values within an hour."""
    before, after = (
        {int(one.point.launch.rpartition("-")[2]): one for one in row.launches if one.counts} for row in (old, new)
    )
    rounds = [n for n in sorted(before.keys() & after.keys()) if _are_one_occasion(before[n], after[n])]
    return [before[n].value.middle for n in rounds], [after[n].value.middle for n in rounds]


def values_behind(old: Figure, new: Figure, verdict: Verdict) -> tuple[float, float] | None:
    """Return the values of A and B whose ratio is that of the verdict, in base units; `None` without a ratio.

    Medians of each side have another ratio, which may contradict the verdict.
    """
    if verdict.speed is None:
        return None
    paired = verdict.speed.claim == "ratio in rounds"
    sides = _values_in_rounds(old, new) if paired else [[one.value.middle for one in row.counted] for row in (old, new)]
    before, after = (np.log(np.asarray(side, np.float64)) for side in sides)
    levels = paired_levels(before, after) if paired else (before.mean(), after.mean())
    return math.exp(levels[0]), math.exp(levels[1])


def _are_one_occasion(one: LaunchFigure, other: LaunchFigure) -> bool:
    """Return whether two launches are of one occasion, without an interruption of an hour or more."""
    begun = [launch.point.process.begun for launch in (one, other)]
    return begun[0] is None or begun[1] is None or abs(begun[0] - begun[1]) < APART


def judge_two_runs(both: FigurePairs, runs: Runs, margin: float, history: History) -> list[Verdict]:
    """Return verdicts from two runs that were not interleaved."""
    tested = [rows for rows in both if min(len(row.counted) for row in rows) >= LEAST_LAUNCHES]
    known = dict(zip(map(id, tested), history(runs, tested) if tested else (), strict=True))
    occasions = [known.get(id(rows), ()) for rows in both]
    figures = [_two_runs(*rows, seen) for rows, seen in zip(both, occasions, strict=True)]
    return occasion_verdicts(figures, _period(runs, both, occasions), margin)


def _two_runs(old: Figure, new: Figure, occasions: Sequence[Occasion]) -> TwoRuns:
    better = old.metric.better
    sides = [log_speeds([launch.value.middle for launch in row.counted], better) for row in (old, new)]
    return TwoRuns(sides[0], sides[1], log_speeds([one.value for one in occasions], better))


def _period(runs: Runs, both: FigurePairs, occasions: Sequence[Sequence[Occasion]] = ()) -> Period:
    """Return the period from the first launch of these figures to the last."""
    periods = [row.value.period for rows in both for row in rows if row.value]
    times = [one.begun for seen in occasions for one in seen]
    times += [time for period in periods for time in (period.begin, period.end)]
    times = times or [_started(run) for run in runs]
    return Period(min(times), max(times))


def invalid_caveats(row: Figure) -> list[Caveat]:
    """Return the caveats that rule out a verdict; a wide interval does not, since the ratio has its own."""
    return [one for one in row.caveats if one.grade == Grade.INVALID and one.kind != "wide interval"]


def occasions_in(stored: Callable[[], Iterable[StoredRun]]) -> History:
    """Return the history in stored runs: same machine, cell, build and settings as A's or B's figure.

    The program with more occasions is used. A run that started within an hour of A, B or another occasion is skipped.

    Args:
        stored: runs of this machine; the first are preferred.
    """
    return functools.partial(_history, stored)


def _history(stored: Callable[[], Iterable[StoredRun]], runs: Runs, both: FigurePairs) -> list[list[Occasion]]:
    sides = [[(*row.identity.same_program, row.metric.name) for row in rows] for rows in both]
    rows = {
        program: row
        for pair, programs in zip(both, sides, strict=True)
        for row, program in zip(pair, programs, strict=True)
    }
    found: dict[tuple[object, ...], list[Occasion]] = {program: [] for program in rows}
    own = [_started(run) for run in runs]
    for run in stored():
        if all(len(known) >= ENOUGH for known in found.values()):
            break
        begun = _started(run)
        sought = {
            program: row
            for program, row in rows.items()
            if len(found[program]) < ENOUGH
            and all(abs(begun - other) >= APART for other in (*own, *(one.begun for one in found[program])))
        }
        for program, value in _values(run, sought):
            found[program].append(Occasion(begun, value))
    return [max((found[program] for program in programs), key=len) for programs in sides]


def _started(run: StoredRun) -> datetime:
    return datetime.fromisoformat(run.started).astimezone()


def _values(run: StoredRun, rows: dict[tuple[object, ...], Figure]) -> Iterable[tuple[tuple[object, ...], float]]:
    """Yield the values of the wanted figures in a run, by program."""
    points: dict[tuple[object, ...], dict[str, Point]] = {}
    for point in run.points:
        points.setdefault(run.identity_of(point).same_program, {})[point.launch] = point
    for program, row in rows.items():
        launched = list(points.get(program[:-1], {}).values())
        if launched:
            given = {place: found for place, one in enumerate(launched) if (found := mismatches_of(run, one))}
            made = figures_of(MeasuredCell(row.workload, launched, (row.metric,), given))[row.metric.name]
            if made.value is not None and made.value.middle > 0 and not invalid_caveats(made):
                yield program, made.value.middle
