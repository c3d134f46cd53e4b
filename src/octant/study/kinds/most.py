"""Test the share of the measures that gain by a change."""

from __future__ import annotations

from collections.abc import Iterator

from octant.study import checks
from octant.study.parts import BASELINE, Bar, Fraction, Levels, Positive, Problem
from octant.study.question import Judgement, KindOfTest, Study
from octant.study.ratios import factor_text
from octant.study.values import CannotTest, StudyValues
from octant.study.verdict import Effect, caveats_text, ends_text, gain_of, status_of, undecided_judgement


class MostTest(KindOfTest, frozen=True, kw_only=True):
    """Share of the measures that gain by more than `gain` from `to` to `of`: at least `share`, at most `at_most`.

    A measure with an axis counts at the last value of the axis.
    """

    measures: tuple[str, ...] = ()  # empty: all
    of: Levels = BASELINE
    to: Levels = BASELINE
    gain: Positive = 1.0
    share: Fraction = 0.5
    at_most: Fraction = 1.0  # share of the measures

    def problems(self, study: Study) -> Iterator[Problem]:
        """Yield missing measures or combinations, and changes without effect."""
        yield from checks.shared_problems(study, self.measures, (self.of, self.to), None)
        yield from checks.pair_problems(study, self.of, self.to)
        if self.at_most < self.share:
            yield "at_most", f"at_most = {self.at_most:g} is below share = {self.share:g}; swap the two"

    def judge(self, study: Study, values: StudyValues) -> Judgement:
        """Judge the share of measures with a significant gain; undecided or missing ones may change the verdict."""
        bar = Bar(above=self.gain)
        gains: dict[str, Effect] = {}
        reasons: dict[str, CannotTest] = {}
        for measure in self.measures or tuple(study.measures):
            axis = study.measures[measure].axis
            try:
                gains[measure] = gain_of(study, values, measure, self.of, self.to, axis.values[-1] if axis else "")
            except CannotTest as reason:
                reasons[measure] = reason
        every = len(gains) + len(reasons)
        wanted, most = self.share * every, self.at_most * every
        open_gains = [gain for gain in gains.values() if status_of(gain, bar) == "undecided"]
        number = sum(status_of(gain, bar) == "holds" for gain in gains.values())
        each = ", ".join(f"{measure} {factor_text(gain.here)}" for measure, gain in gains.items())
        effect = "gain significantly" if self.gain >= 1 else f"lose at most {100 * (1 - self.gain):.0f} %"
        why = f"{number} of {every} measures {effect}: {each}"
        why += ends_text(gains.values()) + caveats_text(gains.values())
        if number >= wanted and number + len(open_gains) + len(reasons) <= most:
            return Judgement("holds", why)
        if number > most or number + len(open_gains) + len(reasons) < wanted:
            return Judgement("does not hold", why)
        if not open_gains or number + len(open_gains) < wanted:  # the missing measures decide
            raise next(iter(reasons.values()))
        return undecided_judgement(bar, open_gains, gains.values(), why)
