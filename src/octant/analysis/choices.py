"""Best value of a knob for each combination of the others, and the cost of the worst value.

Best and worst are selected by their medians, so that noise alone makes the cost of equal values exceed 1.
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
    """Figures of one combination of the other knobs, best first."""

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
        """The speed of the best over that of the worst, over launches that have both."""
        return _ratio(self.best, self.worst)

    @property
    def equivalents(self) -> tuple[Figure, ...]:
        """The figures that do not differ detectably from the best: the interval of the ratio includes 1.

        Empty with fewer launches than a verdict requires.
        """
        return tuple(one for one in self.ranked[1:] if _same(self.best, one))


def choices(figures: Iterable[Figure], knob: str) -> list[RankedFigures]:
    """Return the ranked figures for each combination of the other knobs; groups with one value are skipped.

    Figures without a value, and invalid figures, are not ranked.
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
    """Return the logarithms of the speed ratio in each launch that has both, else of the medians."""
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
