"""What the megabyte of a rate is, and how many messages it counts, solved from the numbers beside it."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from octant.failure import Exit, Refusal
from octant.foreign._text import Rounded

MEGABYTES = (1e6, float(1 << 20))
"""Of today's benchmarks, and of Pallas' and the first of Intel's."""


@dataclass(frozen=True)
class StatedRate:
    """A row that states a rate and what it was made of."""

    amount: float  # bytes of one message, or of all that one repetition moves
    per: Rounded  # seconds of one repetition, as printed
    rate: Rounded  # megabytes a second, as printed

    def fits(self, megabyte: float, factor: float) -> bool:
        """Return whether the rate is `factor` amounts in this time, as far as both are rounded."""
        low, high = (math.nextafter(end, away) for end, away in ((self.per.low, 0.0), (self.per.high, math.inf)))
        most = math.inf if low == 0 else factor * self.amount / low
        least = factor * self.amount / high
        return least <= self.rate.high * megabyte * (1 + 1e-9) and self.rate.low * megabyte <= most * (1 + 1e-9)


@dataclass(frozen=True)
class Solution:
    """What fits all rows of a table."""

    megabytes: frozenset[float]
    factors: frozenset[float]


def solve(rows: Sequence[StatedRate], factors: Iterable[float], where: str) -> Solution:
    """Return the units and factors that fit every row.

    Args:
        factors: messages that a repetition may count as.
        where: the table, for the refusal.

    Raises:
        Refusal: none fits all rows.
    """
    candidates = [(megabyte, factor) for megabyte in MEGABYTES for factor in dict.fromkeys(factors)]
    for row in rows:
        left = [one for one in candidates if row.fits(*one)]
        if not left:
            ratio = row.amount / (row.per.value * row.rate.value * 1e6) if row.per.value * row.rate.value else math.inf
            raise Refusal(
                f"cannot import {where} (bytes over time and rate are {ratio:.4g}, which is no unit or factor that is "
                "known); give the tool's own output, unchanged",
                Exit.WRONG_WORD,
            )
        candidates = left
    return Solution(frozenset(m for m, _ in candidates), frozenset(f for _, f in candidates))


def common_megabyte(solutions: Iterable[Solution], where: str) -> float | None:
    """Return the one megabyte of all tables of a file; `None` where their rates are too coarse to tell.

    Raises:
        Refusal: tables contradict each other.
    """
    left = frozenset(MEGABYTES)
    for one in solutions:
        if not left & one.megabytes:
            raise Refusal(
                f"cannot import {where} (its tables have different megabytes); give outputs of one tool at a time",
                Exit.WRONG_WORD,
            )
        left &= one.megabytes
    return next(iter(left)) if len(left) == 1 else None
