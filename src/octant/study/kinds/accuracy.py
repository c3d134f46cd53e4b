"""Test the largest error of measures of errors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from msgspec import Meta

from octant import stats
from octant.study import checks
from octant.study.parts import BASELINE, Bar, Levels, Problem
from octant.study.question import Judgement, KindOfTest, Study
from octant.study.values import CannotTest, StudyValue, StudyValues, quantity_of
from octant.study.verdict import Effect, judge_value
from octant.units import counted

_UNIT = "ulp"


class AccuracyTest(KindOfTest, frozen=True, kw_only=True):
    """Largest value of several measures of errors over all launches, in units in the last place (ulp).

    The same arguments have the same errors in every launch, so that one launch is sufficient.
    """

    measures: Annotated[tuple[str, ...], Meta(min_length=1)]
    of: Levels = BASELINE
    bar: Bar

    def problems(self, study: Study) -> Iterator[Problem]:
        """Yield missing measures or combinations, and measures that are not in ulp."""
        yield from checks.shared_problems(study, self.measures, (self.of,), self.bar)
        for name in self.measures:
            unit = quantity_of(study.measures[name]).unit
            if unit != _UNIT:
                yield "measures", f"accuracy is in {_UNIT}, and {name} in {unit}; give a measure of errors"

    @property
    def least_launches(self) -> int:
        """Return one launch: further ones are not needed for a verdict."""
        return 1

    def judge(self, study: Study, values: StudyValues) -> Judgement:
        """Judge the largest error; missing measures are ignored only if the others fail."""
        found: dict[str, float] = {}
        reasons: list[CannotTest] = []
        for name in self.measures:
            axis = study.measures[name].axis
            try:
                curve = values.curve(study.cell(name, self.of), axis.values if axis else ("",))
            except CannotTest as reason:
                reasons.append(reason)
            else:
                found[name] = max(map(_largest, curve))
        if not found:
            raise reasons[0]
        worst = max(found, key=found.__getitem__)
        effect = Effect(stats.Interval(found[worst], found[worst], found[worst]), 0)
        others = f", the largest of {counted(len(found), 'measure')}" if len(found) > 1 else ""
        judgement = judge_value(effect, self.bar, self.unit(study), f" for {worst}{others}")
        if reasons and judgement.status == "holds":  # a missing one may be larger
            raise reasons[0]
        return judgement

    def unit(self, study: Study) -> str:  # noqa: ARG002
        """Return ulp."""
        return _UNIT


def _largest(value: StudyValue) -> float:
    return max((launch.value.middle for launch in value.launches), default=value.value.high)
