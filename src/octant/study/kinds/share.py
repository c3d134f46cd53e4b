"""Test which share of one measure another one reaches."""

from __future__ import annotations

from collections.abc import Iterator

from octant.study import checks
from octant.study.parts import BASELINE, Bar, Levels, Problem
from octant.study.question import Judgement, KindOfTest, Study
from octant.study.values import StudyValues, quantity_of
from octant.study.verdict import judge_effect, ratio_of


class ShareTest(KindOfTest, frozen=True, kw_only=True):
    """Ratio of `measure` to `whole` in the same unit and combination, such as a rate over the peak."""

    measure: str
    whole: str
    of: Levels = BASELINE
    at: str = ""
    whole_at: str = ""
    bar: Bar

    def problems(self, study: Study) -> Iterator[Problem]:
        """Yield missing measures, combinations or axis values, and measures with different units."""
        yield from checks.shared_problems(study, (self.measure, self.whole), (self.of,), self.bar)
        if self.measure == self.whole:
            yield "", "a measure is compared with itself; give `measure` and `whole` that differ"
        one, other = quantity_of(study.measures[self.measure]), quantity_of(study.measures[self.whole])
        if one != other:
            yield "", f"{self.measure} is in {one.unit} ({one.better} is better), {self.whole} in {other.unit}"
        yield from checks.place_problems(study, self.measure, self.at)
        yield from checks.place_problems(study, self.whole, self.whole_at)

    def judge(self, study: Study, values: StudyValues) -> Judgement:
        """Judge the share with its interval."""
        part = values.value(study.cell(self.measure, self.of), self.at)
        whole = values.value(study.cell(self.whole, self.of), self.whole_at)
        at, whole_at = (f" at {place}" if place else "" for place in (self.at, self.whole_at))
        what = f" for {self.measure}{at} over {self.whole}{whole_at}"
        return judge_effect(ratio_of(part, whole, "higher"), self.bar, what)
