"""Samples of one launch: medians with intervals, quantiles and drift. METHOD.md gives the reasons."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

Z95 = 1.959963984540054
FEW_LAUNCHES = 6  # least number for a 95 % interval from order statistics


@dataclass(frozen=True)
class Interval:
    """Value with its 95 % confidence interval, in the value's unit."""

    low: float
    middle: float
    high: float

    @property
    def relative_half_width(self) -> float:
        """Half the interval's width over the value."""
        return (self.high - self.low) / (2 * abs(self.middle)) if self.middle else 0.0


def median_interval(samples: Sequence[float] | NDArray[np.float64], correlation: float = 1.0) -> Interval:
    """Return the median with the distribution-free interval from order statistics (Le Boudec 2010, theorem 2.1).

    `correlation` is the autocorrelation time in samples (`correlation_time`): n samples count as n / correlation. Fewer
    than six independent samples give no 95 % interval; then the whole range is returned.

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


def thinned(samples: NDArray[np.float64], most: int) -> NDArray[np.float64]:
    """Return at most so many samples in their order, evenly chosen, including the minimum and the maximum."""
    if len(samples) <= most:
        return samples
    extremes = {int(samples.argmin()), int(samples.argmax())}
    even = np.linspace(0, len(samples) - 1, max(0, most - len(extremes))).astype(int)
    return samples[sorted({*even.tolist(), *extremes})]


def correlation_time(samples: Sequence[float] | NDArray[np.float64]) -> float:
    """Return the integrated autocorrelation time for the median, in samples, at least 1.

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
    """Return the relative change of the median from the first half to the second; 0 if the intervals overlap.

    A linear trend within each half is removed before its autocorrelation is computed; otherwise the drift itself would
    widen both intervals.
    """
    values = np.asarray(samples, dtype=np.float64)
    if len(values) < 12:
        return 0.0
    half = len(values) // 2
    first, second = (_level(part) for part in (values[:half], values[half:]))
    apart = first.high < second.low or second.high < first.low
    return second.middle / first.middle - 1 if apart and first.middle else 0.0


def _level(part: NDArray[np.float64]) -> Interval:
    """Return the median interval at the middle of a half with a linear trend, robust against tails."""
    time = np.arange(len(part)) - (len(part) - 1) / 2
    flat = part - time * float(time @ _without_tails(part)) / float(time @ time)
    return median_interval(_without_tails(flat), correlation_time(flat))


def _without_tails(values: NDArray[np.float64]) -> NDArray[np.float64]:
    clipped: NDArray[np.float64] = np.clip(values, *np.quantile(values, [0.05, 0.95]))
    return clipped


def quantiles(samples: Sequence[float] | NDArray[np.float64], levels: Sequence[float]) -> tuple[float, ...]:
    """Return quantiles by linear interpolation (Hyndman and Fan 1996, type 7), levels in [0, 1]."""
    return tuple(float(q) for q in np.quantile(np.asarray(samples, dtype=np.float64), levels))


def outliers(samples: Sequence[float] | NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return True for samples over 5 scaled median absolute deviations from the median (Iglewicz, Hoaglin 1993).

    Outliers are flagged and shown, never removed.
    """
    values = np.asarray(samples, dtype=np.float64)
    middle = np.median(values)
    spread = 1.4826 * np.median(np.abs(values - middle))
    far: NDArray[np.bool_] = np.abs(values - middle) > 5 * max(spread, abs(middle) * 1e-12)
    return far
