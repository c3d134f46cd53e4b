"""What a measure comes to, in its own unit."""

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
    """One value against a bar in the unit of the measure: seconds, bytes a second.

    With `largest` it is that of the launch which has the most: of what happens now and then, once is enough, and one
    launch for a verdict; that it does not happen takes as many launches as any verdict.
    """

    measure: str
    of: Levels = BASELINE
    at: str = ""  # axis value
    largest: bool = False  # of all launches; else their median
    bar: Bar

    def problems(self, study: Study) -> Iterator[Problem]:
        """A measure, combination or axis value that is not there."""
        yield from checks.shared_problems(study, (self.measure,), (self.of,), self.bar)
        yield from checks.place_problems(study, self.measure, self.at)

    def judge(self, study: Study, values: StudyValues) -> Judgement:
        """The value with its interval against the bar."""
        found = values.value(study.cell(self.measure, self.of), self.at)
        unit = self.unit(study)
        what = f" for {self.measure}{study.beside_baseline(self.of)}{f' at {self.at}' if self.at else ''}"
        if not self.largest:
            return judge_value(Effect(found.value, len(found.launches), found.caveats), self.bar, unit, what)
        most = max((launch.value.middle for launch in found.launches), default=found.value.high)
        number = f", the largest of {counted(len(found.launches), 'launch')}" if found.launches else ""
        launches = 0 if self._is_final(most) else len(found.launches)
        effect = Effect(stats.Interval(most, most, most), launches, found.caveats, stats.FEW_LAUNCHES)
        return judge_value(effect, self.bar, unit, what + number)

    def _is_final(self, most: float) -> bool:
        """Whether more launches, which can only raise the largest, would change nothing."""
        if self.bar.above is not None:
            return most > self.bar.above
        return most >= self.bar.below if self.bar.below is not None else most > (self.bar.within or (0, 0))[1]

    def unit(self, study: Study) -> str:
        """That of the measure."""
        return quantity_of(study.measures[self.measure]).unit
