"""Rows of the tables of a study: our values, published values and predictions, each relative to the baseline."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from octant import catalogue, stats, units
from octant.report import claims
from octant.report.network.answers import NotedTable, interval_text, measured_answers, system_answers
from octant.stats import Grade
from octant.stats.grades import SIGNS
from octant.study.outcome import Outcome
from octant.study.parts import Cell
from octant.study.question import Study, quantities
from octant.study.ratios import digits, factor_text, gain, range_text, stated
from octant.study.values import Bounded, CannotTest, PublishedValue, StudyValue

MODEL_ENDS = "model: from no overlap to full overlap of computing and messages; × model: value here over the nearer end"
UNSURE_RATIOS = f"{SIGNS['not measurable']} after a ratio: one of its two values is not measurable"
"""Meaning of the sign after a ratio; follows a sentence on values that are not measurable."""


@dataclass(frozen=True)
class StudyPlace:
    """A configuration at an axis value (`""`: no axis), with our value, the published one and the predicted one."""

    cell: Cell
    at: str
    is_baseline: bool
    ours: StudyValue | None
    gained: Bounded | None  # our value over that of the baseline; `None` for the baseline
    unsure: bool  # our value or that of the baseline is not measurable
    published: PublishedValue | None
    gain_there: tuple[float, float] | None  # published, over the baseline
    predicted: stats.Interval | None

    @property
    def known(self) -> bool:
        """Whether there is a value of ours or a published one."""
        return bool(self.ours or self.published or self.gain_there)


def every_place(outcome: Outcome, measure: str) -> list[StudyPlace]:
    """Return each configuration of a measure at each axis value."""
    axis = outcome.study.measures[measure].axis
    ours, predicted = outcome.values.by_cell, outcome.predictions.by_cell
    there, gains = {(one.cell, one.at): one for one in outcome.published}, outcome.published_gains
    found = []
    for cell in outcome.cells(measure):
        base = outcome.study.baseline_of(cell.levels)
        for at in axis.values if axis else ("",):
            value, origin = ours.get(cell, {}).get(at), ours.get(Cell(measure, base), {}).get(at)
            gained = _gain(outcome, measure, value, origin) if cell.levels != base else None
            unsure = is_invalid(value) or is_invalid(origin)
            place = (there.get((cell, at)), gains.get((cell, at)), predicted.get(cell))
            found.append(StudyPlace(cell, at, cell.levels == base, value, gained, unsure, *place))
    return found


def places(outcome: Outcome, measure: str) -> list[StudyPlace]:
    """Return the rows of the table of a measure: the places with a value of ours or a published one."""
    return [place for place in every_place(outcome, measure) if place.known]


def columns_and_rows(outcome: Outcome, measure: str) -> tuple[list[str], list[list[str]]]:
    """Return the table of a measure as texts: only factors that differ in a run, and only columns with a value."""
    study, axis = outcome.study, outcome.study.measures[measure].axis
    found, factors = places(outcome, measure), list(outcome.study.factors)
    marks = [_marks(values) for values in _bounded(found)]
    rows = [_row(outcome, measure, place, marks) for place in found]
    if outcome.run is not None:
        factors = [name for name in factors if len({study.baseline[name], *(row[name] for row in rows)}) > 1]
    optional = ("of limit", "× baseline", "model", "× model", "there", "× there", "caveats")
    columns = [*factors, *([axis.knob] if axis else []), "here"]
    columns += [column for column in optional if any(row[column] for row in rows)]
    return columns, [[row[column] for column in columns] for row in rows]


def _row(
    outcome: Outcome, measure: str, place: StudyPlace, marks: Sequence[Mapping[claims.Sort, str]]
) -> dict[str, str]:
    """Return the cells of a row by column; `marks` are those of the columns `here` and `× baseline`."""
    axis, unit = outcome.study.measures[measure].axis, quantities(outcome.study)[measure].unit
    ours, there, model, gained = place.ours, place.published, place.predicted, place.gained
    sign = f" {SIGNS['not measurable']}" * place.unsure
    return {
        **dict(zip(outcome.study.factors, place.cell.levels, strict=True)),
        **({axis.knob: axis.label(place.at)} if axis else {}),
        "here": value_text(stated_value(ours), unit) + _mark_of(stated_value(ours), marks[0]) if ours else "",
        "of limit": units.percent_text(share) if ours and (share := ours.of_limit) is not None else "",
        "× baseline": factor_text(gained) + _mark_of(stated(gained), marks[1]) + sign if gained else "",
        "model": interval_text(model, unit) if model else "",
        "× model": ratio_to_model(ours.value, model) if ours and model else "",
        "there": units.si_text(there.value, unit) if there else "",
        "× there": range_text(place.gain_there) if place.gain_there else "",
        "caveats": ", ".join(stats.warnings(ours.caveats)) if ours else "",
    }


def ratio_to_model(ours: Bounded, model: stats.Interval) -> str:
    """Return `within` if our value is in the range of the model, else its ratio to the nearer end."""
    if ours.high >= model.low and ours.low <= model.high:
        return "within"
    return f"×{digits(ours.middle / (model.low if ours.middle < model.low else model.high))}"


def _gain(outcome: Outcome, measure: str, ours: StudyValue | None, base: StudyValue | None) -> Bounded | None:
    try:
        return gain(ours, base, outcome.values.better(measure)) if ours and base else None
    except CannotTest:
        return None


def is_invalid(ours: StudyValue | None) -> bool:
    """Return whether our value is not measurable, or not of the requested configuration."""
    return ours is not None and any(caveat.grade == Grade.INVALID for caveat in ours.caveats)


def stated_value(ours: StudyValue) -> Bounded:
    """Return our value as views print it: without an interval if it is not measurable."""
    value = stated(ours.value)
    return value.without_interval if isinstance(value, stats.Estimate) and is_invalid(ours) else value


def _bounded(found: Sequence[StudyPlace]) -> tuple[list[Bounded], list[Bounded]]:
    """Return the values of the columns `here` and `× baseline`."""
    return [stated_value(place.ours) for place in found if place.ours], [
        stated(place.gained) for place in found if place.gained
    ]


def _marks(values: Sequence[Bounded]) -> dict[claims.Sort, str]:
    """Return a mark for each sort of value in a column; empty if there is only one."""
    sorts = claims.claims(one for one in values if isinstance(one, stats.Estimate))
    return {sort: claims.mark(number) for number, sort in enumerate(sorts)} if len(sorts) > 1 else {}


def _mark_of(value: Bounded, marks: Mapping[claims.Sort, str]) -> str:
    mark = marks.get(claims.sort_of(value)) if isinstance(value, stats.Estimate) else None
    return f" {mark}" if mark else ""


def ends_texts(outcome: Outcome, measure: str) -> list[str]:
    """Return the meaning of the brackets in the table of a measure, a line for each column and sort of value."""
    columns = _bounded(places(outcome, measure))
    if outcome.run is None:
        ranges = any(value.low < value.high for column in columns for value in column)
        return ["range that the evidence for calibrated capacities allows; not a statistical error"] * ranges
    lines = []
    for title, values in zip(("here", "× baseline"), columns, strict=True):
        texts, marks = claims.claims(one for one in values if isinstance(one, stats.Estimate)), _marks(values)
        lines += [f"{title}{' ' * bool(marks)}{marks.get(sort, '')}: {text}" for sort, text in texts.items()]
    return lines


def value_text(value: Bounded, unit: str) -> str:
    """Return a value with its ends: `21.3 GB/s [21.1, 21.5]`."""
    middle = units.si_text(value.middle, unit)
    if value.low == value.high:
        return middle
    number, _, prefixed = middle.partition(" ")
    scale = value.middle / float(number) if float(number) else 1.0
    power = 1000.0 ** round(math.log10(abs(scale)) / 3 if scale else 0.0)
    return f"{number} {prefixed} [{digits(value.low / power)}, {digits(value.high / power)}]"


def difference_text(study: Study, levels: Sequence[str]) -> str:
    """Return the levels of a configuration that differ from the baseline: `binding yes, memory local`."""
    pairs = zip(study.factors, levels, strict=True)
    return ", ".join(f"{factor} {level}" for factor, level in pairs if study.baseline[factor] != level)


def combination_names(study: Study, cells: Iterable[Cell]) -> dict[Cell, str]:
    """Return the names of configurations: the level of a single factor, else the difference from the baseline."""
    if len(study.factors) > 1:
        return {cell: difference_text(study, cell.levels) or baseline_name(study) for cell in cells}
    (levels,) = study.factors.values()
    return {cell: ": ".join(filter(None, (cell.levels[0], levels[cell.levels[0]].about))) for cell in cells}


def baseline_name(study: Study) -> str:
    """Return the levels of the baseline: `pages base`, `binding no, memory anywhere`."""
    return ", ".join(f"{factor} {level}" for factor, level in study.baseline.items())


def machines_there(outcome: Outcome, measure: str) -> str:
    """Return the machines whose published values are compared with ours: `Power 755`."""
    seen = [one.observation for one in outcome.published if measure == one.cell.measure]
    for test in outcome.study.findings if not seen else ():
        if test.there and test.test.compared(outcome.study):
            seen += catalogue.results()[test.there.table].find(test.there.metric, test.there.where)
    names = (_machine(one, one.machine.removeprefix("unspecified-").replace("plus", "+").replace("-", " ").upper())
             for one in seen)  # fmt: skip
    return ", ".join(dict.fromkeys(re.split(r" \(|;| at ", name)[0].removeprefix("IBM ") for name in names))


def _machine(row: catalogue.Observation, otherwise: str) -> str:
    """Return the name of a machine, or what is known of one that its document does not name."""
    known = catalogue.machines().get(row.machine)
    return known.name if known else otherwise


def further_tables(outcome: Outcome) -> list[NotedTable]:
    """Return predictions for more nodes and for described machines, then published tables."""
    predictions = outcome.predictions
    found = [measured_answers(predictions.larger)] if predictions.larger else []
    found += [system_answers(one) for one in predictions.systems]
    larger = [replace(one, title=f"Model: {one.title}", id=f"larger-{n}") for n, one in enumerate(found, 1)]
    return [*larger, *published_tables(outcome.study)]


def published_tables(study: Study) -> tuple[NotedTable, ...]:
    """Return the published tables that findings name, without those whose values are compared with ours."""
    compared = {one.table for one in study.published}
    compared |= {one.there.table for one in study.findings if one.there and one.test.compared(study)}
    found: dict[str, NotedTable] = {}
    for there in (one.there for one in study.findings if one.there):
        table = catalogue.results()[there.table]
        if table.id in compared or table.id in found:
            continue
        rows = table.find(there.metric, {} if there.to else there.where)
        columns = [c for c in table.configuration_columns if len({row.configuration.get(c, "") for row in rows}) > 1]
        machines = ", ".join(dict.fromkeys(_machine(row, table.machine_attribution) for row in rows))
        header = tuple(name.replace("_", " ") for name in (*columns, there.metric))
        cells = tuple((*(row.configuration.get(c, "") for c in columns), _value(row)) for row in rows)
        notes = (machines, f"{catalogue.documents()[table.document].title}, {table.where}")
        found[table.id] = NotedTable(f"Published: {table.title}", header, cells, notes, table.id)
    return tuple(found.values())


def _value(row: catalogue.Observation) -> str:
    unit = {"percent": "%", "ratio": ""}.get(row.unit, row.unit)
    return "–" if row.value is None else f"{row.value:g} {unit}".strip()
