"""Verdicts on findings: the code that the kinds of tests share."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from octant import catalogue, facts, stats
from octant.machine import Machine
from octant.stats import Grade, worst_of_each_kind
from octant.stats.paired import LEAST_ROUNDS
from octant.study.published_values import published_range
from octant.study.question import Decision, Judgement
from octant.study.ratios import factor_text, gain, gain_in_rounds, quotient, range_text, stated
from octant.study.values import SAME_LAUNCH, CannotTest
from octant.units import counted, si_text

if TYPE_CHECKING:
    from octant.stats import Caveat
    from octant.study.parts import Bar, Levels
    from octant.study.question import FindingTest, Study
    from octant.study.ratios import Rounds
    from octant.study.values import Better, Bounded, StudyValue, StudyValues

Status: TypeAlias = Literal["holds", "does not hold", "undecided", "cannot be tested here"]
MAX_ADDED_LAUNCHES = 1000


@dataclass(frozen=True)
class FindingVerdict:
    """Verdict on one finding."""

    finding: catalogue.Finding
    status: Status
    why: str  # the sentence behind the status
    here: Bounded | None = None
    interval_text: str = ""  # what its ends are
    there: tuple[float, float] | None = None  # the published range
    more_launches: int | None = None  # as a judgement's
    calibrated: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # what of a model, on which values tested
    predicted: bool = True  # whether it rests on any value on which the model was not calibrated
    caveat: str = ""  # cannot be tested here: the kind of the caveat that forbids it
    emulated: tuple[str, ...] = ()  # what it rests on that was measured over an emulated link, in words
    in_unit: str = ""  # as a judgement's
    unit: str = ""  # of what was published; empty: it is a factor

    @property
    def there_text(self) -> str:
        """Return the published range as text; empty if there is none."""
        return range_text(self.there, self.unit) if self.there else ""

    @property
    def here_text(self) -> str:
        """Return the tested quantity as text; empty if there is none."""
        return self.in_unit or (factor_text(self.here) if self.here else "")

    @property
    def text(self) -> str:
        """Return the verdict as text: `holds: published ×2.15, ×1.9 [1.8, 2.0] for triad`."""
        return f"{self.said}: {self.why}{self.remark}"

    @property
    def said(self) -> str:
        """Return the status, with notes on an emulated link and on calibration of the model."""
        where = ", over an emulated link" if self.emulated else ""
        return f"{self.status}{where}" if self.predicted else f"{self.status}, calibrated on this value"

    @property
    def remark(self) -> str:
        """Return the calibrated parameters of the model and the emulated links; empty if there are none."""
        said = ", ".join(f"{what} at {', '.join(names)}" for what, names in self.calibrated.items())
        return "".join((f"; calibrated on: {said}" if said else "", *(f"; {text}" for text in self.emulated)))


@dataclass(frozen=True)
class Effect:
    """Tested quantity with its number of launches or rounds (0 for a model) and its caveats."""

    here: Bounded
    launches: int
    caveats: tuple[Caveat, ...] = ()
    least: int = LEAST_ROUNDS  # launches below which there is no verdict
    rounds: Rounds | None = None  # of a measured ratio
    ends: str = ""  # what its ends are, where `here` itself does not say it

    @property
    def interval_text(self) -> str:
        """Return a description of the interval; empty if there is none."""
        here = stated(self.here)
        if here.low == here.high:
            return ""
        return self.ends or (here.text if isinstance(here, stats.Estimate) else "bounds of the model")


def verdicts(study: Study, values: StudyValues, machine: Machine | None) -> list[FindingVerdict]:
    """Return the verdict on each finding of a study; `machine` is `None` for models."""
    return [_verdict(study, values, machine, finding_test) for finding_test in study.findings]


def _verdict(study: Study, values: StudyValues, machine: Machine | None, finding_test: FindingTest) -> FindingVerdict:
    finding = finding_test.finding
    there, unit = published_range(study, finding_test), finding_test.test.unit(study)
    needs = finding_test.needs if machine is not None else ()
    reasons = [why for need in needs if machine is not None and (why := facts.missing(need, machine))]
    values = replace(values, read={})
    try:
        if reasons:
            raise CannotTest(reasons[0])
        found = finding_test.test.judge(study, values)
    except CannotTest as reason:
        return FindingVerdict(finding, "cannot be tested here", str(reason), there=there, caveat=reason.kind, unit=unit)
    why = f"published {range_text(there, unit)}, {found.why}" if there else found.why
    calibrated: dict[str, tuple[str, ...]] = {}
    for (cell, at), value in values.read.items():
        for what in value.calibrated_on:
            calibrated[what] = (*calibrated.get(what, ()), at or str(cell))
    predicted = not values.read or not all(value.calibrated_on for value in values.read.values())
    read = (caveat for value in values.read.values() for caveat in value.caveats if caveat.kind == "emulated link")
    return FindingVerdict(
        finding, found.status, why, found.here, found.interval_text, there, found.more_launches, calibrated, predicted,
        emulated=tuple(dict.fromkeys(caveat.text for caveat in read)), in_unit=found.in_unit, unit=unit,
    )  # fmt: skip


def judge_effect(effect: Effect, bar: Bar, what: str) -> Judgement:
    """Judge a tested quantity; `what` follows its value in the sentence."""
    return _judged(effect, bar, f"{factor_text(effect.here)}{what} (required: {bar.text}")


def judge_value(effect: Effect, bar: Bar, unit: str, what: str) -> Judgement:
    """Judge a quantity with a unit, in which the bar is given; see `judge_effect`."""
    here = stated(effect.here)
    middle, low, high = (si_text(edge, unit) for edge in (here.middle, here.low, here.high))
    value = middle if here.low == here.high else f"{middle} [{low}, {high}]"
    judged = _judged(effect, bar, f"{value}{what} (required: {bar.text_in(unit)}")
    return replace(judged, in_unit=value)


def _judged(effect: Effect, bar: Bar, beginning: str) -> Judgement:
    """Return the judgement; `beginning` is the text up to the bar, with an open bracket."""
    status = status_of(effect, bar)
    more = launches_needed(effect.here, bar, effect.launches, effect.least) if status == "undecided" else None
    why = f"{beginning}{ends_text([effect])}){caveats_text([effect])}"
    if status == "undecided":
        why += f"; {resolution_text(effect)}{more_text(more, effect.launches, effect.least)}"
    return Judgement(status, why, effect.here, effect.interval_text, more)


def undecided_judgement(bar: Bar, open_effects: Iterable[Effect], effects: Iterable[Effect], why: str) -> Judgement:
    """Return an undecided judgement with the launches that would decide all `open_effects`, a subset of `effects`."""
    needed = [launches_needed(effect.here, bar, effect.launches, effect.least) for effect in open_effects]
    more = None if None in needed else max(n for n in needed if n is not None)
    text = more_text(more, min(effect.launches for effect in effects))
    return Judgement("undecided", f"{why}; {text}", more_launches=more)


def status_of(effect: Effect, bar: Bar) -> Decision:
    """Return the decision of `judge`, or undecided if there are too few launches."""
    return "undecided" if 0 < effect.launches < effect.least else judge(effect.here, bar)


def judge(here: Bounded, bar: Bar) -> Decision:
    """Decide whether an interval meets a bar, misses it, or contains it."""
    low, high = bar.within or (
        -math.inf if bar.above is None else bar.above,
        math.inf if bar.below is None else bar.below,
    )
    open_bar = bar.within is None  # above and below are strict; a range includes its ends
    if (here.low > low and here.high < high) if open_bar else (here.low >= low and here.high <= high):
        return "holds"
    if (here.high <= low or here.low >= high) if open_bar else (here.high < low or here.low > high):
        return "does not hold"
    return "undecided"


def launches_needed(here: Bounded, bar: Bar, launches: int, least: int = LEAST_ROUNDS) -> int | None:
    """Estimate how many more launches would decide: an interval shrinks as the square root of their number.

    `None` if it is over a thousand, or for a model. Below `least`, it is the number that is missing.
    """
    if launches == 0:
        return None
    if launches < least:
        return least - launches
    edges = [edge for edge in (bar.above, bar.below, *(bar.within or ())) if edge is not None]
    wanted = launches
    for edge in edges:
        if here.low <= edge <= here.high:
            gap = abs(here.middle - edge)
            reach = here.high - here.middle if edge > here.middle else here.middle - here.low
            if reach >= gap * MAX_ADDED_LAUNCHES:
                return None
            wanted = max(wanted, math.ceil(launches * (reach / gap) ** 2))
    more = max(wanted, launches + 1) - launches
    return more if more <= MAX_ADDED_LAUNCHES else None


def caveats_text(effects: Iterable[Effect]) -> str:
    """Return the caveats of tested quantities, each kind once, without notes; empty if there are none."""
    caveats = worst_of_each_kind(caveat for effect in effects for caveat in effect.caveats if caveat.grade > Grade.NOTE)
    return f"; caveats: {', '.join(caveat.text for caveat in caveats)}" if caveats else ""


def ends_text(effects: Iterable[Effect]) -> str:
    """Return the descriptions of the intervals, each once; empty if there are none."""
    said = dict.fromkeys(effect.interval_text for effect in effects if effect.interval_text)
    return "".join(f"; in brackets: {text}" for text in said)


def resolution_text(effect: Effect) -> str:
    """Return the resolution of an undecided test: `resolution 4.1 %; `; empty for a model."""
    low, middle, high = effect.here.low, effect.here.middle, effect.here.high
    if effect.launches < effect.least or not 0 < low < high:
        return ""
    if stated(effect.here).low == middle:
        return "launches differ too much for an interval; "
    return f"resolution {100 * (max(high / middle, middle / low) - 1):.2g} %; "


def more_text(more: int | None, launches: int, least: int = LEAST_ROUNDS) -> str:
    """Return what is needed for a decision."""
    if launches == 0:
        return "the bounds of the model do not allow a verdict"
    if more is None:
        return "the number of launches for a decision is not known"
    if launches < least:
        return f"{launches} of at least {least} launches per configuration"
    return f"about {counted(more, 'more launch')} per configuration would decide"


def gain_of(
    study: Study, values: StudyValues, measure: str, of: Levels, to: Levels, at: str = "", to_at: str = ""
) -> Effect:
    """Return the gain of one combination over another.

    Raises:
        CannotTest: a value is missing, or both combinations are identical on this machine.
    """
    cells = study.cell(measure, of), study.cell(measure, to)
    first, second = values.value(cells[0], at), values.value(cells[1], to_at or at)
    if cells[0] != cells[1] and values.same.get(cells[0], cells[0]) == values.same.get(cells[1], cells[1]):
        raise CannotTest(SAME_LAUNCH)
    return ratio_of(first, second, values.better(measure))


def gain_over(one: Effect, other: Effect) -> Effect:
    """Return the ratio of two gains, from common rounds or the bounds of a model."""
    caveats = one.caveats + other.caveats
    if one.rounds is None or other.rounds is None:
        return Effect(quotient(one.here, other.here), 0, caveats)
    return _in_rounds(one.rounds.over(other.rounds), caveats)


def ratio_of(of: StudyValue, to: StudyValue, better: Better) -> Effect:
    """Return the gain of one value over another, from common rounds or the bounds of a model."""
    caveats = of.caveats + to.caveats
    if of.modelled is not None and to.modelled is not None:
        return Effect(gain(of, to, better), 0, caveats)
    return _in_rounds(gain_in_rounds(of, to, better), caveats)


def _in_rounds(rounds: Rounds, caveats: tuple[Caveat, ...]) -> Effect:
    return Effect(rounds.ratio, len(rounds.logs), caveats, rounds=rounds)


def place_on_axis(places: Sequence[float], launches: int, curve: Iterable[StudyValue], least: int) -> Effect:
    """Return a place along an axis as the median and range over launches (0 launches for a model).

    The range contains the median of further launches in 97 % of cases with six launches, and in 75 % with three.

    Args:
        least: launches below which there is no verdict.
    """
    here = stats.Interval(min(places), float(np.median(places)), max(places))
    return Effect(here, launches, caveats_of(curve), least, ends=f"range over {launches} launches")


def ranked(study: Study, values: StudyValues, measure: str, places: Iterable[Levels], at: str) -> list[Levels]:
    """Return the available combinations ordered by their medians, the best first.

    Raises:
        CannotTest: none has a value, or one is not measurable, so that its rank is not known.
    """
    found: list[tuple[float, int, Levels]] = []
    reasons: list[CannotTest] = []
    sign = -1 if values.better(measure) == "higher" else 1
    for number, levels in enumerate(places):
        try:
            found.append((sign * values.value(study.cell(measure, levels), at).value.middle, number, levels))
        except CannotTest as reason:
            if reason.kind:
                raise
            reasons.append(reason)
    if not found:
        raise reasons[0]
    return [levels for _, _, levels in sorted(found, key=lambda one: one[:2])]


def caveats_of(curve: Iterable[StudyValue]) -> tuple[Caveat, ...]:
    """Return the caveats of several values."""
    return tuple(caveat for value in curve for caveat in value.caveats)
