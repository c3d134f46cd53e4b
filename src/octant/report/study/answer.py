"""What a study answers, how many findings came out how, and how far it can be believed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from octant import units
from octant.analysis.causes import LOST_LITTLE, grade_of_share_lost, share_lost
from octant.report.claims import grade_of_verdicts
from octant.report.screen.answer import Reliability
from octant.report.study.rows import gain_here, machines_there
from octant.stats import Estimate, Grade, graded
from octant.stats.grades import GRADE_NAMES
from octant.stats.paired import LEAST_ROUNDS
from octant.stats.verdicts import MARGIN, percent
from octant.study.parts import Cell
from octant.study.question import quantities

if TYPE_CHECKING:
    from octant.stats.grades import GradeName
    from octant.stats.verdicts import Verdict as Told
    from octant.study.outcome import Outcome
    from octant.study.values import Bounded, Place

_TIMES = 2.0  # from here on a gain is written as a factor


@dataclass(frozen=True)
class Adopted:
    """A combination that is better than the baseline for a measure, at the axis value where it is so most surely."""

    place: Place
    told: Told
    everywhere: tuple[str, ...]  # all axis values at which it is better


def answer(outcome: Outcome) -> str:
    """What was found here, and what was published: a sentence each."""
    here = _modelled(outcome) if outcome.run is None else _measured(outcome)
    return f"{here} {_published_sentence(outcome)}".strip()


def _measured(outcome: Outcome) -> str:
    told, base = outcome.baseline_verdicts, baseline(outcome)
    words = {verdict.word for verdict in told.values()}
    if adopted := adopted_settings(outcome):
        place, verdict = adopted[0].place, adopted[0].told
        lost = next(
            (f", but {ratio(told[one])}{of_measure(outcome, one)}" for one in costs(outcome, place[0].levels)), ""
        )
        return f"Here {setting(outcome, place)} brings {ratio(verdict)}{of_measure(outcome, place)} over {base}{lost}."
    if not told and (best := best_of_all(outcome)):
        return f"Here {_scaled(outcome, *best)}."
    if not told:
        return "Here nothing could be compared with the baseline."
    if words == {"same"}:
        return f"Here every setting runs the same within {percent(MARGIN)} of {base}."
    if words == {"no verdict"}:
        most = max(verdict.number for verdict in told.values())
        return f"Here {units.counted(most, 'round')} give no verdict: {LEAST_ROUNDS} are the least."
    if words <= {"slower", "same"}:
        place, verdict = min(told.items(), key=lambda one: middle(one[1]))
        worst = f"{setting(outcome, place)} is {ratio(verdict)}{of_measure(outcome, place)}"
        return f"Here nothing is better than {base}; {worst}."
    if "faster" in words:
        place, verdict = max(told.items(), key=lambda one: middle(one[1]))
        better = f"{setting(outcome, place)} is {ratio(verdict)}{of_measure(outcome, place)}"
        return f"Here {better}, which is not surely more than {percent(MARGIN)} better than {base}."
    most_hidden = max(verdict.speed.high for verdict in told.values() if verdict.speed)
    if "no verdict" in words:
        return f"Here no setting is shown to be better than {base}; some have too few rounds for a verdict."
    if any(verdict.speed and verdict.speed.is_too_wide for verdict in told.values()):
        return f"Here no setting is shown to be better than {base}; the launches differ too much to tell."
    hidden = percent(most_hidden - 1) if most_hidden < _TIMES else times(most_hidden)
    return f"Here no setting can be told to be better than {base}; a gain of up to {hidden} could hide."


def _modelled(outcome: Outcome) -> str:
    best, base = best_of_all(outcome), baseline(outcome)
    if best is None:
        return _held_in_model(outcome)
    place, gained = best
    if outcome.study.is_published:
        system = units.capital(", ".join(place[0].levels))
        return f"{system} has {times(gained.middle)}{of_measure(outcome, place)} of {base}."
    if outcome.study.is_scaled(place[0].levels):
        return f"In the model {_scaled(outcome, place, gained)}."
    if gained.middle > 1 + MARGIN:
        where = of_measure(outcome, place)
        return f"In the model {setting(outcome, place)} brings {times(gained.middle)}{where} over {base}."
    return f"In the model nothing is better than {base} by more than {percent(MARGIN)}."


def _scaled(outcome: Outcome, place: Place, gained: Bounded) -> str:
    """Of what is larger than the baseline, not better: `ranks 2 has × 1.90 for fft of ranks 1`."""
    return f"{setting(outcome, place)} has {times(gained.middle)}{of_measure(outcome, place)} of {baseline(outcome)}"


def _held_in_model(outcome: Outcome) -> str:
    """How many comparisons hold, and how many rest on what the model was calibrated on."""
    every = outcome.verdicts
    held = sum(one.status == "holds" for one in every)
    findings = units.counted(len({one.finding.id for one in every}), "published finding")
    text = f"{held} of {units.counted(len(every), 'comparison')} with {findings} hold in the model"
    partly = sum(bool(one.calibrated) and one.predicted for one in every)
    known = sum(not one.predicted for one in every)
    rest = [f"{partly} rest in part on values that it was calibrated on"] * bool(partly)
    rest += [f"{known} rest on such values alone, where agreement is no evidence"] * bool(known)
    return f"{text}; {' and '.join(rest)}." if rest else f"{text}."


def _published_sentence(outcome: Outcome) -> str:
    """`On the Power 755 binding yes, memory local brought × 2.15.`; empty where nothing of the kind was published."""
    gains = {place: (low * high) ** 0.5 for place, (low, high) in outcome.published_gains.items()}
    best = max(gains, key=lambda one: gains[one], default=None)
    if best is None:
        return ""
    where = f"On the {machines_there(outcome, best[0].measure)}"
    if gains[best] > 1 + MARGIN:
        return f"{where} {setting(outcome, best)} brought {times(gains[best])}."
    worst = min(gains, key=lambda one: gains[one])
    return f"{where} nothing brought more than {percent(MARGIN)}; {setting(outcome, worst)} was {times(gains[worst])}."


def adopted_settings(outcome: Outcome) -> list[Adopted]:
    """The best setting of each measure whose gain's near end is beyond the margin: those without `costs` before the
    others, the greatest gain first.
    """
    better = {
        place: told for place, told in outcome.baseline_verdicts.items() if told.word == "faster" and told.beyond_margin
    }
    found = []
    for measure in outcome.study.measures:
        mine = {place: told.speed.low for place, told in better.items() if told.speed and place[0].measure == measure}
        if mine:
            best = max(mine, key=lambda one: mine[one])
            found.append(Adopted(best, better[best], tuple(at for cell, at in mine if cell == best[0])))
    return sorted(found, key=lambda one: (bool(costs(outcome, one.place[0].levels)), -middle(one.told)))


def costs(outcome: Outcome, levels: tuple[str, ...]) -> list[Place]:
    """Where a setting is proven to be slower, beyond the margin: the slowest place of each measure, the worst first."""
    worst: dict[str, Place] = {}
    for place, told in sorted(outcome.baseline_verdicts.items(), key=lambda one: middle(one[1])):
        if place[0].levels == levels and told.word == "slower" and told.beyond_margin:
            worst.setdefault(place[0].measure, place)
    return list(worst.values())


def best_of_all(outcome: Outcome) -> tuple[Place, Bounded] | None:
    """The place that is surest to be better than the baseline at the same axis value, with its gain."""
    gains: dict[Place, Bounded] = {}
    base = outcome.study.full({})
    for cell, curve in outcome.values.by_cell.items():
        origins = outcome.values.by_cell.get(Cell(cell.measure, base), {})
        for at, value in curve.items() if cell.levels != base else ():
            if any(caveat.grade >= Grade.INVALID for caveat in value.caveats):
                continue
            found = gain_here(outcome, cell.measure, value, origins.get(at))
            if found is not None:
                gains[cell, at] = found
    place = max(gains, key=lambda one: gains[one].low, default=None)
    return (place, gains[place]) if place else None


def reliability(outcome: Outcome) -> Reliability:
    """How far a study can be believed: lost time, the baseline's interval, few launches, what is undecided."""
    if outcome.run is None:
        return Reliability("note", _reliability_in_model(outcome), ())
    lost = share_lost(outcome.run.points)
    grades: list[GradeName] = [grade_of_share_lost(lost)]
    parts = [f"other work took {percent(lost)} of the time"] if lost and lost > LOST_LITTLE else []
    if wide := _wide_baseline(outcome):
        grades.append(wide[0])
        parts.append(wide[1])
    found = outcome.values.by_cell.values()
    launches = min((len(value.launches) for curve in found for value in curve.values()), default=0)
    if launches < LEAST_ROUNDS:
        grades.append("limited")
        few = units.counted(launches, "launch")
        parts.append(f"a combination has {few}, where {LEAST_ROUNDS} are the least for a verdict")
    told = outcome.baseline_verdicts.values()
    grades.append(grade_of_verdicts(told))
    if undecided := sum(not one.is_decided for one in told):
        parts.append(f"{undecided} of {units.counted(len(told), 'comparison')} with the baseline not decided")
    text = f"{units.capital('; '.join(parts))}. " if parts else ""
    text += "Verdicts stand only where the whole interval clears the bar."
    return Reliability(max(grades, key=GRADE_NAMES.index), text, ())


def _reliability_in_model(outcome: Outcome) -> str:
    if outcome.study.is_published:
        return "Published values, as they are printed; nothing was modelled, and no error is known."
    found = [value.value for curve in outcome.values.by_cell.values() for value in curve.values()]
    bounds = "with the bounds of its own constants" if any(one.low < one.high for one in found) else "without bounds"
    text = f"Values of a model, {bounds}; nothing was measured, and there is no statistical error."
    calibrated = sum(not one.predicted for one in outcome.verdicts)
    verb = "rests" if calibrated == 1 else "rest"
    known = f" {units.counted(calibrated, 'verdict')} {verb} only on points on which it was calibrated."
    return text + known * bool(calibrated)


def _wide_baseline(outcome: Outcome) -> tuple[GradeName, str] | None:
    """The grade and the text of the baseline's widest interval; `None` where none is limited."""
    base = [cell for cell in outcome.values.by_cell if cell.levels == outcome.study.full({})]
    found = [(cell, value.value) for cell in base for value in outcome.values.by_cell[cell].values()]
    estimates = [(cell, value) for cell, value in found if isinstance(value, Estimate)]
    widths = [(half, cell, value) for cell, value in estimates if (half := value.relative_half_width)]
    half, cell, value = max(widths, key=lambda one: one[0], default=(0.0, None, None))
    grade = max((caveat.grade for caveat in graded("wide interval", half, "")), default=Grade.NOTE)
    if grade < Grade.LIMITED or cell is None or value is None:
        return None
    if value.is_too_wide:
        return GRADE_NAMES[
            grade
        ], f"{units.counted(value.number, 'launch')} of the baseline differ too much for an interval"
    unit = quantities(outcome.study)[cell.measure].unit
    ends = f"{units.si_text(value.low, unit)} … {units.si_text(value.high, unit)}"
    return GRADE_NAMES[grade], f"the interval of the baseline alone is {ends}"


def counts(outcome: Outcome) -> list[tuple[int, str]]:
    """How many findings came out how; what holds because the model was calibrated on it is counted apart."""
    held = [one for one in outcome.verdicts if one.status == "holds"]
    known = sum(not one.predicted for one in held)
    rows = [(len(held) - known, "holds", "hold")]
    rows += [(known, "calibrated on this", "calibrated on this")] if known else []
    for status, several in (("does not hold", "do not hold"), *((word, word) for word in _OPEN)):
        rows.append((sum(one.status == status for one in outcome.verdicts), status, several))
    return [(number, one if number == 1 else several) for number, one, several in rows]


_OPEN = ("undecided", "cannot be tested here")


def setting(outcome: Outcome, place: Place) -> str:
    """A combination as what differs from the baseline: `binding yes, memory local`."""
    pairs = zip(outcome.study.factors, place[0].levels, strict=True)
    apart = [f"{factor} {level}" for factor, level in pairs if outcome.study.baseline[factor] != level]
    return ", ".join(apart) or "the baseline"


def baseline(outcome: Outcome) -> str:
    """The baseline in words: its level where there is one factor."""
    levels = [f"{factor} {level}" for factor, level in outcome.study.baseline.items()]
    return levels[0] if len(levels) == 1 else "the baseline"


def of_measure(outcome: Outcome, place: Place) -> str:
    """` for updates at 256 MiB`, as far as the study has several measures, or an axis."""
    named = f" for {place[0].measure}" if len(outcome.study.measures) > 1 else ""
    axis = outcome.study.measures[place[0].measure].axis
    return named + (f" at {axis.label(place[1])}" if axis and place[1] else "")


def middle(told: Told) -> float:
    """The ratio of a verdict; 1 where there is none."""
    return told.speed.middle if told.speed else 1.0


def ratio(told: Told) -> str:
    """The ratio of a verdict: `× 1.70`."""
    return times(middle(told))


def times(factor: float) -> str:
    """`× 1.70`, `× 14.4`."""
    return f"× {factor:.3g}" if factor >= 10 else f"× {factor:.2f}"
