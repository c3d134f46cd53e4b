"""Test the ratio of one combination to another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from octant.study import checks
from octant.study.parts import BASELINE, Bar, Cell, Levels, Problem
from octant.study.question import Judgement, KindOfTest, Study
from octant.study.values import Place, PublishedValue, StudyValues, quantity_of
from octant.study.verdict import gain_of, judge_effect


class RatioTest(KindOfTest, frozen=True, kw_only=True):
    """Gain of `of` over `to`: the ratio of rates, or the inverse ratio of times."""

    measure: str
    of: Levels = BASELINE
    to: Levels = BASELINE
    at: str = ""  # axis value
    to_at: str = ""  # axis value of `to`, where it differs
    bar: Bar

    def problems(self, study: Study) -> Iterator[Problem]:
        """Yield missing measures, combinations or axis values, and identical sides."""
        yield from checks.shared_problems(study, (self.measure,), (self.of, self.to), self.bar)
        if self.to_at in ("", self.at):
            yield from checks.pair_problems(study, self.of, self.to)
        yield from checks.place_problems(study, self.measure, self.at, self.to_at)

    def judge(self, study: Study, values: StudyValues) -> Judgement:
        """Judge the ratio with its interval."""
        effect = gain_of(study, values, self.measure, self.of, self.to, self.at, self.to_at)
        at = f" at {self.at}{f' over {self.to_at}' if self.to_at else ''}" if self.at else ""
        pairs = list(zip(study.factors, study.full(self.of), study.full(self.to), strict=True))
        has_factors = len(study.factors) > 1
        changed = ", ".join(
            f"{f'{factor} ' if has_factors else ''}{of} over {to}" for factor, of, to in pairs if of != to
        )
        both = study.baseline_difference({factor: of for factor, of, to in pairs if of == to})
        return judge_effect(effect, self.bar, f" for {self.measure}{', ' * bool(changed)}{changed}{both}{at}")

    def published_range(self, study: Study, published: Sequence[PublishedValue]) -> tuple[float, float] | None:
        """Return the same ratio of published values."""
        top = _only_value(published, study.cell(self.measure, self.of), self.at)
        bottom = _only_value(published, study.cell(self.measure, self.to), self.to_at or self.at)
        if not top or not bottom:
            return None
        higher = quantity_of(study.measures[self.measure]).better == "higher"
        factor = top / bottom if higher else bottom / top
        return factor, factor

    def compared(self, study: Study) -> tuple[Place, Place]:
        """Return the places of `of` and of `to`."""
        return (study.cell(self.measure, self.of), self.at), (study.cell(self.measure, self.to), self.to_at or self.at)


def _only_value(published: Sequence[PublishedValue], cell: Cell, at: str) -> float | None:
    values = [one.value for one in published if (one.cell, one.at) == (cell, at)]
    return values[0] if len(values) == 1 else None
