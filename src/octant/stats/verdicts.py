"""Verdicts of comparisons of a figure in A and B, with the numbers that support them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from octant.units import fixed_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from octant.stats.intervals import Estimate

MARGIN = 0.03  # smallest relative difference of interest

Word = Literal[
    "faster", "slower", "equivalent", "undecided", "insufficient data", "differs", "no difference detected"
]  # fmt: skip
"""Verdicts. The last two hold for two sessions only, and a gate does not act on them."""

Unit = Literal["paired rounds", "launches on each side", "launches of A", "launches of B"]


@dataclass(frozen=True)
class Verdict:
    """Verdict on one figure, with the numbers that support it."""

    word: Word
    speed: Estimate | None  # speed of B over A: above 1 is faster, for rates and for times; `None`: insufficient data
    p: float  # two-sided, before the correction for many figures
    margin: float
    max_undetected_effect: float  # largest relative difference within the interval
    min_detectable_effect: float  # least relative difference detected with power 80 %, at this spread and number
    number: int  # of the unit; launches: on the side with fewer
    unit: Unit = "paired rounds"
    needed: int | None = None  # of the unit, for a verdict or to detect `margin` with power 80 %; `None`: enough

    @property
    def is_decided(self) -> bool:
        """Whether a difference or equivalence is proven."""
        return self.word in ("faster", "slower", "equivalent", "differs")

    @property
    def beyond_margin(self) -> bool:
        """Whether the whole interval lies beyond the margin."""
        if self.speed is None:
            return False
        return self.speed.low >= 1 + self.margin or self.speed.high <= 1 / (1 + self.margin)

    @property
    def text(self) -> str:
        """`slower`, `at least 3 % faster`, `equivalent within 3 %`, or why it is undecided and the remedy."""
        margin = percent(self.margin)
        if self.speed is None:
            return f"insufficient data: {self.number} of {self.needed} {self.unit.removeprefix('paired ')}"
        if self.word in ("faster", "slower"):
            return f"at least {margin} {self.word}" if self.beyond_margin else self.word
        if self.word == "equivalent":
            return f"equivalent within {margin}"
        if self.word == "undecided":
            return "undecided" + (f": about {self.needed} rounds would detect {margin}" if self.needed else "")
        seen = "differs" if self.word == "differs" else "no difference detected"
        return f"{seen} between these two sessions"


def no_verdict(number: int, unit: Unit, needed: int, margin: float) -> Verdict:
    """Return the verdict on a figure with too few measurements."""
    return Verdict("insufficient data", None, 1.0, margin, math.inf, math.inf, number, unit, needed)


def percent(fraction: float) -> str:
    """Return a relative difference with two digits, or in whole percent above 100: `3 %`, `5.4 %`, `18 %`, `142 %`."""
    return f"{100 * fraction:.2g} %" if fraction < 0.995 else f"{fixed_text(100 * fraction, 0)} %"


def log_speeds(values: Sequence[float], better: Literal["higher", "lower"]) -> NDArray[np.float64]:
    """Return the logarithms of speeds: of the values if higher is better, else of their reciprocals.

    Raises:
        ValueError: not all values are positive.
    """
    array = np.asarray(values, np.float64)
    if not (array > 0).all():
        raise ValueError("cannot compare values by their ratio (they are not all positive)")
    logs: NDArray[np.float64] = np.log(array)
    return logs if better == "higher" else -logs
