"""Statistics of samples: medians with confidence intervals, quantiles, ratios. METHOD.md gives the reasons."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

Z95 = 1.959963984540054


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


def median_interval(samples: Sequence[float] | NDArray[np.float64]) -> Interval:
    """Median with the distribution-free interval from order statistics (Le Boudec 2010, theorem 2.1).

    With fewer than six samples no such interval has 95 % coverage: the whole range is given.

    Raises:
        ValueError: no samples.
    """
    values = np.sort(np.asarray(samples, dtype=np.float64))
    n = len(values)
    if n == 0:
        raise ValueError("a median needs at least one sample")
    middle = float(np.median(values))
    if n < 6:
        return Interval(float(values[0]), middle, float(values[-1]))
    reach = Z95 * math.sqrt(n) / 2
    low = max(0, math.floor(n / 2 - reach) - 1)
    high = min(n - 1, math.ceil(n / 2 + reach))
    return Interval(float(values[low]), middle, float(values[high]))


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
    numerator: Sequence[float] | NDArray[np.float64],
    denominator: Sequence[float] | NDArray[np.float64],
    resamples: int = 2000,
    seed: int = 20,
) -> Interval:
    """Ratio of two medians with its percentile-bootstrap interval (Efron and Tibshirani 1993, chapter 13).

    The samples are resampled independently; `seed` makes the interval repeatable.

    Raises:
        ValueError: no samples on one side, or a zero median below the bar.
    """
    top, bottom = np.asarray(numerator, dtype=np.float64), np.asarray(denominator, dtype=np.float64)
    if len(top) == 0 or len(bottom) == 0:
        raise ValueError("a ratio needs samples on both sides")
    if np.median(bottom) == 0:
        raise ValueError("a ratio to zero has no value")
    generator = np.random.default_rng(seed)
    draws = _bootstrap_medians(top, resamples, generator) / _bootstrap_medians(bottom, resamples, generator)
    low, high = np.quantile(draws, [0.025, 0.975])
    return Interval(float(low), float(np.median(top) / np.median(bottom)), float(high))


def _bootstrap_medians(
    values: NDArray[np.float64], resamples: int, generator: np.random.Generator
) -> NDArray[np.float64]:
    most = 2000  # beyond this the median's own error is far below what drift does to it
    if len(values) > most:
        values = np.sort(values)[np.linspace(0, len(values) - 1, most).astype(int)]
    picks = generator.integers(0, len(values), size=(resamples, len(values)))
    medians: NDArray[np.float64] = np.median(values[picks], axis=1)
    return medians
