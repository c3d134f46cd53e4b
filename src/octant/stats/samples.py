"""Samples of one launch: medians with intervals, quantiles, drift, and ratios. METHOD.md gives the reasons."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

Z95 = 1.959963984540054
FEW_LAUNCHES = 6  # fewer have no order-statistic interval, and resampling them makes too narrow a one
_T95 = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262)  # Student's t for 1, 2, … degrees of freedom


@dataclass(frozen=True)
class Interval:
    """A value with its 95 % confidence interval, in the value's unit."""

    low: float
    middle: float
    high: float

    @property
    def relative_half_width(self) -> float:
        """Half the interval's width over the value."""
        return (self.high - self.low) / (2 * abs(self.middle)) if self.middle else 0.0


def median_interval(samples: Sequence[float] | NDArray[np.float64], correlation: float = 1.0) -> Interval:
    """Median with the distribution-free interval from order statistics (Le Boudec 2010, theorem 2.1).

    `correlation` is how many samples in a row say the same thing (`correlation_time`): n samples then count as
    n / correlation. With fewer than six that count, no such interval has 95 % coverage: the whole range is given.

    Raises:
        ValueError: no samples.
    """
    values = np.sort(np.asarray(samples, dtype=np.float64))
    n = len(values)
    if n == 0:
        raise ValueError("a median needs at least one sample")
    middle = float(np.median(values))
    if n < 6 * correlation:
        return Interval(float(values[0]), middle, float(values[-1]))
    reach = Z95 * math.sqrt(n * correlation) / 2
    low = max(0, math.floor(n / 2 - reach) - 1)
    high = min(n - 1, math.ceil(n / 2 + reach))
    return Interval(float(values[low]), middle, float(values[high]))


def correlation_time(samples: Sequence[float] | NDArray[np.float64]) -> float:
    """How many samples in time order count as one, for the median: the integrated autocorrelation time, at least 1.

    A sample quantile of a dependent series has the variance of an independent one times the autocorrelation time of
    the series "above or below the median" (Heidelberger and Lewis 1984). It is summed up to the first pair of lags
    whose sum is negative (Geyer 1992, initial positive sequence).
    """
    values = np.asarray(samples, dtype=np.float64)
    n = len(values)
    sides = np.sign(values - np.median(values)) if n else values
    sides = sides - sides.mean() if n else sides
    power = np.abs(np.fft.rfft(sides, 2 * n)) ** 2 if n >= 4 else np.zeros(1)
    lags = np.fft.irfft(power)[:n] if n >= 4 else np.zeros(1)
    if lags[0] <= 1e-9:
        return 1.0
    rho = lags[: n // 2 * 2] / lags[0]
    pairs = rho[0::2] + rho[1::2]
    negative = np.flatnonzero(pairs <= 0)
    last = int(negative[0]) if len(negative) else len(pairs)
    return float(min(max(2 * pairs[:last].sum() - 1, 1.0), n / 2))


def drift(samples: Sequence[float] | NDArray[np.float64]) -> float:
    """Relative change of the median from the first half of the samples to the second; 0 where the intervals meet.

    A trend within a half is taken off before its correlation is looked at: else the very drift would pass for
    correlation, widen both intervals and hide itself.
    """
    values = np.asarray(samples, dtype=np.float64)
    if len(values) < 12:
        return 0.0
    half = len(values) // 2
    first, second = (_level(part) for part in (values[:half], values[half:]))
    apart = first.high < second.low or second.high < first.low
    return second.middle / first.middle - 1 if apart and first.middle else 0.0


def _level(part: NDArray[np.float64]) -> Interval:
    """Median interval at the middle of a stretch with a straight trend; its tails turn neither trend nor interval."""
    time = np.arange(len(part)) - (len(part) - 1) / 2
    flat = part - time * float(time @ _without_tails(part)) / float(time @ time)
    return median_interval(_without_tails(flat), correlation_time(flat))


def _without_tails(values: NDArray[np.float64]) -> NDArray[np.float64]:
    clipped: NDArray[np.float64] = np.clip(values, *np.quantile(values, [0.05, 0.95]))
    return clipped


def quantiles(samples: Sequence[float] | NDArray[np.float64], levels: Sequence[float]) -> tuple[float, ...]:
    """Quantiles by linear interpolation (Hyndman and Fan 1996, type 7), levels in [0, 1]."""
    return tuple(float(q) for q in np.quantile(np.asarray(samples, dtype=np.float64), levels))


def outliers(samples: Sequence[float] | NDArray[np.float64]) -> NDArray[np.bool_]:
    """True for samples further than 5 scaled median absolute deviations from the median (Iglewicz and Hoaglin 1993).

    They are flagged and shown, never dropped.
    """
    values = np.asarray(samples, dtype=np.float64)
    middle = np.median(values)
    spread = 1.4826 * np.median(np.abs(values - middle))
    far: NDArray[np.bool_] = np.abs(values - middle) > 5 * max(spread, abs(middle) * 1e-12)
    return far


def ratio_interval(
    numerator: Sequence[NDArray[np.float64]],
    denominator: Sequence[NDArray[np.float64]],
    resamples: int = 4000,
    seed: int = 20,
) -> Interval:
    """Ratio of two medians over launches, with its percentile-bootstrap interval (Efron and Tibshirani 1993, ch. 13).

    Each side is a list of launches, each an array of samples in time order. Launches are drawn with replacement, then
    the median of each is drawn as resampling its samples would give it (Davison and Hinkley 1997, section 3.8); a
    launch's samples count once per `correlation_time`. `seed` makes the interval repeatable. Fewer than six launches
    resample too narrowly: the interval then also covers Student's, from the spread of all launches' logarithms about
    their side's mean (Georges, Buytaert and Eeckhout 2007). One launch on each side tells nothing of that spread.

    Raises:
        ValueError: no samples on one side, or a zero median below the bar.
    """
    if not numerator or not denominator or any(len(launch) == 0 for launch in (*numerator, *denominator)):
        raise ValueError("a ratio needs samples on both sides")
    levels = [np.array([np.median(launch) for launch in side]) for side in (numerator, denominator)]
    middles = [float(np.median(side)) for side in levels]
    if middles[1] == 0:
        raise ValueError("a ratio to zero has no value")
    generator = np.random.default_rng(seed)
    top, bottom = (_bootstrap_medians(side, resamples, generator) for side in (numerator, denominator))
    usable = bottom != 0
    low, high = np.quantile(top[usable] / bottom[usable], [0.025, 0.975])
    ratio, reach = middles[0] / middles[1], _reach_of_few(*levels)
    return Interval(min(float(low), ratio / reach), ratio, max(float(high), ratio * reach))


def _reach_of_few(*sides: NDArray[np.float64]) -> float:
    """The factor by which the ratio of the medians of few launches may be off; 1 where there are many, or no spread.

    Both sides are taken to spread alike. A median varies up to pi / 2 times as much as a mean.
    """
    freedom = sum(len(side) - 1 for side in sides)
    if freedom == 0 or min(map(len, sides)) >= FEW_LAUNCHES or any((side <= 0).any() for side in sides):
        return 1.0
    logs = [np.log(side) for side in sides]
    variance = sum(float(((x - x.mean()) ** 2).sum()) for x in logs) / freedom
    z = Z95  # beyond the table: Cornish and Fisher's expansion
    series = z + (z**3 + z) / (4 * freedom) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)
    t = _T95[freedom - 1] if freedom <= len(_T95) else series
    return math.exp(min(t * math.sqrt(variance * math.pi / 2 * sum(1 / len(x) for x in logs)), 100.0))


def _bootstrap_medians(
    launches: Sequence[NDArray[np.float64]], resamples: int, generator: np.random.Generator
) -> NDArray[np.float64]:
    """Bootstrap draws of the median over launches, without building the resamples.

    The median of m draws with replacement from n sorted values is the value at rank ceil(n U), where U is the median
    of m uniform numbers: Beta((m + 1) / 2, (m + 1) / 2). So a draw costs one random number, not n.
    """
    medians = np.empty((len(launches), resamples))
    for row, launch in zip(medians, launches, strict=True):
        values = np.sort(launch)
        shape = (len(values) / correlation_time(launch) + 1) / 2
        ranks = np.ceil(len(values) * generator.beta(shape, shape, resamples)).astype(int) - 1
        row[:] = values[np.clip(ranks, 0, len(values) - 1)]
    if len(launches) == 1:
        return np.asarray(medians[0])
    picks = generator.integers(0, len(launches), size=(len(launches), resamples))
    drawn: NDArray[np.float64] = np.median(np.take_along_axis(medians, picks, axis=0), axis=0)
    return drawn
