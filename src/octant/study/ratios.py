"""Ratios of values with their intervals, and their texts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from octant import stats
from octant.stats import Period
from octant.stats.paired import LEAST_ROUNDS, ratio_in_rounds
from octant.study.values import CannotTest
from octant.units import si_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from octant.study.values import Better, Bounded, StudyValue

_NO_ROUND = "no round has all compared values"


@dataclass(frozen=True)
class Rounds:
    """Ratio in every round of a run in which both sides were measured."""

    logs: Mapping[int, float]  # natural logarithms, by round
    period: Period

    @property
    def ratio(self) -> Bounded:
        """Return the ratio with its interval; with fewer than four rounds the geometric mean without one."""
        x = np.array(list(self.logs.values()))
        if len(x) >= LEAST_ROUNDS:
            return ratio_in_rounds(x, self.period)
        middle = math.exp(x.mean())
        return stats.Interval(middle, middle, middle)

    def over(self, other: Rounds) -> Rounds:
        """Return the ratio of two ratios in their common rounds.

        Raises:
            CannotTest: there is no such round.
        """
        logs = {number: log - other.logs[number] for number, log in self.logs.items() if number in other.logs}
        if not logs:
            raise CannotTest(_NO_ROUND)
        begin, end = min(self.period.begin, other.period.begin), max(self.period.end, other.period.end)
        return Rounds(logs, Period(begin, end))


def gain_in_rounds(of: StudyValue, to: StudyValue, better: Better) -> Rounds:
    """Return the gain of `of` over `to` in each round.

    Raises:
        CannotTest: a value is zero, or no round has both.
    """
    sides = [{launch.round: launch for launch in value.launches} for value in (of, to)]
    both = sorted(sides[0].keys() & sides[1].keys())
    if not both:
        raise CannotTest(_NO_ROUND)
    top, bottom = ([side[number].value.middle for number in both] for side in sides)
    if min(*top, *bottom) <= 0:
        raise CannotTest("a value is zero, so there is no ratio")
    sign = 1 if better == "higher" else -1
    begun = [side[number].begun for side in sides for number in both]
    logs = {n: sign * math.log(a / b) for n, a, b in zip(both, top, bottom, strict=True)}
    return Rounds(logs, Period(min(begun), max(begun)))


def values_by_round(curve: Sequence[StudyValue]) -> list[list[float]]:
    """Return the values of a curve in each round that has all of them.

    Raises:
        CannotTest: there is no such round.
    """
    sides = [{launch.round: launch.value.middle for launch in value.launches} for value in curve]
    rounds = sorted(set.intersection(*(set(side) for side in sides)))
    if not rounds:
        raise CannotTest(_NO_ROUND)
    return [[side[number] for side in sides] for number in rounds]


def rows_of(curve: Sequence[StudyValue]) -> tuple[list[list[float]], int]:
    """Return the values of a curve in each round, and the number of rounds; for a model one row and 0.

    Raises:
        CannotTest: see `values_by_round`.
    """
    if all(value.modelled is not None for value in curve):
        return [[value.value.middle for value in curve]], 0
    rows = values_by_round(curve)
    return rows, len(rows)


def gain(of: StudyValue, to: StudyValue, better: Better) -> Bounded:
    """Return the gain of `of` over `to`: by rounds for launches, bound by bound for a model.

    Raises:
        CannotTest: a value is zero, or no round has both.
    """
    if of.modelled is None or to.modelled is None:
        return gain_in_rounds(of, to, better).ratio
    a, b = (of.modelled, to.modelled) if better == "higher" else (to.modelled, of.modelled)
    if b.low <= 0:
        raise CannotTest("a value is zero, so there is no ratio")
    edges = (a.low / b.low, a.middle / b.middle, a.high / b.high)  # both depend on the same uncertain capacities
    return stats.Interval(min(edges), a.middle / b.middle, max(edges))


def over_extremes(a: Bounded, b: Bounded) -> stats.Interval:
    """Return the ratio of two intervals with the extreme ratios of their ends."""
    return stats.Interval(a.low / b.high, a.middle / b.middle, a.high / b.low)


def quotient(a: Bounded, b: Bounded) -> stats.Interval:
    """Return the ratio of two independent factors; intervals are combined in the logarithm (Zou and Donner 2008).

    Raises:
        CannotTest: one of them is zero.
    """
    if min(a.low, b.low) <= 0:
        raise CannotTest("a gain is zero, so there is no ratio of gains")
    middle = math.log(a.middle / b.middle)
    below = math.hypot(math.log(a.middle / a.low), math.log(b.high / b.middle))
    above = math.hypot(math.log(a.high / a.middle), math.log(b.middle / b.low))
    return stats.Interval(math.exp(middle - below), math.exp(middle), math.exp(middle + above))


def stated(value: Bounded) -> Bounded:
    """Return a value as views print it: without an interval that is too wide."""
    return value.stated if isinstance(value, stats.Estimate) else value


def factor_text(value: Bounded) -> str:
    """Return a factor as text: `×1.9 [1.8, 2.0]`; without an interval if there is none or it is too wide."""
    value = stated(value)
    if value.low == value.high:
        return f"×{digits(value.middle)}"
    low, middle, high = (digits(x) for x in (value.low, value.middle, value.high))
    return f"×{middle} [{low}, {high}]"


def range_text(ends: tuple[float, float], unit: str = "") -> str:
    """Return a range as text: `×2.15` or `×1.15 to ×1.71`; with a unit `12` or `8 KiB to 16 KiB`."""
    low, high = (si_text(end, unit) if unit else f"×{digits(end)}" for end in ends)
    return low if low == high else f"{low} to {high}"


def digits(value: float, count: int = 3) -> str:
    """Return a number with this many significant digits, including zeros: `1.00`."""
    return f"{value:.0f}" if abs(value) >= 10 ** (count - 1) else f"{value:#.{count}g}".rstrip(".")
