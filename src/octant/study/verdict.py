"""Whether a finding holds here: each test of a study against its bar, with what is certain and what is not."""

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from octant import catalogue, stats
from octant.machine import Machine, facts
from octant.study import published
from octant.study.design import Cell
from octant.study.file import (
    Agrees,
    Bar,
    FindingTest,
    Interaction,
    Knee,
    Levels,
    Most,
    Order,
    Ratio,
    Spread,
    Study,
    number,
)
from octant.study.sources import Answer, Answers

Status = Literal["holds", "does not hold", "cannot be tested here", "undecided"]
LEAST = 4  # launches a side below which a ratio has no verdict: of 3 and 3, all of one beat all of the other in 10 %
ENOUGH = 6  # launches from which the median of their medians has an interval of its own (see `stats`)
MOST = 1000


class _CannotTest(Exception):  # noqa: N818 - an outcome, not an error
    """Why there is nothing to test."""


@dataclass(frozen=True)
class Verdict:
    """What became of one finding."""

    finding: catalogue.Finding
    status: Status
    why: str  # the sentence behind the status
    here: stats.Interval | None = None
    there: tuple[float, float] | None = None  # the published range
    more_launches: int | None = None  # undecided: about how many more would tell; `None`: too close, or no matter

    @property
    def text(self) -> str:
        """For people: `holds: ×2.15 there, ×1.9 [1.8, 2.0] here`."""
        return f"{self.status}: {self.why}"


@dataclass(frozen=True)
class _Seen:
    """A tested quantity, the bar that it must meet, and how many launches stand behind it (0: a model)."""

    here: stats.Interval
    bar: Bar
    launches: int
    what: str = ""  # said behind the value
    doubts: tuple[str, ...] = ()
    least: int = LEAST  # launches below which there is no verdict


def verdicts(study: Study, answers: Answers, machine: Machine | None) -> list[Verdict]:
    """The verdict of every finding of a study; `machine` is `None` for models, which need none."""
    return [_verdict(study, answers, machine, asked) for asked in study.findings]


def _verdict(study: Study, answers: Answers, machine: Machine | None, asked: FindingTest) -> Verdict:
    finding = catalogue.findings()[asked.id]
    there = published.there(study, asked)
    needs = asked.needs if machine is not None else ()
    reasons = [why for need in needs if machine is not None and (why := facts.missing(need, machine))]
    try:
        if reasons:
            raise _CannotTest(reasons[0])
        if isinstance(asked.test, Order):
            return _order(study, answers, asked.test, finding)
        if isinstance(asked.test, Most):
            return _most(study, answers, asked.test, finding, there)
        seen = _SEEN[type(asked.test)](study, answers, asked.test)
    except _CannotTest as reason:
        return Verdict(finding, "cannot be tested here", str(reason), there=there)
    return _judged(finding, seen, there)


def _judged(finding: catalogue.Finding, seen: _Seen, there: tuple[float, float] | None) -> Verdict:
    status = _status(seen, seen.bar)
    more = launches_needed(seen.here, seen.bar, seen.launches) if status == "undecided" else None
    said = [f"{published.range_text(there)} there"] if there else []
    said.append(f"{factor_text(seen.here)} here{seen.what}")
    why = ", ".join(said) + f" (the bar: {seen.bar.text()})"
    why += _doubt_text([seen])
    if status == "undecided":
        why += f"; {_more_text(more, seen.launches, seen.least)}"
    return Verdict(finding, status, why, seen.here, there, more)


def _status(seen: _Seen, bar: Bar) -> Literal["holds", "does not hold", "undecided"]:
    return "undecided" if 0 < seen.launches < seen.least else judge(seen.here, bar)


def judge(here: stats.Interval, bar: Bar) -> Literal["holds", "does not hold", "undecided"]:
    """Whether a whole interval lies on the good side of a bar, on the bad side, or straddles it."""
    low, high = bar.within or (
        -math.inf if bar.above is None else bar.above,
        math.inf if bar.below is None else bar.below,
    )
    open_bar = bar.within is None  # above and below are strict; a range takes its ends in
    if (here.low > low and here.high < high) if open_bar else (here.low >= low and here.high <= high):
        return "holds"
    if (here.high <= low or here.low >= high) if open_bar else (here.high < low or here.low > high):
        return "does not hold"
    return "undecided"


def launches_needed(here: stats.Interval, bar: Bar, launches: int) -> int | None:
    """About how many more launches would tell: an interval shrinks as the square root of their number.

    `None` where that is hopeless (over a thousand), or where launches change nothing (a model). The extremes of a few
    launches shrink by no law: there, as many more as it takes to have an interval.
    """
    if launches == 0:
        return None
    if launches < ENOUGH:
        return ENOUGH - launches
    edges = [edge for edge in (bar.above, bar.below, *(bar.within or ())) if edge is not None]
    wanted = launches
    for edge in edges:
        if here.low <= edge <= here.high:
            gap = abs(here.middle - edge)
            reach = here.high - here.middle if edge > here.middle else here.middle - here.low
            if gap <= 1e-3 * max(reach, abs(edge) * 1e-9):
                return None
            wanted = max(wanted, math.ceil(launches * (reach / gap) ** 2))
    more = max(wanted, launches + 1) - launches
    return more if more <= MOST else None


def _doubt_text(seen: Iterable[_Seen]) -> str:
    doubts: dict[str, str] = {}
    for doubt in (re.sub(r" in \d+ % of samples", "", doubt) for one in seen for doubt in one.doubts):
        doubts.setdefault(re.sub(r"[-+]?\d+", "", doubt), doubt)
    return f"; measured in doubt: {', '.join(doubts.values())}" if doubts else ""


def _more_text(more: int | None, launches: int, least: int = LEAST) -> str:
    if launches == 0:
        return "the model's own bounds leave it open"
    if more is None:
        return "how many more launches would tell cannot be said"
    lead = f"{launches} launch{'es' if launches > 1 else ''} of each {'are' if launches > 1 else 'is'} too few; "
    counted = f"{more} more launch{'es' if more > 1 else ''} of each"
    return f"{lead if launches < least else ''}" + (
        f"it takes at least {counted} to tell" if launches < ENOUGH else f"about {counted} would tell"
    )


def factor_text(value: stats.Interval) -> str:
    """For people: `×1.9 [1.8, 2.0]`; without an interval where there is none."""
    if value.low == value.high:
        return f"×{published.digits(value.middle)}"
    low, middle, high = (published.digits(x) for x in (value.low, value.middle, value.high))
    return f"×{middle} [{low}, {high}]"


def gain(of: Answer, to: Answer, more_is_better: bool) -> stats.Interval:
    """How many times as good `of` is as `to`, with its interval.

    From six launches a side on, by the bootstrap over launches; with fewer, from the extremes of both sides, as such a
    small number of launches has no distribution to speak of.
    """
    top, bottom = (of, to) if more_is_better else (to, of)
    a, b = top.value, bottom.value
    if b.low <= 0:
        raise _CannotTest("a value is zero, so there is no ratio")
    if top.modelled and bottom.modelled:  # the same uncertain capacities stand behind both: edge over edge
        edges = (a.low / b.low, a.middle / b.middle, a.high / b.high)
        return stats.Interval(min(edges), a.middle / b.middle, max(edges))
    if min(len(of.launches), len(to.launches)) >= ENOUGH:
        return stats.ratio_interval(top.launches, bottom.launches)
    a, b = top.reach, bottom.reach
    return stats.Interval(a.low / b.high, a.middle / b.middle, a.high / b.low)


def quotient(a: stats.Interval, b: stats.Interval) -> stats.Interval:
    """The ratio of two independent factors, their intervals joined in the logarithm (Zou and Donner 2008)."""
    if min(a.low, b.low) <= 0:
        raise _CannotTest("a gain is zero, so there is no ratio of gains")
    middle = math.log(a.middle / b.middle)
    below = math.hypot(math.log(a.middle / a.low), math.log(b.high / b.middle))
    above = math.hypot(math.log(a.high / a.middle), math.log(b.middle / b.low))
    return stats.Interval(math.exp(middle - below), math.exp(middle), math.exp(middle + above))


def _cell(study: Study, measure: str, levels: Levels) -> Cell:
    return Cell(measure, study.full(levels))


def _answer(study: Study, answers: Answers, measure: str, levels: Levels, at: str) -> Answer:
    cell = _cell(study, measure, levels)
    if cell in answers.absent:
        raise _CannotTest(answers.absent[cell])
    found = answers.values.get(cell, {}).get(at)
    where = f"{cell}{f' at {at}' if at else ''}"
    if found is None:
        raise _CannotTest(f"{where}: {answers.gaps.get((cell, at), 'not measured')}")
    other = next((doubt for doubt in found.doubts if doubt.startswith("NOT AS ASKED")), "")
    if other:  # a verdict on it would be one on something else
        raise _CannotTest(f"{where}: {other}")
    return found


def _gain(study: Study, answers: Answers, measure: str, of: Levels, to: Levels, at: str, to_at: str = "") -> _Seen:
    cells = _cell(study, measure, of), _cell(study, measure, to)
    first, second = (_answer(study, answers, measure, levels, a) for levels, a in ((of, at), (to, to_at or at)))
    if cells[0] != cells[1] and answers.same.get(cells[0], cells[0]) == answers.same.get(cells[1], cells[1]):
        raise _CannotTest("both combinations come to the same launch")
    launches = min(len(first.launches), len(second.launches))
    return _Seen(gain(first, second, answers.better(measure)), Bar(), launches, doubts=first.doubts + second.doubts)


def _ratio(study: Study, answers: Answers, test: Ratio) -> _Seen:
    seen = _gain(study, answers, test.measure, test.of, test.to, test.at, test.to_at)
    at = f" at {test.at}{f' over {test.to_at}' if test.to_at else ''}" if test.at else ""
    pairs = zip(study.factors, study.full(test.of), study.full(test.to), strict=True)
    apart = [(factor, of, to) for factor, of, to in pairs if of != to]
    several = len(study.factors) > 1
    turned = ", ".join(f"{f'{factor} ' if several else ''}{of} over {to}" for factor, of, to in apart)
    return _Seen(
        seen.here, test.bar, seen.launches, f" for {test.measure}{', ' * bool(turned)}{turned}{at}", seen.doubts
    )


def _interaction(study: Study, answers: Answers, test: Interaction) -> _Seen:
    one = _gain(study, answers, test.measure, test.of, test.to, test.at)
    other = _gain(study, answers, test.versus, test.of, test.to, test.versus_at)
    what = f": {test.measure} {factor_text(one.here)} over {test.versus} {factor_text(other.here)}"
    return _Seen(
        quotient(one.here, other.here), test.bar, min(one.launches, other.launches), what, one.doubts + other.doubts
    )


def _knee(study: Study, answers: Answers, test: Knee) -> _Seen:
    one = _position(study, answers, test.measure, test.of, test.step)
    if test.to is None:
        what = f", the place of the step on {_axis(study, test.measure)}"
        return replace(one, bar=test.bar, what=what)
    other = _position(study, answers, test.measure, test.to, test.step)
    a, b = one.here, other.here
    moved = stats.Interval(a.low / b.high, a.middle / b.middle, a.high / b.low)
    launches, doubts = min(one.launches, other.launches), one.doubts + other.doubts
    return _Seen(moved, test.bar, launches, ", by which the step moves", doubts, ENOUGH)


def _axis(study: Study, measure: str) -> str:
    axis = study.measures[measure].axis
    return axis.knob if axis else ""


def _position(study: Study, answers: Answers, measure: str, levels: Levels, step: float) -> _Seen:
    """Where the curve first is worse by `step` than the best before: the median over launches, and their range.

    The range holds the median of launches to come in 97 % from six launches on, and in 75 % with three.
    """
    axis = study.measures[measure].axis
    curve = [_answer(study, answers, measure, levels, at) for at in (axis.values if axis else ())]
    places = [number(at) for at in (axis.values if axis else ())]
    better = answers.better(measure)
    modelled = all(answer.modelled is not None for answer in curve)
    launches = 0 if modelled else min(len(answer.launches) for answer in curve)
    rows = (
        [[answer.value.middle for answer in curve]]
        if modelled
        else [[float(np.median(answer.launches[n])) for answer in curve] for n in range(launches)]
    )
    found = [knee(places, row, step, better) for row in rows]
    known = [place for place in found if place is not None]
    if len(known) < len(found) or not found:
        raise _CannotTest(f"no step by ×{step:g} on the axis for {', '.join(study.full(levels))}")
    here = stats.Interval(min(known), float(np.median(known)), max(known))
    return _Seen(here, Bar(), launches, doubts=_doubts(curve), least=ENOUGH)


def _doubts(curve: Iterable[Answer]) -> tuple[str, ...]:
    return tuple(doubt for answer in curve for doubt in answer.doubts)


def knee(places: Sequence[float], values: Sequence[float], step: float, more_is_better: bool) -> float | None:
    """The first place where the value is worse by the factor `step` than the best at any place before it."""
    best = values[0]
    for place, value in zip(places[1:], values[1:], strict=True):
        if (best / value if more_is_better else value / best) >= step:
            return place
        best = max(best, value) if more_is_better else min(best, value)
    return None


def _spread(study: Study, answers: Answers, test: Spread) -> _Seen:
    axis = study.measures[test.measure].axis
    over = test.over or (axis.values if axis else ())
    curve = [_answer(study, answers, test.measure, test.of, at) for at in over]
    values = [answer.value for answer in curve]
    middles = [value.middle for value in values]
    if min(value.low for value in values) <= 0:
        raise _CannotTest("a value is zero, so there is no spread")
    middle = max(middles) / min(middles)
    if all(answer.modelled for answer in curve):  # as in `gain`: edge by edge
        edges = [[value.low for value in values], middles, [value.high for value in values]]
        spreads = [max(edge) / min(edge) for edge in edges]
        return _Seen(stats.Interval(min(spreads), middle, max(spreads)), test.bar, 0, ", largest over smallest")
    reach = [answer.reach for answer in curve]
    low = max(value.low for value in reach) / min(value.high for value in reach)
    high = max(value.high for value in reach) / min(value.low for value in reach)
    launches = min(len(answer.launches) for answer in curve)
    here = stats.Interval(max(1.0, low), middle, high)
    return _Seen(here, test.bar, launches, ", largest over smallest", _doubts(curve), ENOUGH)


def _agrees(study: Study, answers: Answers, test: Agrees) -> _Seen:
    """The point that agrees least, which decides: one value outside the bar is a disagreement."""
    cell = _cell(study, test.measure, test.of)
    told = [row for row in published.rows(study) if row.cell == cell and (not test.over or row.at in test.over)]
    if not told:
        raise _CannotTest(f"nothing is published for {cell}")
    found = []
    for row in told:
        answer = _answer(study, answers, test.measure, test.of, row.at)
        value = answer.value
        if min(value.low, row.value) <= 0:
            raise _CannotTest("a value is zero, so there is no ratio")
        here = stats.Interval(value.low / row.value, value.middle / row.value, value.high / row.value)
        found.append(_Seen(here, test.bar, len(answer.launches), row.at, answer.doubts, ENOUGH))
    ranks = ("holds", "undecided", "does not hold")
    worst = max(found, key=lambda one: (ranks.index(_status(one, test.bar)), abs(math.log(one.here.middle))))
    middles = [one.here.middle for one in found]
    at = f" at {worst.what}" if worst.what else ""
    rest = f", the worst of {len(found)} from {published.range_text((min(middles), max(middles)))}" * (len(found) > 1)
    return replace(worst, what=f", ours over theirs{at}{rest}")


_SEEN: Mapping[type, Callable[..., _Seen]] = {
    Ratio: _ratio,
    Interaction: _interaction,
    Knee: _knee,
    Spread: _spread,
    Agrees: _agrees,
}


def _order(study: Study, answers: Answers, test: Order, finding: catalogue.Finding) -> Verdict:
    bar = Bar(above=1 - test.margin)
    steps = [
        _gain(study, answers, test.measure, better, worse, test.at)
        for better, worse in zip(test.places, test.places[1:], strict=False)
    ]
    found = [_status(step, bar) for step in steps]
    said = " > ".join("/".join(levels.values()) or "baseline" for levels in test.places)
    why = f"{said}: {', '.join(factor_text(step.here) for step in steps)} from one to the next here{_doubt_text(steps)}"
    if "does not hold" in found:
        return Verdict(finding, "does not hold", why)
    if "undecided" not in found:
        return Verdict(finding, "holds", why)
    needed = [launches_needed(s.here, bar, s.launches) for s, f in zip(steps, found, strict=True) if f == "undecided"]
    more = None if None in needed else max(n for n in needed if n is not None)
    return Verdict(
        finding, "undecided", f"{why}; {_more_text(more, min(s.launches for s in steps))}", more_launches=more
    )


def _most(
    study: Study, answers: Answers, test: Most, finding: catalogue.Finding, there: tuple[float, float] | None
) -> Verdict:
    bar = Bar(above=test.gain)
    seen: dict[str, _Seen] = {}
    reasons: dict[str, str] = {}
    for measure in test.measures or tuple(study.measures):
        axis = study.measures[measure].axis
        try:
            seen[measure] = _gain(study, answers, measure, test.of, test.to, axis.values[-1] if axis else "")
        except _CannotTest as reason:
            reasons[measure] = str(reason)
    count = len(seen) + len(reasons)
    found = {measure: _status(s, bar) for measure, s in seen.items()}
    yes, open_ = (sum(f == status for f in found.values()) for status in ("holds", "undecided"))
    values = ", ".join(f"{m} {factor_text(s.here)}" for m, s in seen.items())
    said = [f"{published.range_text(there)} there"] if there else []
    why = ", ".join([*said, f"{yes} of {count} gain here"]) + f": {values}{_doubt_text(seen.values())}"
    if yes >= test.share * count:
        return Verdict(finding, "holds", why, there=there)
    if yes + open_ + len(reasons) < test.share * count:
        return Verdict(finding, "does not hold", why, there=there)
    if yes + open_ < test.share * count or not seen:  # what could not be asked decides
        raise _CannotTest(next(iter(reasons.values())))
    needed = [launches_needed(seen[m].here, bar, seen[m].launches) for m, f in found.items() if f == "undecided"]
    more = None if None in needed else max(n for n in needed if n is not None)
    launches = min(s.launches for s in seen.values())
    return Verdict(finding, "undecided", f"{why}; {_more_text(more, launches)}", there=there, more_launches=more)
