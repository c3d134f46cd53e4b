"""Which value of a knob is best, by everything else that was varied, and what the worst one costs.

Best and worst are picked for their medians, so between values that are equally good noise alone puts the cost above 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from octant.request import EFFORT
from octant.stats import Estimate, Interval
from octant.stats.paired import LEAST_ROUNDS, paired_bounds, ratio_in_rounds

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from octant.analysis.figures import Figure


@dataclass(frozen=True)
class RankedFigures:
    """The figures of one combination of the other knobs, best first."""

    knob: str
    others: Mapping[str, str]  # the other knobs that differ between combinations
    ranked: tuple[Figure, ...]  # at least two; each has a value

    @property
    def best(self) -> Figure:
        """The one with the best median."""
        return self.ranked[0]

    @property
    def worst(self) -> Figure:
        """The one with the worst median."""
        return self.ranked[-1]

    @property
    def cost(self) -> Interval | Estimate:
        """How many times as good the best is as the worst, over launches that have both."""
        return _ratio(self.best, self.worst)

    @property
    def as_good(self) -> tuple[Figure, ...]:
        """Those besides the best that its launches cannot be told from: the interval of the ratio includes 1.

        None with fewer launches than a verdict needs.
        """
        return tuple(one for one in self.ranked[1:] if _same(self.best, one))


def choices(figures: Iterable[Figure], knob: str) -> list[RankedFigures]:
    """By everything but the knob, in the order of the figures; what has fewer than two values of it is left out.

    Figures without a value, and those that lost over half of their time, are not ranked.
    """
    found: dict[tuple[object, ...], list[Figure]] = {}
    for figure in figures:
        if figure.value and not figure.invalid and knob in figure.knobs:
            rest = {name: value for name, value in figure.knobs.items() if name not in EFFORT and name != knob}
            key = (figure.workload.name, figure.metric.name, figure.point.ranks, *sorted(rest.items()))
            found.setdefault(key, []).append(figure)
    groups = [group for group in found.values() if len({figure.knobs[knob] for figure in group}) > 1]
    several = _varied([group[0] for group in groups], knob)
    return [RankedFigures(knob, {name: group[0].knobs[name] for name in several}, _ranked(group)) for group in groups]


def _varied(figures: Sequence[Figure], knob: str) -> list[str]:
    names = dict.fromkeys(name for figure in figures for name in figure.knobs if name not in EFFORT and name != knob)
    return [name for name in names if len({figure.knobs.get(name) for figure in figures}) > 1]


def _ranked(figures: Sequence[Figure]) -> tuple[Figure, ...]:
    sign = -1 if figures[0].metric.better == "higher" else 1
    return tuple(sorted(figures, key=lambda figure: sign * (figure.value.middle if figure.value else math.inf)))


def _logs(better: Figure, worse: Figure) -> list[float]:
    """Logarithms of how many times as good one is as the other, in each launch that has both, else of the medians."""
    sides = [{one.point.launch: one.value.middle for one in figure.counted} for figure in (better, worse)]
    sign = 1 if better.metric.better == "higher" else -1
    pairs = [(sides[0][launch], sides[1][launch]) for launch in sides[0] if launch in sides[1]]
    if not pairs and better.value and worse.value:
        pairs = [(better.value.middle, worse.value.middle)]
    return [sign * math.log(a / b) for a, b in pairs if a > 0 and b > 0]


def _ratio(better: Figure, worse: Figure) -> Interval | Estimate:
    logs = _logs(better, worse)
    if len(logs) >= LEAST_ROUNDS and better.value:
        return ratio_in_rounds(np.array(logs), better.value.period)
    middle = math.exp(sum(logs) / len(logs)) if logs else math.nan
    return Interval(middle, middle, middle)


def _same(better: Figure, worse: Figure) -> bool:
    logs = _logs(better, worse)
    if len(logs) < LEAST_ROUNDS:
        return False
    low, _, high = (float(end) for end in paired_bounds(np.array(logs)))
    return low <= 0 <= high
