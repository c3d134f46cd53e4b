"""Test whether each of several techniques improves at least one measure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from msgspec import Meta

from octant.study import checks
from octant.study.parts import BASELINE, Bar, Fraction, Levels, Positive, Problem
from octant.study.question import Judgement, KindOfTest, Study
from octant.study.ratios import factor_text
from octant.study.values import SAME_LAUNCH, CannotTest, StudyValues
from octant.study.verdict import Effect, caveats_text, ends_text, gain_of, status_of, undecided_judgement


class AblationTest(KindOfTest, frozen=True, kw_only=True):
    """Share of the changes, each alone against `to`, that improve some measure by more than `gain`: at least `share`.

    For each change, the measure with the highest lower bound counts, at the last value of its axis.
    """

    changes: Annotated[tuple[Levels, ...], Meta(min_length=2)]
    to: Levels = BASELINE
    measures: tuple[str, ...] = ()  # empty: all
    gain: Positive = 1.02
    share: Fraction = 0.5

    def problems(self, study: Study) -> Iterator[Problem]:
        """Yield missing measures or combinations, and changes without effect."""
        yield from checks.shared_problems(study, self.measures, (*self.changes, self.to), None)
        for change in self.changes:
            yield from checks.pair_problems(study, change, self.to)

    def judge(self, study: Study, values: StudyValues) -> Judgement:
        """Judge the share of changes with a significant gain; undecided or missing ones may change the verdict."""
        bar = Bar(above=self.gain)
        best: dict[str, Effect] = {}
        reasons: list[CannotTest] = []
        gains: list[str] = []
        for change in self.changes:
            name = ", ".join(f"{factor} {level}" for factor, level in change.items())
            try:
                measure, best[name] = self._best(study, values, change)
                gains.append(f"{name} {factor_text(best[name].here)} ({measure})")
            except CannotTest as reason:
                reasons.append(reason)
        statuses = {name: status_of(effect, bar) for name, effect in best.items()}
        number = sum(status == "holds" for status in statuses.values())
        open_ones = [best[name] for name, status in statuses.items() if status == "undecided"]
        wanted = self.share * len(self.changes)
        why = f"{number} of {len(self.changes)} changes gain significantly: {', '.join(gains)}"
        why += ends_text(best.values()) + caveats_text(best.values())
        if number >= wanted:
            return Judgement("holds", why)
        if number + len(open_ones) + len(reasons) < wanted:
            return Judgement("does not hold", why)
        if number + len(open_ones) < wanted:  # the missing changes decide
            raise reasons[0]
        return undecided_judgement(bar, open_ones, best.values(), why)

    def _best(self, study: Study, values: StudyValues, change: Levels) -> tuple[str, Effect]:
        """Return the measure with the highest lower bound of its gain by a change, and the gain.

        Raises:
            CannotTest: no measure has both values, or the change has no effect on this machine.
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
