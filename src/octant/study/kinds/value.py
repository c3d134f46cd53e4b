"""Test a measure in its own unit."""

from __future__ import annotations

from collections.abc import Iterator

from octant import stats
from octant.study import checks
from octant.study.parts import BASELINE, Bar, Levels, Problem
from octant.study.question import Judgement, KindOfTest, Study
from octant.study.values import StudyValues, quantity_of
from octant.study.verdict import Effect, judge_value
from octant.units import counted


class ValueTest(KindOfTest, frozen=True, kw_only=True):
    """Value of a measure in its unit, such as s or B/s.

    With `largest`, the largest value of all launches counts: one launch is sufficient to show that a rare event occurs;
    to show that it does not occur takes as many launches as any verdict.
    """

    measure: str
    of: Levels = BASELINE
    at: str = ""  # axis value
    largest: bool = False  # of all launches; else their median
    bar: Bar

    def problems(self, study: Study) -> Iterator[Problem]:
        """Yield missing measures, combinations or axis values."""
        yield from checks.shared_problems(study, (self.measure,), (self.of,), self.bar)
        yield from checks.place_problems(study, self.measure, self.at)

    @property
    def least_launches(self) -> int:
        """Return the number for a median, or one launch, which can have a value beyond the bar."""
        return 1 if self.largest else super().least_launches

    @property
    def sufficient_launches(self) -> int:
        """Return the number for a median, or for the largest value to be on the other side of the bar."""
        return stats.FEW_LAUNCHES if self.largest else self.least_launches

    def judge(self, study: Study, values: StudyValues) -> Judgement:
        """Judge the value with its interval."""
        found = values.value(study.cell(self.measure, self.of), self.at)
        unit = self.unit(study)
        what = f" for {self.measure}{study.baseline_difference(self.of)}{f' at {self.at}' if self.at else ''}"
        if not self.largest:
            return judge_value(Effect(found.value, len(found.launches), found.caveats), self.bar, unit, what)
        most = max((launch.value.middle for launch in found.launches), default=found.value.high)
        number = f", the largest of {counted(len(found.launches), 'launch')}" if found.launches else ""
        launches = 0 if self._is_final(most) else len(found.launches)
        effect = Effect(stats.Interval(most, most, most), launches, found.caveats, self.sufficient_launches)
        return judge_value(effect, self.bar, unit, what + number)

    def _is_final(self, most: float) -> bool:
        """Return whether more launches, which can only increase the maximum, cannot change the verdict."""
        if self.bar.above is not None:
            return most > self.bar.above
        return most >= self.bar.below if self.bar.below is not None else most > (self.bar.within or (0, 0))[1]

    def unit(self, study: Study) -> str:
        """Return the unit of the measure."""
        return quantity_of(study.measures[self.measure]).unit
