"""Tests of performance guidelines: one operation must not be slower than another, for many pairs at once.

The guidelines are those of Träff, Gropp and Thakur (2010) for MPI libraries. Both operations alternate within a launch,
which gives one ratio. The interval is Student's over the logarithms of the ratios of launches. A violation is reported
with Holm's correction for the number of pairs: without violations, at most 2.5 % of runs report one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from octant.stats.multiple import holm
from octant.stats.student import LEVEL, t_quantile, two_sided_p

LEAST_LAUNCHES = 6
MARGIN = 0.05
"""Tolerated relative difference."""


@dataclass(frozen=True)
class NonInferiority:
    """Verdict on one pair: the time of one operation over that of its reference."""

    word: Literal["slower", "not slower", "undecided"]
    ratio: float
    low: float  # ends of its 95 % interval
    high: float
    launches: int


def judge_guidelines(ratios: Sequence[Sequence[float]]) -> list[NonInferiority]:
    """Return the verdict for each pair.

    Args:
        ratios: for each pair the ratio of each launch, above 0; at least six launches are required for a decision.
    """
    logs = [np.log(np.asarray(one, np.float64)) for one in ratios]
    corrected = holm([_p_beyond(x) for x in logs]) if logs else np.empty(0)
    return [_judge(x, float(p)) for x, p in zip(logs, corrected, strict=True)]


def _p_beyond(x: np.ndarray[tuple[int], np.dtype[np.float64]]) -> float:
    """Return the one-sided p-value of a ratio within the margin; 1 for too few launches."""
    if len(x) < LEAST_LAUNCHES:
        return 1.0
    beyond, spread = float(x.mean()) - math.log1p(MARGIN), float(x.std(ddof=1))
    if spread == 0:
        return 0.0 if beyond > 0 else 1.0
    half = float(two_sided_p(beyond * math.sqrt(len(x)) / spread, len(x) - 1)) / 2
    return half if beyond > 0 else 1 - half


def _judge(x: np.ndarray[tuple[int], np.dtype[np.float64]], p: float) -> NonInferiority:
    mean = float(x.mean())
    width = math.inf
    if len(x) > 1:
        width = t_quantile(LEVEL, len(x) - 1) * float(x.std(ddof=1)) / math.sqrt(len(x))
    low, high = math.exp(mean - width), math.exp(min(mean + width, 700))
    word: Literal["slower", "not slower", "undecided"] = "undecided"
    if len(x) >= LEAST_LAUNCHES:
        word = "slower" if p <= LEVEL / 2 else "not slower" if high <= 1 + MARGIN else "undecided"
    return NonInferiority(word, math.exp(mean), low, high, len(x))
