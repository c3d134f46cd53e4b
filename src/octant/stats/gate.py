"""Gate over figures: verdicts with 5 % false alarms over all figures together, also with early stopping."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from octant.stats.multiple import holm
from octant.stats.paired import LEAST_ROUNDS, paired_p, paired_verdicts, verdict_of
from octant.stats.student import LEVEL
from octant.stats.verdicts import MARGIN

if TYPE_CHECKING:
    from octant.stats.intervals import Period
    from octant.stats.paired import Array
    from octant.stats.verdicts import Verdict

LEAST_ROUNDS_OF_MANY = 8
OBRIEN_FLEMING_THRESHOLDS: Mapping[int, float] = {4: 0.00042, 6: 0.00401, 8: 0.0127, 12: 0.0419}
"""Thresholds on p by the number of rounds: 5 % false alarms over all four tests (O'Brien and Fleming 1979)."""

EXTENDED_THRESHOLDS: Mapping[int, float] = {
    4: 0.00041, 6: 0.00124, 8: 0.00383, 12: 0.0122, 24: 0.0150, 48: 0.0157, 96: 0.0160,
}  # fmt: skip
"""Thresholds for short rounds: the cumulative false alarms of the seven tests are 0.04, 0.16, 0.5, 1.6, 2.8, 3.9
and 5 %."""


def planned_looks(rounds: int) -> Mapping[int, float]:
    """Return the planned tests of a gate with up to so many rounds: their thresholds on p by round."""
    return OBRIEN_FLEMING_THRESHOLDS if rounds <= max(OBRIEN_FLEMING_THRESHOLDS) else EXTENDED_THRESHOLDS


def least_rounds(figures: int) -> int:
    """Return the fewest rounds on which a gate over so many figures decides."""
    return LEAST_ROUNDS if figures <= 1 else LEAST_ROUNDS_OF_MANY


def can_prove_difference(figures: int, rounds: int, threshold: float = LEVEL, until_sure: bool = False) -> bool:
    """Return whether a difference in one of so many figures can be proven on this number of rounds.

    The same ratio in each round gives the smallest p-value and the largest e-value that are possible.

    Args:
        threshold: as in `gate_verdicts`.
        until_sure: by e-values, as in `until_sure_verdicts`.
    """
    equal, p = np.ones(rounds), np.ones(max(1, figures))
    if until_sure:
        return bool(e_value(equal) >= len(p) / LEVEL)
    p[0] = paired_p(equal)
    return bool(holm(p)[0] <= threshold)


def sufficient_rounds(figures: int, rounds: int = 0, until_sure: bool = False) -> int:
    """Return the smallest number of rounds, at least `rounds`, on which a gate over so many figures can decide."""
    least = max(rounds, least_rounds(figures))
    return next(n for n in itertools.count(least) if can_prove_difference(figures, n, until_sure=until_sure))


def gate_verdicts(
    figures: Sequence[Array], period: Period, margin: float = MARGIN, threshold: float = LEVEL
) -> list[Verdict]:
    """Return the verdicts of a gate, with Holm's correction.

    Args:
        figures: for each, the logarithms of B's speed over A's by round.
        threshold: on the corrected p-values: 5 % for a gate with one test, else that of the planned test.

    Raises:
        ValueError: fewer rounds than a gate over so many figures requires.
    """
    _refuse_few_rounds(figures)
    return paired_verdicts(figures, period, margin, holm, threshold)


def until_sure_verdicts(figures: Sequence[Array], period: Period, margin: float = MARGIN) -> list[Verdict]:
    """Return the verdicts of an anytime-valid gate, which tests after every round, by e-values.

    A difference is proven by an e-value of 20 times the number of figures, equivalence within the margin by e-values of
    20 against both of its ends.

    Args:
        figures: as in `gate_verdicts`.

    Raises:
        ValueError: fewer rounds than a gate over so many figures requires.
    """
    _refuse_few_rounds(figures)
    level, end = LEVEL / max(1, len(figures)), math.log1p(margin)
    return [
        verdict_of(
            x,
            differs=len(x) >= LEAST_ROUNDS and bool(e_value(x) >= 1 / level),
            equivalent=len(x) >= LEAST_ROUNDS
            and bool(abs(x.mean()) < end and min(e_value(x - end), e_value(x + end)) >= 1 / LEVEL),
            period=period,
            margin=margin,
            level=level,
        )
        for x in figures
    ]


def gate_is_decided(verdicts: Sequence[Verdict]) -> bool:
    """Return whether more rounds cannot change the outcome: a figure is slower, or all are decided."""
    return any(one.word == "slower" for one in verdicts) or all(one.is_decided for one in verdicts)


def e_value(x: Array) -> Array:
    """Return the e-value against no difference; without one it ever exceeds 20 in at most 5 % of series.

    The test martingale of Student's t under a normal prior of deviation 1 for the effect (Lai 1976; Wang, Ramdas 2023).

    Args:
        x: logarithms of ratios, shape (…, rounds), at least 2 of them; the e-values have shape (…).
    """
    n = x.shape[-1]
    of_mean = n * x.mean(axis=-1) ** 2
    of_spread = (n - 1) * x.var(axis=-1, ddof=1)
    with np.errstate(invalid="ignore"):
        ratio = np.where(of_mean == 0, 1.0, (of_spread + of_mean) / (of_spread + of_mean / (1 + n)))
    e: Array = (1 + n) ** -0.5 * ratio ** (n / 2)
    return e


def _refuse_few_rounds(figures: Sequence[Array]) -> None:
    least = least_rounds(len(figures))
    rounds = max((len(x) for x in figures), default=least)
    if rounds < least:
        plural = "s" * (len(figures) != 1)
        raise ValueError(
            f"cannot gate {len(figures)} figure{plural} on {rounds} paired rounds (at least {least} are required)"
        )
