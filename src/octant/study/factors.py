"""How many times as good one value is as another, with its interval, and how that is written."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from octant import stats
from octant.study.values import CannotTest

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from octant.study.values import Better, StudyValue

ENOUGH = stats.FEW_LAUNCHES  # from so many on the median of their medians has an interval of its own


def gain(of: StudyValue, to: StudyValue, better: Better) -> stats.Interval:
    """How many times as good `of` is as `to`, with its interval.

    From six launches per side on, by the bootstrap over launches; with fewer, from the extremes of both sides, as so
    few launches say little about their distribution.

    Raises:
        CannotTest: the value to divide by is zero.
    """
    top, bottom = (of, to) if better == "higher" else (to, of)
    a, b = top.value, bottom.value
    if b.low <= 0:
        raise CannotTest("a value is zero, so there is no ratio")
    if top.modelled and bottom.modelled:  # the same uncertain capacities stand behind both: edge over edge
        edges = (a.low / b.low, a.middle / b.middle, a.high / b.high)
        return stats.Interval(min(edges), a.middle / b.middle, max(edges))
    if min(len(of.launches), len(to.launches)) >= ENOUGH:
        return stats.ratio_interval(_samples(top), _samples(bottom))
    return over_extremes(top.reach, bottom.reach)


def _samples(value: StudyValue) -> list[NDArray[np.float64]]:
    return [launch.samples for launch in value.launches]


def over_extremes(a: stats.Interval, b: stats.Interval) -> stats.Interval:
    """The ratio of two intervals, as far as their ends allow."""
    return stats.Interval(a.low / b.high, a.middle / b.middle, a.high / b.low)


def quotient(a: stats.Interval, b: stats.Interval) -> stats.Interval:
    """The ratio of two independent factors, their intervals joined in the logarithm (Zou and Donner 2008).

    Raises:
        CannotTest: one of them is zero.
    """
    if min(a.low, b.low) <= 0:
        raise CannotTest("a gain is zero, so there is no ratio of gains")
    middle = math.log(a.middle / b.middle)
    below = math.hypot(math.log(a.middle / a.low), math.log(b.high / b.middle))
    above = math.hypot(math.log(a.high / a.middle), math.log(b.middle / b.low))
    return stats.Interval(math.exp(middle - below), math.exp(middle), math.exp(middle + above))


def factor_text(value: stats.Interval) -> str:
    """For people: `×1.9 [1.8, 2.0]`; without an interval where there is none."""
    if value.low == value.high:
        return f"×{digits(value.middle)}"
    low, middle, high = (digits(x) for x in (value.low, value.middle, value.high))
    return f"×{middle} [{low}, {high}]"


def range_text(factors: tuple[float, float]) -> str:
    """For people: `×2.15`, or `×1.15 to ×1.71`."""
    low, high = factors
    return f"×{digits(low)}" if low == high else f"×{digits(low)} to ×{digits(high)}"


def digits(value: float, count: int = 3) -> str:
    """A number with so many significant digits, zeros among them: `1.00`."""
    return f"{value:.0f}" if abs(value) >= 10 ** (count - 1) else f"{value:#.{count}g}".rstrip(".")
