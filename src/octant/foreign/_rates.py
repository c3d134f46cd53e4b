"""Unit of a rate (10^6 or 2^20 bytes) and number of messages that it counts, solved from time and size in its row."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from octant.failure import Exit, Refusal
from octant.foreign._text import Rounded

MEGABYTES = (1e6, float(1 << 20))
"""Bytes per megabyte: current benchmarks, and the Pallas and early Intel MPI Benchmarks."""


@dataclass(frozen=True)
class StatedRate:
    """A rate with the size and time from which the tool computed it."""

    amount: float  # bytes of one message, or of one repetition
    per: Rounded  # seconds of one repetition, as printed
    rate: Rounded  # megabytes a second, as printed

    def fits(self, megabyte: float, factor: float) -> bool:
        """Return whether the rate is `factor` amounts in this time, within the rounding of both."""
        low, high = (math.nextafter(end, away) for end, away in ((self.per.low, 0.0), (self.per.high, math.inf)))
        most = math.inf if low == 0 else factor * self.amount / low
        least = factor * self.amount / high
        return least <= self.rate.high * megabyte * (1 + 1e-9) and self.rate.low * megabyte <= most * (1 + 1e-9)


@dataclass(frozen=True)
class Solution:
    """Units and factors that are consistent with all rows of a table."""

    megabytes: frozenset[float]
    factors: frozenset[float]


def solve(rows: Sequence[StatedRate], factors: Iterable[float], where: str) -> Solution:
    """Return the units and factors that are consistent with all rows.

    Args:
        factors: possible numbers of messages per repetition.
        where: the table, for the refusal.

    Raises:
        Refusal: no unit and factor are consistent with all rows.
    """
    candidates = [(megabyte, factor) for megabyte in MEGABYTES for factor in dict.fromkeys(factors)]
    for row in rows:
        left = [one for one in candidates if row.fits(*one)]
        if not left:
            ratio = row.amount / (row.per.value * row.rate.value * 1e6) if row.per.value * row.rate.value else math.inf
            raise Refusal(
                f"cannot import {where}: size, time and rate are inconsistent (ratio {ratio:.4g}); import the "
                "unmodified output of the tool",
                Exit.WRONG_WORD,
            )
        candidates = left
    return Solution(frozenset(m for m, _ in candidates), frozenset(f for _, f in candidates))


def common_megabyte(solutions: Iterable[Solution], where: str) -> float | None:
    """Return the megabyte of all tables of a file; `None` if their rates have too few digits.

    Raises:
        Refusal: tables contradict each other.
    """
    left = frozenset(MEGABYTES)
    for one in solutions:
        if not left & one.megabytes:
            raise Refusal(
                f"cannot import {where}: its tables use different megabytes (10^6, 2^20 bytes); import the output of "
                "each tool separately",
                Exit.WRONG_WORD,
            )
        left &= one.megabytes
    return next(iter(left)) if len(left) == 1 else None
