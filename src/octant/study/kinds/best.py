"""Test whether the best level of a factor is among the listed ones."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from msgspec import Meta

from octant.study import checks
from octant.study.parts import BASELINE, Bar, Levels, Problem
from octant.study.question import Judgement, KindOfTest, Study
from octant.study.values import StudyValues
from octant.study.verdict import gain_of, judge_effect, ranked


class BestTest(KindOfTest, frozen=True, kw_only=True):
    """Ratio of the best of the levels `of` to the best of the levels `to`, each selected by its median."""

    measure: str
    factor: str
    of: Annotated[tuple[str, ...], Meta(min_length=1)]
    to: tuple[str, ...] = ()  # empty: all others
    where: Levels = BASELINE  # of the other factors
    at: str = ""
    bar: Bar

    def problems(self, study: Study) -> Iterator[Problem]:
        """Yield missing measures, levels or axis values, and levels on both sides."""
        yield from checks.factor_problems(study, self.factor, (*self.of, *self.to))
        asked = [{**self.where, self.factor: level} for level in (*self.of, *self.to)]
        yield from checks.shared_problems(study, (self.measure,), asked, self.bar)
        yield from checks.place_problems(study, self.measure, self.at)

    def judge(self, study: Study, values: StudyValues) -> Judgement:
        """Judge the ratio; levels that are not available on this machine are excluded."""
        others = self.to or tuple(level for level in study.factors[self.factor] if level not in self.of)
        of, to = (
            ranked(study, values, self.measure, [{**self.where, self.factor: level} for level in side], self.at)[0]
            for side in (self.of, others)
        )
        effect = gain_of(study, values, self.measure, of, to, self.at)
        at = f" at {self.at}" if self.at else ""
        what = f" for {self.measure}{at}, {of[self.factor]} over {to[self.factor]}, the best of the others"
        return judge_effect(effect, self.bar, what)
