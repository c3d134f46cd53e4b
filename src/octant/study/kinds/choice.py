"""Test how much the choice of a level matters: the best over the worst."""

from __future__ import annotations

import math
from collections.abc import Iterator

from octant.study import checks
from octant.study.parts import BASELINE, Bar, Fraction, Levels, Problem
from octant.study.question import Judgement, KindOfTest, Study
from octant.study.values import CannotTest, StudyValues
from octant.study.verdict import gain_of, judge_effect, ranked


class ChoiceTest(KindOfTest, frozen=True, kw_only=True):
    """Ratio of the best level to the worst, or to the worst of the best `share` of the levels.

    Levels are ranked by their medians, so that noise alone gives a ratio above 1.
    """

    measure: str
    factor: str
    among: tuple[str, ...] = ()  # levels; none: all
    where: Levels = BASELINE  # of the other factors
    at: str = ""
    share: Fraction = 1.0
    bar: Bar

    def problems(self, study: Study) -> Iterator[Problem]:
        """Yield missing measures, levels or axis values, and repeated levels."""
        yield from checks.factor_problems(study, self.factor, self.among)
        asked = [{**self.where, self.factor: level} for level in self.among]
        yield from checks.shared_problems(study, (self.measure,), asked, self.bar)
        yield from checks.place_problems(study, self.measure, self.at)

    def judge(self, study: Study, values: StudyValues) -> Judgement:
        """Judge the ratio; levels that are not available on this machine are excluded."""
        levels = [{**self.where, self.factor: level} for level in self.among or study.factors[self.factor]]
        order = ranked(study, values, self.measure, levels, self.at)
        if len(order) < 2:
            raise CannotTest(f"only one {self.factor} could be measured")
        number = max(2, math.ceil(self.share * len(order)))
        best, worst = order[0], order[number - 1]
        effect = gain_of(study, values, self.measure, best, worst, self.at)
        of = f"the best {number} of {len(order)}" if number < len(order) else f"all {number}"
        at = f" at {self.at}" if self.at else ""
        what = f" for {self.measure}{at}, {best[self.factor]} over {worst[self.factor]}, the worst of {of}"
        return judge_effect(effect, self.bar, what)
