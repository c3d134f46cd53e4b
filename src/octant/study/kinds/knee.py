"""Test at which axis value a measure first becomes worse."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Annotated

from msgspec import Meta

from octant import stats
from octant.study import checks
from octant.study.parts import BASELINE, Bar, Levels, Problem, number
from octant.study.question import Judgement, KindOfTest, Study
from octant.study.ratios import over_extremes, rows_of
from octant.study.values import Better, CannotTest, StudyValues
from octant.study.verdict import Effect, judge_effect, place_on_axis


class KneeTest(KindOfTest, frozen=True, kw_only=True):
    """First axis value at which the measure is worse than the best before by `step`, or its ratio to that of `to`."""

    measure: str
    of: Levels = BASELINE
    to: Levels | None = None
    step: Annotated[float, Meta(gt=1, le=1e300)] = 1.5
    bar: Bar

    def problems(self, study: Study) -> Iterator[Problem]:
        """Yield missing measures or combinations, identical sides, and measures without an axis."""
        yield from checks.shared_problems(study, (self.measure,), (self.of, self.to or {}), self.bar)
        if self.to is not None:
            yield from checks.pair_problems(study, self.of, self.to)
        yield from checks.axis_problems(study, self.measure, self.kind)
        axis = study.measures[self.measure].axis
        if axis and not axis.has_numbers:
            yield "", f"a knee needs numbers along the axis of {self.measure}"

    @property
    def least_launches(self) -> int:
        """Return the number that a range or an interval from order statistics requires."""
        return stats.FEW_LAUNCHES

    def judge(self, study: Study, values: StudyValues) -> Judgement:
        """Judge the axis value of the step, or the factor by which it moves."""
        axis = study.measures[self.measure].axis
        one = self._place(study, values, self.of)
        if self.to is None:
            return judge_effect(one, self.bar, f", the position of the step along {axis.knob if axis else ''}")
        other = self._place(study, values, self.to)
        launches, caveats = min(one.launches, other.launches), one.caveats + other.caveats
        here, ends = (
            over_extremes(one.here, other.here),
            one.ends and "ratio of the ranges (minimum to maximum over launches)",
        )
        moved = replace(one, here=here, launches=launches, caveats=caveats, ends=ends)
        return judge_effect(moved, self.bar, ", the shift of the step")

    def _place(self, study: Study, values: StudyValues, levels: Levels) -> Effect:
        """Return the axis value of the step; see `place_on_axis`."""
        axis = study.measures[self.measure].axis
        at = axis.values if axis else ()
        curve = values.curve(study.cell(self.measure, levels), at)
        rows, launches = rows_of(curve)
        if min(map(min, rows)) <= 0:
            raise CannotTest("a value is zero, so there is no step")
        places, better = [number(text) for text in at], values.better(self.measure)
        knees = [knee(places, row, self.step, better) for row in rows]
        known = [place for place in knees if place is not None]
        if len(known) < len(knees):
            raise CannotTest(f"no step of ×{self.step:g} along the axis for {', '.join(study.full(levels))}")
        return place_on_axis(known, launches, curve, self.least_launches)


def knee(places: Sequence[float], values: Sequence[float], step: float, better: Better) -> float | None:
    """Return the first place whose value is worse than the best before it by the factor `step`."""
    best = values[0]
    for place, value in zip(places[1:], values[1:], strict=True):
        if (best / value if better == "higher" else value / best) >= step:
            return place
        best = max(best, value) if better == "higher" else min(best, value)
    return None
