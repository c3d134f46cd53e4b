"""The words on a figure measured twice, A and B, with what the words rest on."""

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

MARGIN = 0.03  # the smallest relative difference of interest

Word = Literal["faster", "slower", "same", "cannot tell", "no verdict", "differs", "no difference seen"]
"""The last two speak of two sessions only, and a gate does not act on them."""

Unit = Literal["paired rounds", "launches on each side", "launches of A", "launches of B"]


@dataclass(frozen=True)
class Verdict:
    """A word on one figure, and the numbers behind it."""

    word: Word
    speed: Estimate | None  # of B over A: above 1 is faster, for rates and for times; `None` where there is no verdict
    p: float  # two-sided, before the correction for many figures
    margin: float
    hidden: float  # the largest relative difference that the interval leaves possible
    findable: float  # the least relative difference that is found in 80 % of cases, with this spread and number
    number: int  # of the unit; of launches on the side with fewer
    unit: Unit = "paired rounds"
    needed: int | None = None  # of them, for a verdict or to find `margin` in 80 % of cases; `None`: there are enough

    @property
    def is_decided(self) -> bool:
        """Whether a difference is proven, or that there is none of interest."""
        return self.word in ("faster", "slower", "same", "differs")

    @property
    def beyond_margin(self) -> bool:
        """Whether the whole interval lies beyond the margin."""
        if self.speed is None:
            return False
        return self.speed.low >= 1 + self.margin or self.speed.high <= 1 / (1 + self.margin)

    @property
    def text(self) -> str:
        """`slower`, `at least 3 % faster`, `same within 3 %`, or why there is no such word and what would give one."""
        margin = percent(self.margin)
        if self.speed is None:
            return f"no verdict: {self.number} of {self.needed} {self.unit.removeprefix('paired ')}"
        if self.word in ("faster", "slower"):
            return f"at least {margin} {self.word}" if self.beyond_margin else self.word
        if self.word == "same":
            return f"same within {margin}"
        if self.word == "cannot tell":
            return "not decided" + (f": about {self.needed} rounds would detect {margin}" if self.needed else "")
        seen = "differs" if self.word == "differs" else "no difference detected"
        return f"{seen} between these two sessions"


def no_verdict(number: int, unit: Unit, needed: int, margin: float) -> Verdict:
    """The verdict on a figure that was not measured often enough."""
    return Verdict("no verdict", None, 1.0, margin, math.inf, math.inf, number, unit, needed)


def percent(fraction: float) -> str:
    """A relative difference in two digits, or in whole percent above 100: `3 %`, `5.4 %`, `18 %`, `142 %`."""
    return f"{100 * fraction:.2g} %" if fraction < 0.995 else f"{fixed_text(100 * fraction, 0)} %"


def log_speeds(values: Sequence[float], better: Literal["higher", "lower"]) -> NDArray[np.float64]:
    """The logarithms of speeds: of the values where higher is better, else of their reciprocals.

    Raises:
        ValueError: values that are not all positive.
    """
    array = np.asarray(values, np.float64)
    if not (array > 0).all():
        raise ValueError("cannot compare values by their ratio (they are not all positive)")
    logs: NDArray[np.float64] = np.log(array)
    return logs if better == "higher" else -logs
