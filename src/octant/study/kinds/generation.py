"""Test whether a quantity improved in proportion to the clock from one machine to a later one."""

from __future__ import annotations

from collections.abc import Iterator

from octant.study import checks
from octant.study.parts import BASELINE, Bar, Levels, Problem
from octant.study.question import Judgement, KindOfTest, Study
from octant.study.ratios import factor_text, quotient
from octant.study.values import StudyValues, quantity_of
from octant.study.verdict import gain_of, gain_over, judge_effect

_CLOCK = "Hz"


class GenerationTest(KindOfTest, frozen=True, kw_only=True):
    """Improvement of `measure` from `to` to `of` over that of `clock`; 1 is in proportion.

    Below 1, a time takes more cycles than before, and a rate is lower per cycle.
    """

    measure: str
    clock: str
    of: Levels = BASELINE
    to: Levels = BASELINE
    bar: Bar

    def problems(self, study: Study) -> Iterator[Problem]:
        """Yield missing measures or combinations, a machine compared with itself, and a clock not in Hz."""
        yield from checks.shared_problems(study, (self.measure, self.clock), (self.of, self.to), self.bar)
        yield from checks.pair_problems(study, self.of, self.to)
        unit = quantity_of(study.measures[self.clock]).unit
        if unit != _CLOCK:
            yield "clock", f"a clock is in {_CLOCK}, and {self.clock} in {unit or 'no unit'}; give a measure of clocks"
        for name in (self.measure, self.clock):
            yield from checks.place_problems(study, name, "")

    def judge(self, study: Study, values: StudyValues) -> Judgement:
        """Judge the gain relative to the clock; the text has both gains, and for times the ratio in cycles."""
        one = gain_of(study, values, self.measure, self.of, self.to)
        clock = gain_of(study, values, self.clock, self.of, self.to)
        gains = f"{self.measure} {factor_text(one.here)}, clock {factor_text(clock.here)}"
        if values.better(self.measure) == "lower":
            gains += f", {self.measure} in cycles {factor_text(quotient(clock.here, one.here))}"
        machines = " over ".join(", ".join(study.full(levels)) for levels in (self.of, self.to))
        return judge_effect(gain_over(one, clock), self.bar, f", {machines}: {gains}")
