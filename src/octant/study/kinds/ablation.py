"""Whether each of several techniques brings something to some kind of work."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from msgspec import Meta

from octant.study import checks
from octant.study.factors import factor_text
from octant.study.parts import BASELINE, Bar, Fraction, Levels, Positive, Problem
from octant.study.question import Judgement, KindOfTest, Study
from octant.study.values import SAME_LAUNCH, CannotTest, StudyValues
from octant.study.verdict import Effect, caveats_text, ends_text, gain_of, status_of, undecided_judgement


class AblationTest(KindOfTest, frozen=True, kw_only=True):
    """At least `share` of the changes, each alone against `to`, make some measure better by more than `gain`.

    Of each change the measure that gains most surely counts; along an axis, at its largest value.
    """

    changes: Annotated[tuple[Levels, ...], Meta(min_length=2)]
    to: Levels = BASELINE
    measures: tuple[str, ...] = ()  # none: all
    gain: Positive = 1.02
    share: Fraction = 0.5

    def problems(self, study: Study) -> Iterator[Problem]:
        """A measure or combination that is not there, or a change of nothing."""
        yield from checks.shared_problems(study, self.measures, (*self.changes, self.to), None)
        for change in self.changes:
            yield from checks.pair_problems(study, change, self.to)

    def judge(self, study: Study, values: StudyValues) -> Judgement:
        """The share of changes that certainly bring something, and whether what is open or absent could change it."""
        bar = Bar(above=self.gain)
        best: dict[str, Effect] = {}
        reasons: list[CannotTest] = []
        told = []
        for change in self.changes:
            name = ", ".join(f"{factor} {level}" for factor, level in change.items())
            try:
                measure, best[name] = self._best(study, values, change)
                told.append(f"{name} {factor_text(best[name].here)} ({measure})")
            except CannotTest as reason:
                reasons.append(reason)
        statuses = {name: status_of(effect, bar) for name, effect in best.items()}
        number = sum(status == "holds" for status in statuses.values())
        open_ones = [best[name] for name, status in statuses.items() if status == "undecided"]
        wanted = self.share * len(self.changes)
        why = f"{number} of {len(self.changes)} bring something here: {', '.join(told)}"
        why += ends_text(best.values()) + caveats_text(best.values())
        if number >= wanted:
            return Judgement("holds", why)
        if number + len(open_ones) + len(reasons) < wanted:
            return Judgement("does not hold", why)
        if number + len(open_ones) < wanted:  # what could not be asked decides
            raise reasons[0]
        return undecided_judgement(bar, open_ones, best.values(), why)

    def _best(self, study: Study, values: StudyValues, change: Levels) -> tuple[str, Effect]:
        """The measure that gains most surely by a change, with its gain.

        Raises:
            CannotTest: none has both values, or the change is none of any measure here.
        """
        gains: dict[str, Effect] = {}
        reasons: list[CannotTest] = []
        for measure in self.measures or tuple(study.measures):
            axis = study.measures[measure].axis
            try:
                gains[measure] = gain_of(study, values, measure, change, self.to, axis.values[-1] if axis else "")
            except CannotTest as reason:
                reasons.append(reason)
        if not gains:
            raise next((reason for reason in reasons if str(reason) != SAME_LAUNCH), reasons[0])
        first = max(gains, key=lambda one: gains[one].here.low)
        return first, gains[first]
