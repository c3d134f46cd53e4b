"""Test whether values agree with published values."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

from octant.study import checks
from octant.study.parts import BASELINE, Bar, Levels, Problem
from octant.study.published_values import published_values
from octant.study.question import Judgement, KindOfTest, Study
from octant.study.ratios import range_text
from octant.study.values import CannotTest, StudyValues
from octant.study.verdict import Effect, judge_effect, status_of

_FROM_BEST = ("holds", "undecided", "does not hold")


class AgreesTest(KindOfTest, frozen=True, kw_only=True):
    """Ratio of each value to the published value of a measure, mainly for models; 1 is agreement."""

    measure: str
    of: Levels = BASELINE
    over: tuple[str, ...] = ()  # axis values; none: all that are published
    bar: Bar

    def problems(self, study: Study) -> Iterator[Problem]:
        """Yield missing measures, combinations or axis values, and measures without published values."""
        yield from checks.shared_problems(study, (self.measure,), (self.of,), self.bar)
        if not any(published.measure == self.measure for published in study.published):
            yield "", f"no published value for {self.measure}; remove the test"
        yield from checks.on_axis_problems(study, self.measure, self.over)

    def judge(self, study: Study, values: StudyValues) -> Judgement:
        """Judge the value with the largest deviation: one value outside the bar is a disagreement."""
        cell = study.cell(self.measure, self.of)
        known = [one for one in published_values(study) if one.cell == cell and (not self.over or one.at in self.over)]
        if not known:
            raise CannotTest(f"no published value for {cell}")
        effects = []
        for one in known:
            ours = values.value(cell, one.at)
            if min(ours.value.low, one.value) <= 0:
                raise CannotTest("a value is zero, so there is no ratio")
            low, middle, high = (edge / one.value for edge in (ours.value.low, ours.value.middle, ours.value.high))
            here = replace(ours.value, low=low, middle=middle, high=high)
            effects.append((Effect(here, len(ours.launches), ours.caveats), one.at))
        worst, at = max(
            effects,
            key=lambda one: (_FROM_BEST.index(status_of(one[0], self.bar)), abs(math.log(one[0].here.middle))),
        )
        middles = [effect.here.middle for effect, _ in effects]
        rest = f", the largest deviation of {len(effects)} ({range_text((min(middles), max(middles)))})" * (
            len(effects) > 1
        )
        return judge_effect(worst, self.bar, f" of the published value{f' at {at}' if at else ''}{rest}")
