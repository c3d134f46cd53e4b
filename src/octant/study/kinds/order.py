"""Test the order of combinations from best to worst."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Annotated

from msgspec import Meta

from octant.study import checks
from octant.study.parts import Bar, Levels, Problem
from octant.study.question import Judgement, KindOfTest, Study
from octant.study.ratios import factor_text
from octant.study.values import StudyValues
from octant.study.verdict import caveats_text, ends_text, gain_of, status_of, undecided_judgement


class OrderTest(KindOfTest, frozen=True, kw_only=True):
    """Order of combinations: each is at least as good as the next, less the margin."""

    measure: str
    places: Annotated[tuple[Levels, ...], Meta(min_length=2)]
    at: str = ""
    margin: Annotated[float, Meta(ge=0, lt=1)] = 0.0

    def problems(self, study: Study) -> Iterator[Problem]:
        """Yield missing measures, combinations or axis values, and repeated combinations."""
        yield from checks.shared_problems(study, (self.measure,), self.places, None)
        for better, worse in itertools.pairwise(self.places):
            yield from checks.pair_problems(study, better, worse)
        yield from checks.place_problems(study, self.measure, self.at)

    def judge(self, study: Study, values: StudyValues) -> Judgement:
        """Judge each pair of consecutive combinations."""
        bar = Bar(above=1 - self.margin)
        steps = [
            gain_of(study, values, self.measure, better, worse, self.at)
            for better, worse in itertools.pairwise(self.places)
        ]
        statuses = [status_of(step, bar) for step in steps]
        order = " > ".join("/".join(levels.values()) or "baseline" for levels in self.places)
        gains = ", ".join(factor_text(step.here) for step in steps)
        why = f"{order}: {gains} between consecutive configurations{ends_text(steps)}{caveats_text(steps)}"
        if "does not hold" in statuses:
            return Judgement("does not hold", why)
        if "undecided" not in statuses:
            return Judgement("holds", why)
        open_steps = [step for step, status in zip(steps, statuses, strict=True) if status == "undecided"]
        return undecided_judgement(bar, open_steps, steps, why)
