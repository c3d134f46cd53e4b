"""A share of the measures that gain by a change."""

from __future__ import annotations

from collections.abc import Iterator

from octant.study import checks
from octant.study.factors import factor_text
from octant.study.parts import BASELINE, Bar, Fraction, Levels, Positive, Problem
from octant.study.question import Judgement, KindOfTest, Study
from octant.study.values import CannotTest, StudyValues
from octant.study.verdict import Effect, caveats_text, ends_text, gain_of, status_of, undecided_judgement


class MostTest(KindOfTest, frozen=True, kw_only=True):
    """A share of the measures gains by more than `gain` from `to` to `of`: at least `share`, no more than `at_most`.

    Of a measure along an axis its largest value is asked (of a model its last).
    """

    measures: tuple[str, ...] = ()  # none: all
    of: Levels = BASELINE
    to: Levels = BASELINE
    gain: Positive = 1.0
    share: Fraction = 0.5
    at_most: Fraction = 1.0  # share of the measures

    def problems(self, study: Study) -> Iterator[Problem]:
        """A measure or combination that is not there, or a change of nothing."""
        yield from checks.shared_problems(study, self.measures, (self.of, self.to), None)
        yield from checks.pair_problems(study, self.of, self.to)
        if self.at_most < self.share:
            yield "at_most", f"no share is {self.share:g} or more and {self.at_most:g} or less; swap the two"

    def judge(self, study: Study, values: StudyValues) -> Judgement:
        """The share of measures that certainly gain, and whether what is open or absent could change it."""
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
        said = "gain" if self.gain >= 1 else f"lose no more than {1 - self.gain:.0%}"
        why = f"{number} of {every} shown to {said} here: {each}"
        why += ends_text(gains.values()) + caveats_text(gains.values())
        if number >= wanted and number + len(open_gains) + len(reasons) <= most:
            return Judgement("holds", why)
        if number > most or number + len(open_gains) + len(reasons) < wanted:
            return Judgement("does not hold", why)
        if not open_gains or number + len(open_gains) < wanted:  # what could not be asked decides
            raise next(iter(reasons.values()))
        return undecided_judgement(bar, open_gains, gains.values(), why)
