"""Test up to which axis value a measure stays near its best."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Annotated

import numpy as np
from msgspec import Meta

from octant import stats
from octant.study import checks
from octant.study.parts import BASELINE, Bar, Levels, MeasureAxis, Problem, number
from octant.study.question import Judgement, KindOfTest, Study
from octant.study.ratios import rows_of
from octant.study.values import Better, CannotTest, StudyValues
from octant.study.verdict import judge_value, place_on_axis


class LimitTest(KindOfTest, frozen=True, kw_only=True):
    """Largest axis value at which the measure is within `near` of its best."""

    measure: str
    of: Levels = BASELINE
    near: Annotated[float, Meta(gt=0, lt=1)] = 0.05
    bar: Bar

    def problems(self, study: Study) -> Iterator[Problem]:
        """Yield missing measures or combinations, and measures without an ascending axis of numbers."""
        yield from checks.shared_problems(study, (self.measure,), (self.of,), self.bar)
        yield from checks.axis_problems(study, self.measure, self.kind)
        axis = study.measures[self.measure].axis
        if axis and not _ascends(axis):
            yield "", f"a limit needs ascending numbers along the axis of {self.measure}"

    @property
    def least_launches(self) -> int:
        """Return the number that a range or an interval from order statistics requires."""
        return stats.FEW_LAUNCHES

    def judge(self, study: Study, values: StudyValues) -> Judgement:
        """Judge the axis value: the median over launches, and their range.

        If a measure stays near its best up to the end of its axis, the limit is at least that value.
        """
        axis = study.measures[self.measure].axis
        at = axis.values if axis else ()
        curve = values.curve(study.cell(self.measure, self.of), at)
        rows, launches = rows_of(curve)
        if min(map(min, rows)) <= 0:
            raise CannotTest("a value is zero, so there is no limit")
        places, better = [number(text) for text in at], values.better(self.measure)
        found = [last_near(row, self.near, better) for row in rows]
        knob, unit = axis.knob if axis else "", self.unit(study)
        last = len(places) - 1
        limits = [places[index] for index in found]
        least = max(self.bar.within[0] if self.bar.within else 0.0, self.bar.above or 0.0)
        if max(found) == last and least >= places[-1]:
            raise CannotTest(f"no limit up to {knob} = {at[-1]}, the end of the axis")
        effect = place_on_axis(limits, launches, curve, self.least_launches)
        what = f", the largest {knob} within {100 * self.near:.0f} % of the best"
        if min(found) == last:
            return judge_value(effect, self.bar, unit, f"{what}; the axis ends before a limit")
        left = [left_beyond(places, row, index, better) for row, index in zip(rows, found, strict=True) if index < last]
        return judge_value(
            effect, self.bar, unit, f"{what}; {100 * float(np.median(left)):.0f} % of the best at twice this value"
        )

    def unit(self, study: Study) -> str:
        """Return the unit of the axis."""
        axis = study.measures[self.measure].axis
        return (axis.unit if axis else "") or "1"


def last_near(values: Sequence[float], near: float, better: Better) -> int:
    """Return the index of the last value whose rate is at least (1 - `near`) of the best."""
    rates = _rates(values, better)
    return max(index for index, rate in enumerate(rates) if rate >= (1 - near) * max(rates))


def left_beyond(places: Sequence[float], values: Sequence[float], limit: int, better: Better) -> float:
    """Return the share of the best rate at twice the limit, or at the last place."""
    rates = _rates(values, better)
    beyond = next((i for i in range(limit + 1, len(places)) if places[i] >= 2 * places[limit]), len(places) - 1)
    return rates[beyond] / max(rates)


def _rates(values: Sequence[float], better: Better) -> list[float]:
    return [value if better == "higher" else 1 / value for value in values]


def _ascends(axis: MeasureAxis) -> bool:
    try:
        places = [number(text) for text in axis.values]
    except ValueError:  # a ladder, or names
        return False
    return all(one < other for one, other in pairwise(places))
