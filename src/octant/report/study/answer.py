"""The answer of a study, the numbers of findings by status, and the reliability of its values."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import chain
from typing import NamedTuple

from octant import units
from octant.analysis.causes import LOST_LITTLE, grade_of_share_lost, share_lost
from octant.report.claims import grade_of_verdicts
from octant.report.screen.answer import Reliability
from octant.report.study.rows import baseline_name, difference_text, is_invalid, machines_there, places
from octant.report.tables.layout import fill
from octant.stats import Estimate, Grade, graded
from octant.stats.grades import GRADE_NAMES, GradeName
from octant.stats.paired import LEAST_ROUNDS
from octant.stats.verdicts import MARGIN, Verdict, percent
from octant.study.outcome import Outcome
from octant.study.question import quantities
from octant.study.values import Bounded, Place

_FACTOR = 2.0  # gains from here on are written as a factor


@dataclass(frozen=True)
class Gain:
    """A setting over the baseline, as texts: `binding yes`, `× 1.70`, ` for updates at 256 MiB`."""

    setting: str
    ratio: str
    at: str
    middle: float

    @classmethod
    def of(cls, outcome: Outcome, place: Place, factor: float = 0.0) -> Gain:
        """Return the gain of a configuration; without a factor that of its verdict against the baseline."""
        factor = factor or middle(outcome.baseline_verdicts[place])
        setting = difference_text(outcome.study, place[0].levels) or "the baseline"
        measures, axis = outcome.study.measures, outcome.study.measures[place[0].measure].axis
        at = f" for {place[0].measure}" if len(measures) > 1 else ""
        return cls(setting, times(factor), at + (f" at {axis.label(place[1])}" if axis and place[1] else ""), factor)


class Adopted(NamedTuple):
    """A configuration that is better than the baseline for a measure, at the axis value with the surest gain."""

    place: Place
    everywhere: tuple[str, ...]  # all axis values at which it is better


def answer(outcome: Outcome) -> str:
    """Return what was found on this machine and what was published, a sentence each."""
    here = _model_answer(outcome) if outcome.run is None else _measured_answer(outcome)
    return f"{here} {_published_answer(outcome)}".strip()


def _measured_answer(outcome: Outcome) -> str:
    verdicts = outcome.baseline_verdicts
    words = {verdict.word for verdict in verdicts.values()}
    case, place, factor, lost = "hidden", None, 0.0, list[Gain]()
    if adopted := adopted_settings(outcome):
        case, place = "adopt", adopted[0].place
        lost = costs(outcome, place[0].levels)
    elif outcome.study.has_only_parts:
        case = "parts"
    elif not verdicts and (best := best_of_all(outcome)):
        case, place, factor = "scaled", best[0], best[1].middle
    elif not verdicts:
        case = "nothing"
    elif words == {"equivalent"}:
        case = "equivalent"
    elif words == {"insufficient data"}:
        case = "few"
    elif "faster" in words:
        case, place = "uncertain", max(reversed([*verdicts]), key=lambda one: middle(verdicts[one]))
    elif words <= {"slower", "equivalent"}:
        case, place = "keep", min(verdicts, key=lambda one: middle(verdicts[one]))
    elif "insufficient data" in words:
        case = "some few"
    elif any(verdict.speed and verdict.speed.is_too_wide for verdict in verdicts.values()):
        case = "too wide"
    most = max((verdict.speed.high for verdict in verdicts.values() if verdict.speed), default=1.0)
    return fill(
        "study/answer", "measured", case=case, base=baseline_text(outcome), margin=percent(MARGIN),
        smallest=percent(most - 1) if most < _FACTOR else times(most), least=LEAST_ROUNDS,
        rounds=max((one.number for one in verdicts.values()), default=0), cost=lost[0] if lost else None,
        gain_=Gain.of(outcome, place, factor) if place else None,
    )  # fmt: skip


def _model_answer(outcome: Outcome) -> str:
    best = best_of_all(outcome)
    if best is None:
        every = outcome.verdicts
        return fill(
            "study/answer", "held", holding=sum(one.status == "holds" for one in every), comparisons=len(every),
            findings=len({one.finding.id for one in every}), known=sum(not one.predicted for one in every),
            partly=sum(bool(one.calibrated) and one.predicted for one in every),
        )  # fmt: skip
    place, gained = best
    gain, case = Gain.of(outcome, place, gained.middle), "better"
    if outcome.study.is_published:
        case, gain = "published", replace(gain, setting=", ".join(place[0].levels))
    elif not outcome.study.is_scaled(place[0].levels) and gained.middle <= 1 + MARGIN:
        case = "nothing"
    return fill("study/answer", "modelled", case=case, base=baseline_text(outcome), margin=percent(MARGIN), gain_=gain)


def _published_answer(outcome: Outcome) -> str:
    """Return the best published gain: `On the Power 755, binding yes, memory local gave × 2.15.`; empty if none is."""
    gains = {place: (low * high) ** 0.5 for place, (low, high) in outcome.published_gains.items()}
    if not gains:
        return ""
    best, worst = (function(gains, key=lambda one: gains[one]) for function in (max, min))
    return fill(
        "study/answer", "published", machines=machines_there(outcome, best[0].measure),
        best=Gain.of(outcome, best, gains[best]), worst=Gain.of(outcome, worst, gains[worst]),
        margin={"value": MARGIN, "text": percent(MARGIN)},
    )  # fmt: skip


def adopted_settings(outcome: Outcome) -> list[Adopted]:
    """Return the best setting of each measure whose gain exceeds the margin for certain.

    Settings without `costs` are first, then the largest gain.
    """
    verdicts = outcome.baseline_verdicts
    found = []
    for measure in outcome.study.measures:
        mine = {
            place: one.speed.low for place, one in verdicts.items()
            if place[0].measure == measure and one.word == "faster" and one.beyond_margin and one.speed
        }  # fmt: skip
        if mine:
            best = max(mine, key=lambda one: mine[one])
            found.append(Adopted(best, tuple(at for cell, at in mine if cell == best[0])))
    return sorted(found, key=lambda one: (bool(costs(outcome, one.place[0].levels)), -middle(verdicts[one.place])))


def costs(outcome: Outcome, levels: tuple[str, ...]) -> list[Gain]:
    """Return where a setting is slower by more than the margin: the slowest place of each measure, the worst first."""
    worst: dict[str, Gain] = {}
    for place, verdict in sorted(outcome.baseline_verdicts.items(), key=lambda one: middle(one[1])):
        if place[0].levels == levels and verdict.word == "slower" and verdict.beyond_margin:
            worst.setdefault(place[0].measure, Gain.of(outcome, place))
    return list(worst.values())


def best_of_all(outcome: Outcome) -> tuple[Place, Bounded] | None:
    """Return the place with the surest gain over the baseline at the same axis value, and the gain."""
    every = [place for measure in outcome.study.measures for place in places(outcome, measure)]
    gains = [((one.cell, one.at), one.gained) for one in every if one.gained and not is_invalid(one.ours)]
    return max(gains, key=lambda one: one[1].low, default=None)


def reliability(outcome: Outcome) -> Reliability:
    """Return the reliability of a study: lost time, launches, the baseline and undecided comparisons."""
    curves = outcome.values.by_cell.values()
    if outcome.run is None:
        bounded = any(value.value.low < value.value.high for curve in curves for value in curve.values())
        text = fill(
            "study/answer", "model_reliability", published=outcome.study.is_published, bounded=bounded,
            calibrated=sum(not one.predicted for one in outcome.verdicts) * (not outcome.study.is_published),
        )  # fmt: skip
        return Reliability("note", text, ())
    lost = share_lost(outcome.run.points)
    verdicts = outcome.baseline_verdicts.values()
    wide_grade, wide, interval = _baseline_interval(outcome)
    grades: list[GradeName] = [grade_of_share_lost(lost), wide_grade, grade_of_verdicts(verdicts)]
    values = [value for curve in curves for value in curve.values()]
    launches = min((len(value.launches) for value in values), default=0)
    limits = [[one.kind for one in value.caveats if one.grade > Grade.NOTE] for value in values]
    grades += ["limited"] * (launches < LEAST_ROUNDS or any(limits))
    text = fill(
        "study/answer", "reliability", lost=lost if lost and lost > LOST_LITTLE else 0, wide=wide, interval=interval,
        launches=launches, least=LEAST_ROUNDS, comparisons=len(verdicts),
        undecided=sum(not one.is_decided for one in verdicts), values=len(values), limited=sum(map(bool, limits)),
        kinds=list(dict.fromkeys(chain.from_iterable(limits))),
    )  # fmt: skip
    return Reliability(max(grades, key=GRADE_NAMES.index), " ".join(text.split()), ())


def _baseline_interval(outcome: Outcome) -> tuple[GradeName, int, str]:
    """Return the grade of the baseline's widest interval, its launches if too wide, and its ends if wide."""
    base = [cell for cell in outcome.values.by_cell if cell.levels == outcome.study.full({})]
    found = [(cell, value.value) for cell in base for value in outcome.values.by_cell[cell].values()]
    estimates = [(cell, value) for cell, value in found if isinstance(value, Estimate)]
    widths = [(half, cell, value) for cell, value in estimates if (half := value.relative_half_width)]
    if not widths:
        return "reliable", 0, ""
    half, cell, value = max(widths, key=lambda one: one[0])
    grade = max((caveat.grade for caveat in graded("wide interval", half, "")), default=Grade.NOTE)
    if grade < Grade.LIMITED:
        return "reliable", 0, ""
    unit = quantities(outcome.study)[cell.measure].unit
    ends = f"{units.si_text(value.low, unit)} … {units.si_text(value.high, unit)}"
    return GRADE_NAMES[grade], value.number * value.is_too_wide, ends


def counts(outcome: Outcome) -> list[tuple[int, str]]:
    """Return the number of findings by status; those that hold only by calibration are counted separately."""
    held = [one for one in outcome.verdicts if one.status == "holds"]
    known = sum(not one.predicted for one in held)
    rows = [(len(held) - known, "holds", "hold")] + [
        (known, "holds (used for calibration)", "hold (used for calibration)")
    ] * bool(known)
    for status in ("does not hold", "undecided", "cannot be tested here"):
        number = sum(one.status == status for one in outcome.verdicts)
        rows.append((number, status, status.replace("does", "do")))
    return [(number, one if number == 1 else plural) for number, one, plural in rows]


def baseline_text(outcome: Outcome) -> str:
    """Return the level of the baseline if there is one factor, else `the baseline`."""
    return baseline_name(outcome.study) if len(outcome.study.factors) == 1 else "the baseline"


def middle(verdict: Verdict) -> float:
    """Return the ratio of a verdict; 1 if it has none."""
    return verdict.speed.middle if verdict.speed else 1.0


def times(factor: float) -> str:
    """Return a factor: `× 1.70`, `× 14.4`."""
    return f"× {factor:.3g}" if factor >= 10 else f"× {factor:.2f}"
