"""Test whether one measure gains more than another by the same change."""

from __future__ import annotations

from collections.abc import Iterator

from octant.study import checks
from octant.study.parts import BASELINE, Bar, Levels, Problem
from octant.study.question import Judgement, KindOfTest, Study
from octant.study.ratios import factor_text
from octant.study.values import StudyValues
from octant.study.verdict import gain_of, gain_over, judge_effect


class InteractionTest(KindOfTest, frozen=True, kw_only=True):
    """Ratio of the gain of `measure` to that of `versus`, both from `to` to `of`."""

    measure: str
    versus: str
    of: Levels = BASELINE
    to: Levels = BASELINE
    at: str = ""
    versus_at: str = ""
    bar: Bar

    def problems(self, study: Study) -> Iterator[Problem]:
        """Yield missing measures, combinations or axis values, and changes without effect."""
        yield from checks.shared_problems(study, (self.measure, self.versus), (self.of, self.to), self.bar)
        yield from checks.pair_problems(study, self.of, self.to)
        other = study.measures[self.versus].axis
        if self.versus_at not in (other.values if other else ("",)):
            if other:
                yield "", f"`versus_at` must be a value of the axis {other.knob}; try {', '.join(other.values)}"
            else:
                yield "", f"{self.versus} has no axis; remove `versus_at`"
        yield from checks.place_problems(study, self.measure, self.at)

    def judge(self, study: Study, values: StudyValues) -> Judgement:
        """Judge the ratio of both gains."""
        one = gain_of(study, values, self.measure, self.of, self.to, self.at)
        other = gain_of(study, values, self.versus, self.of, self.to, self.versus_at)
        what = f": {self.measure} {factor_text(one.here)} over {self.versus} {factor_text(other.here)}"
        return judge_effect(gain_over(one, other), self.bar, what)
