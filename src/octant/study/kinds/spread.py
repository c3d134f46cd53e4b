"""Test how flat a measure is along its axis."""

from __future__ import annotations

from collections.abc import Iterator

from octant import stats
from octant.study import checks
from octant.study.parts import BASELINE, Bar, Levels, Problem
from octant.study.question import Judgement, KindOfTest, Study
from octant.study.values import CannotTest, StudyValues
from octant.study.verdict import Effect, caveats_of, judge_effect


class SpreadTest(KindOfTest, frozen=True, kw_only=True):
    """Ratio of the largest to the smallest value along the axis; 1 is flat."""

    measure: str
    of: Levels = BASELINE
    over: tuple[str, ...] = ()  # axis values; empty: all
    bar: Bar

    def problems(self, study: Study) -> Iterator[Problem]:
        """Yield missing measures, combinations or axis values, and measures without an axis."""
        yield from checks.shared_problems(study, (self.measure,), (self.of,), self.bar)
        yield from checks.axis_problems(study, self.measure, self.kind)
        yield from checks.on_axis_problems(study, self.measure, self.over)

    @property
    def least_launches(self) -> int:
        """Return the number that a range or an interval from order statistics requires."""
        return stats.FEW_LAUNCHES

    def judge(self, study: Study, values: StudyValues) -> Judgement:
        """Judge the ratio: per bound for a model, whose bounds have the same cause; by intervals for launches."""
        axis = study.measures[self.measure].axis
        curve = values.curve(study.cell(self.measure, self.of), self.over or (axis.values if axis else ()))
        if min(value.value.low for value in curve) <= 0:
            raise CannotTest("a value is zero, so there is no spread")
        middles = [value.value.middle for value in curve]
        middle = max(middles) / min(middles)
        if all(value.modelled for value in curve):
            edges = [[value.value.low for value in curve], middles, [value.value.high for value in curve]]
            spreads = [max(edge) / min(edge) for edge in edges]
            effect = Effect(stats.Interval(min(spreads), middle, max(spreads)), 0)
        else:
            known = [value.value for value in curve]
            low = max(value.low for value in known) / min(value.high for value in known)
            high = max(value.high for value in known) / min(value.low for value in known)
            launches = min(len(value.launches) for value in curve)
            here, ends = stats.Interval(max(1.0, low), middle, high), "from the intervals of the values along the axis"
            effect = Effect(here, launches, caveats_of(curve), self.least_launches, ends=ends)
        return judge_effect(effect, self.bar, ", largest over smallest value")
