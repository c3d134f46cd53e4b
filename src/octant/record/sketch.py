"""Histogram over positive integers with relative bins: 256 per power of two, so within 0.2 %.

Sketches of different ranks or launches merge by addition. native/harness uses the same bins.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

BITS = 8
_STEPS = 1 << BITS


@dataclass(frozen=True)
class Sketch:
    """Counts by bin, and the number of zeros."""

    bins: Mapping[int, int] = field(default_factory=dict)
    zero: int = 0

    @property
    def count(self) -> int:
        """The number of values."""
        return self.zero + sum(self.bins.values())

    def __add__(self, other: Sketch) -> Sketch:
        merged = dict(self.bins)
        for number, count in other.bins.items():
            merged[number] = merged.get(number, 0) + count
        return Sketch(merged, self.zero + other.zero)

    def doubled(self, times: int) -> Sketch:
        """Return the sketch of all values times 2^times."""
        return Sketch({number + times * _STEPS: count for number, count in self.bins.items()}, self.zero)

    def values(self) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Return the middles of the bins, ascending, and the number of values in each."""
        numbers = sorted(self.bins)
        middles = [0.0] * bool(self.zero) + [middle_of(number) for number in numbers]
        counts = [self.zero] * bool(self.zero) + [self.bins[number] for number in numbers]
        return np.asarray(middles, dtype=np.float64), np.asarray(counts, dtype=np.int64)

    def quantile(self, level: float) -> float:
        """Return the value below which that share of all values lies, 0 to 1.

        Raises:
            ValueError: the sketch is empty.
        """
        middles, counts = self.values()
        if not len(middles):
            raise ValueError("an empty sketch has no quantiles")
        rank = level * (int(counts.sum()) - 1)
        return float(middles[int(np.searchsorted(np.cumsum(counts), rank, side="right").clip(0, len(middles) - 1))])

    def sample(self, most: int) -> NDArray[np.float64]:
        """Return at most that many values with the distribution of all, ascending."""
        middles, counts = self.values()
        total = int(counts.sum())
        if total <= most:
            return np.repeat(middles, counts)
        ranks = (np.arange(most) + 0.5) / most * total
        picked: NDArray[np.float64] = middles[np.searchsorted(np.cumsum(counts), ranks, side="right")]
        return picked


def middle_of(number: int) -> float:
    """Return the value that represents a bin."""
    exponent, mantissa = divmod(number, _STEPS)
    return 2.0**exponent * (1 + (mantissa + 0.5) / _STEPS)


def from_runs(zero: int, runs: Sequence[tuple[int, Sequence[int]]]) -> Sketch:
    """Return a sketch from runs of neighbouring bins, as in a record: (first bin, counts)."""
    return Sketch({first + i: count for first, counts in runs for i, count in enumerate(counts) if count}, zero)


def sketch_of_array(values: NDArray[np.float64]) -> Sketch:
    """Return a sketch of an array of integers that are not negative."""
    positive = values[values > 0]
    if not len(positive):
        return Sketch({}, len(values))
    mantissa, exponent = np.frexp(positive)  # mantissa in [0.5, 1)
    numbers = (exponent.astype(np.int64) - 1) * _STEPS + np.floor((2 * mantissa - 1) * _STEPS).astype(np.int64)
    bins, counts = np.unique(numbers, return_counts=True)
    return Sketch(dict(zip(bins.tolist(), counts.tolist(), strict=True)), int(len(values) - len(positive)))
