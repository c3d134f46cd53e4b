"""Estimates over launches: a value with an interval, and what the interval covers.

A launch is one sample, whatever its duration. Six or more give interpolated order statistics, three to five Student's
interval about the median of logarithms, two give both values without interval, one gives its own spread. Values that
are not all positive are used without logarithms.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Literal

import numpy as np

from octant.stats.caveats import BOUNDS
from octant.stats.samples import FEW_LAUNCHES, Interval
from octant.stats.student import LEVEL, t_quantile

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from numpy.typing import ArrayLike, NDArray

LEAST_FOR_INTERVAL = 3  # launches
_MEDIAN_FACTORS = {3: 1.346013, 4: 1.192798, 5: 1.434168}  # k times the variance of the median of k normal values

Kind = Literal["order statistics", "student", "signed ranks", "two values", "one launch", "not measurable"]
Claim = Literal[
    "median", "share", "places", "next launch", "ratio in rounds", "ratio of two occasions", "ratio on other occasions"
]  # fmt: skip

_CLAIMS: dict[Claim, str] = {
    "median": "the median over {} launches",
    "share": "the share of the total time of {} launches",
    "places": "the slowest location over the fastest, paired in {} launches",
    "next launch": "the next launch, from {} launches",
    "ratio in rounds": "the {mean} ratio over {} paired rounds",
    "ratio of two occasions": "the {mean} ratio of these two sessions only, from at least {} launches on each side",
    "ratio on other occasions": "the {mean} ratio in other sessions, from {} sessions",
}
MEANS: dict[Kind, str] = {"student": "geometric mean", "signed ranks": "Hodges-Lehmann"}
"""Estimators in the middle of an interval for a ratio."""


@dataclass(frozen=True)
class Period:
    """Period of launches, from the first start to the last, in the time zone of its display."""

    begin: datetime
    end: datetime

    @property
    def text(self) -> str:
        """`between 07:35 and 07:38`, `at 07:35`, or with dates if there are two."""
        form = "%H:%M" if self.begin.date() == self.end.date() else "%Y-%m-%d %H:%M"
        first, last = self.begin.strftime(form), self.end.strftime(form)
        return f"at {first}" if first == last else f"between {first} and {last}"


@dataclass(frozen=True)
class Estimate:
    """Value with its uncertainty, and the quantity that it estimates.

    `low` and `high` are the ends of a 95 % interval only if `is_interval`. Otherwise they are the two values, the range
    within one launch or, if not measurable, the value itself.
    """

    low: float
    middle: float
    high: float
    kind: Kind
    claim: Claim
    number: int  # of launches, paired rounds or occasions
    period: Period

    @property
    def is_interval(self) -> bool:
        """Whether low and high are the ends of a 95 % interval."""
        return self.kind not in ("two values", "one launch", "not measurable")

    @property
    def relative_half_width(self) -> float | None:
        """Half the interval's width over the value; `None` without an interval, and for the value 0."""
        return (self.high - self.low) / (2 * abs(self.middle)) if self.is_interval and self.middle else None

    @property
    def is_too_wide(self) -> bool:
        """Whether the interval is too wide to be useful: the value is not measurable.

        A wide interval of a ratio is useful if it excludes equality.
        """
        if not self.is_interval:
            return False
        half = (self.high - self.low) / 2 if self.claim == "share" else self.relative_half_width or 0.0
        open_ratio = not self.claim.startswith("ratio") or self.low <= 1 <= self.high
        return open_ratio and not half <= BOUNDS["wide interval"][-1]  # NaN is too wide

    @property
    def stated(self) -> Estimate:
        """The estimate as views print it, without an interval that is too wide."""
        return self.without_interval if self.is_too_wide else self

    @property
    def without_interval(self) -> Estimate:
        """The value without its interval, if it is not measurable; two values are kept."""
        if self.kind == "two values":
            return self
        return replace(self, low=self.middle, high=self.middle, kind="not measurable")

    @property
    def text(self) -> str:
        """What low and high are: `95 % interval for the median over 6 launches between 07:35 and 07:38`."""
        if self.kind == "one launch":
            return f"range within one launch {self.period.text}; the launch was not repeated"
        if self.kind == "two values":
            return f"two launches {self.period.text}, no interval"
        if self.kind == "not measurable":
            return f"not measurable {self.period.text}, no interval"
        claimed = _CLAIMS[self.claim].format(self.number, mean=MEANS.get(self.kind, ""))
        return f"95 % interval for {claimed} {self.period.text}"


def median_over_launches(launches: Sequence[Interval], period: Period) -> Estimate:
    """Return the median of the medians of launches, with the interval that their number allows.

    Each half of the interval is at least the median half-width within launches over the root of their number.

    Args:
        launches: median of each launch, with the interval within the launch.

    Raises:
        ValueError: no launches.
    """
    if not launches:
        raise ValueError("a figure needs at least one launch")
    k = len(launches)
    values = np.array([launch.middle for launch in launches])
    if k == 1:
        return Estimate(launches[0].low, launches[0].middle, launches[0].high, "one launch", "median", k, period)
    scaled, logarithmic = scaled_values(values)
    if k < LEAST_FOR_INTERVAL:
        middle = float(np.exp(scaled.mean()) if logarithmic else scaled.mean())
        return Estimate(float(values.min()), middle, float(values.max()), "two values", "median", k, period)
    bounds = order_statistics_bounds if k >= FEW_LAUNCHES else student_bounds
    low, middle, high = map(float, bounds(scaled))
    own = [launch.relative_half_width if logarithmic else (launch.high - launch.low) / 2 for launch in launches]
    least = float(np.median(own)) / math.sqrt(k)
    ends = np.array([min(low, middle - least), middle, max(high, middle + least)])
    kind: Kind = "order statistics" if k >= FEW_LAUNCHES else "student"
    return _estimate(ends, logarithmic, kind, "median", k, period)


def _estimate(
    ends: NDArray[np.float64], logarithmic: bool, kind: Kind, claim: Claim, number: int, period: Period
) -> Estimate:
    with np.errstate(over="ignore"):  # overflows for three values that differ by many powers of ten
        low, middle, high = map(float, np.exp(ends) if logarithmic else ends)
    return Estimate(low, middle, high, kind, claim, number, period)


def scaled_values(values: ArrayLike) -> tuple[NDArray[np.float64], bool]:
    """Return the logarithms and True if all values are positive, else the values and False."""
    array = np.asarray(values, np.float64)
    return (np.log(array), True) if (array > 0).all() else (array, False)


def order_statistics_bounds(
    y: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return low end, median and high end by interpolated order statistics (Hettmansperger and Sheather 1986).

    Args:
        y: shape (…, launches), at least 6 of them; the ends have shape (…).
    """
    ordered = np.sort(y, axis=-1)
    rank, share = order_weights(y.shape[-1])
    low = (1 - share) * ordered[..., rank - 1] + share * ordered[..., rank]
    high = (1 - share) * ordered[..., -rank] + share * ordered[..., -rank - 1]
    return low, np.median(y, axis=-1), high


@cache
def order_weights(k: int) -> tuple[int, float]:
    """Return the rank d, from 1, and the weight of rank d + 1 that interpolate the 95 % interval.

    Raises:
        ValueError: fewer than 6 values, whose whole range covers less than 95 %.
    """
    if k < FEW_LAUNCHES:
        raise ValueError(f"cannot interpolate {k} order statistics (95 % requires at least 6)")
    within = [1.0]  # at index j, the probability that the median lies between the values at ranks j and k + 1 - j
    for j in range(1, k // 2 + 2):
        within.append(within[-1] - 2 * math.comb(k, j - 1) / 2**k if j <= k // 2 else 0.0)
    rank = max(j for j, probability in enumerate(within) if probability >= 1 - LEVEL)
    part = (within[rank] - (1 - LEVEL)) / (within[rank] - within[rank + 1])
    return rank, (k - rank) * part / (rank + (k - 2 * rank) * part)


def student_bounds(
    y: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return low end, median and high end of Student's interval about the median, for 3 to 5 values.

    Args:
        y: shape (…, launches); the ends have shape (…).
    """
    k = y.shape[-1]
    middle = np.median(y, axis=-1)
    half = t_quantile(LEVEL, k - 1) * y.std(axis=-1, ddof=1) * math.sqrt(_MEDIAN_FACTORS[k] / k)
    return middle - half, middle, middle + half


def next_value(values: Sequence[float], claim: Claim, period: Period) -> Estimate:
    """Return Student's 95 % prediction interval of the next value about the mean of logarithms.

    Args:
        values: medians of launches, at least 3.
    """
    k = len(values)
    y, logarithmic = scaled_values(values)
    half = t_quantile(LEVEL, k - 1) * y.std(ddof=1) * math.sqrt(1 + 1 / k)
    ends = y.mean() + half * np.array([-1, 0, 1])
    return _estimate(ends, logarithmic, "student", claim, k, period)


def next_launch(launches: Sequence[Interval], period: Period) -> Estimate | None:
    """Return the prediction interval of one more launch now; `None` for fewer than 6 launches."""
    values = [launch.middle for launch in launches]
    return next_value(values, "next launch", period) if len(values) >= FEW_LAUNCHES else None
