"""The rows of a study's tables: every combination with our value, the published one, and both against the baseline."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from octant import catalogue, stats, units
from octant.report import claims
from octant.report.claims import mark
from octant.report.network.larger import measured_answers, system_answers
from octant.stats import Grade
from octant.stats.grades import SIGNS
from octant.study.parts import Cell
from octant.study.question import quantities
from octant.study.ratios import digits, factor_text, gain, range_text, stated
from octant.study.values import CannotTest

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from octant.report.network.larger import Answers
    from octant.study.outcome import Outcome
    from octant.study.predicted import Predictions
    from octant.study.question import Study
    from octant.study.values import Bounded, PublishedValue, StudyValue

MODEL_ENDS = "model: computing and messages in turn … all at once; × model: here over its nearer end"
UNSURE_RATIOS = f"{SIGNS['not measurable']} behind a ratio: so is one of its sides"
"""What the sign behind a ratio means, after a sentence on values that are not as asked or not measurable."""


@dataclass(frozen=True)
class StudyPlace:
    """A combination at an axis value (`""`: no axis), what we found there, and what was published."""

    cell: Cell
    at: str
    ours: StudyValue | None
    published: PublishedValue | None
    gain_there: tuple[float, float] | None = None  # published, over the baseline
    predicted: stats.Interval | None = None  # what the network model says of it


def columns_and_rows(outcome: Outcome, measure: str) -> tuple[list[str], list[list[str]]]:
    """The table of a measure: factors (of what was measured those that differ, or differ from the baseline), shares of
    the limit, published columns and caveats where there are any.
    """
    axis = outcome.study.measures[measure].axis
    rows = table(outcome, measure)
    factors = list(outcome.study.factors)
    if outcome.run is not None:
        every = [*(row["levels"] for row in rows), outcome.study.baseline]
        factors = [name for name in factors if len({levels[name] for levels in every}) > 1]
    columns = [*factors, *([axis.knob] if axis else []), "here"]
    told = ("of limit", "× baseline", "model", "× model", "there", "× there")
    columns += [column for column in told if any(row[column] for row in rows)]
    if any(row["caveats"] for row in rows):
        columns.append("caveats")
    return columns, [[row[c] if c in row else row["levels"][c] for c in columns] for row in rows]


def table(outcome: Outcome, measure: str) -> list[dict[str, Any]]:
    """The rows of a measure's table as texts: levels, our value with its interval, and the published one."""
    study = outcome.study
    unit = quantities(study)[measure].unit
    base = Cell(measure, study.full({}))
    axis = study.measures[measure].axis
    found = places(outcome, measure)
    bases = {place.at: place for place in found if place.cell == base}
    marks = [_marks(column) for column in _bounded(outcome, measure)]
    rows = []
    for place in found:
        ours, there, origin = place.ours, place.published, bases.get(place.at)
        beside = origin is not None and place.cell != base
        gained = gain_here(outcome, measure, ours, origin.ours) if origin and beside else None
        unsure = is_invalid(ours) or is_invalid(origin.ours if origin else None)
        sign = f" {SIGNS['not measurable']}" if unsure else ""
        rows.append(
            {
                "levels": dict(zip(study.factors, place.cell.levels, strict=True)),
                **({axis.knob: axis.label(place.at)} if axis else {}),
                "here": value_text(stated_value(ours), unit) + _mark_of(stated_value(ours), marks[0]) if ours else "",
                "of limit": units.percent_text(share) if ours and (share := ours.of_limit) is not None else "",
                "× baseline": factor_text(gained) + _mark_of(stated(gained), marks[1]) + sign if gained else "",
                "model": range_of_model(place.predicted, unit) if place.predicted else "",
                "× model": beside_model(ours.value, place.predicted) if ours and place.predicted else "",
                "there": units.si_text(there.value, unit) if there else "",
                "× there": range_text(place.gain_there) if place.gain_there else "",
                "caveats": ", ".join(stats.warnings(ours.caveats)) if ours else "",
            }
        )
    return rows


def places(outcome: Outcome, measure: str) -> list[StudyPlace]:
    """The rows of a measure's table: every combination and axis value of which we or a document say anything."""
    axis = outcome.study.measures[measure].axis
    there, gains = {(one.cell, one.at): one for one in outcome.published}, outcome.published_gains
    every = [(cell, at) for cell in outcome.cells(measure) for at in (axis.values if axis else ("",))]
    ours = outcome.values.by_cell
    model = outcome.predictions.by_cell
    found = [
        StudyPlace(c, at, ours.get(c, {}).get(at), there.get((c, at)), gains.get((c, at)), model.get(c))
        for c, at in every
    ]
    return [place for place in found if place.ours is not None or place.published is not None or place.gain_there]


def range_of_model(value: stats.Interval, unit: str) -> str:
    """What a model says, as the ends of its range: `1.20 … 1.70 GB/s`; one value where they are one."""
    if value.low == value.high:
        return units.si_text(value.middle, unit)
    scale, prefix = units.si_scale(value.high, unit=unit)
    return f"{digits(value.low / scale)} … {digits(value.high / scale)} {prefix}{unit}"


def beside_model(ours: Bounded, model: stats.Interval) -> str:
    """How our value stands to the model's range: `within`, or how many times its nearer end."""
    if ours.high >= model.low and ours.low <= model.high:
        return "within"
    near = model.low if ours.middle < model.low else model.high
    return f"×{digits(ours.middle / near)}"


def gain_here(outcome: Outcome, measure: str, ours: StudyValue | None, base: StudyValue | None) -> Bounded | None:
    """How many times as good our value is as the baseline's; `None` where that cannot be said."""
    try:
        return gain(ours, base, outcome.values.better(measure)) if ours and base else None
    except CannotTest:
        return None


def is_invalid(ours: StudyValue | None) -> bool:
    """Whether our value is not what was asked, or not measurable."""
    return ours is not None and any(caveat.grade == Grade.INVALID for caveat in ours.caveats)


def stated_value(ours: StudyValue) -> Bounded:
    """Our value as views print it: of what is not measurable without an interval."""
    value = stated(ours.value)
    return value.without_interval if isinstance(value, stats.Estimate) and is_invalid(ours) else value


def _bounded(outcome: Outcome, measure: str) -> tuple[list[Bounded], list[Bounded]]:
    """What stands under `here` and under `× baseline`."""
    found, base = places(outcome, measure), Cell(measure, outcome.study.full({}))
    bases = {place.at: place.ours for place in found if place.cell == base}
    gains = [gain_here(outcome, measure, place.ours, bases.get(place.at)) for place in found if place.cell != base]
    return [stated_value(place.ours) for place in found if place.ours], [stated(one) for one in gains if one]


def _marks(values: Sequence[Bounded]) -> dict[claims.Sort, str]:
    """A mark for each sort of a column, where there are several."""
    sorts = claims.claims(one for one in values if isinstance(one, stats.Estimate))
    return {sort: mark(number) for number, sort in enumerate(sorts)} if len(sorts) > 1 else {}


def _mark_of(value: Bounded, marks: Mapping[claims.Sort, str]) -> str:
    sort = claims.sort_of(value) if isinstance(value, stats.Estimate) else None
    return f" {marks[sort]}" if sort and sort in marks else ""


def ends_texts(outcome: Outcome, measure: str) -> list[str]:
    """What the brackets of a measure's table are, a column and sort each: `here: 95 % interval for …`."""
    columns = _bounded(outcome, measure)
    if outcome.run is None:
        ranges = any(value.low < value.high for column in columns for value in column)
        return ["what the evidence for calibrated capacities allows, no statistical error"] * ranges
    lines = []
    for title, values in zip(("here", "× baseline"), columns, strict=True):
        said, marks = claims.claims(one for one in values if isinstance(one, stats.Estimate)), _marks(values)
        lines += [f"{title}{' ' * bool(marks)}{marks.get(sort, '')}: {text}" for sort, text in said.items()]
    return lines


def value_text(value: Bounded, unit: str) -> str:
    """A value with its ends: `21.3 GB/s [21.1, 21.5]`."""
    middle = units.si_text(value.middle, unit)
    if value.low == value.high:
        return middle
    number, _, prefixed = middle.partition(" ")
    scale = value.middle / float(number) if float(number) else 1.0
    power = 1000.0 ** round(math.log10(abs(scale)) / 3 if scale else 0.0)
    return f"{number} {prefixed} [{digits(value.low / power)}, {digits(value.high / power)}]"


def combination_names(study: Study, cells: Iterable[Cell]) -> dict[Cell, str]:
    """Combinations in words: of one factor the level and what it is, of several what differs from the baseline."""
    found = {}
    for cell in cells:
        pairs = list(zip(study.factors, cell.levels, strict=True))
        apart = [f"{factor} {level}" for factor, level in pairs if study.baseline[factor] != level]
        about = study.factors[pairs[0][0]][pairs[0][1]].about
        alone = f"{cell.levels[0]}: {about}" if about else cell.levels[0]
        found[cell] = alone if len(pairs) == 1 else ", ".join(apart) or baseline_name(study)
    return found


def baseline_name(study: Study) -> str:
    """The baseline in words: `pages base`, `binding no, memory anywhere`."""
    return ", ".join(f"{factor} {level}" for factor, level in study.baseline.items())


def machines_there(outcome: Outcome, measure: str = "") -> str:
    """The machines whose published values stand beside ours, of a measure or of all: `Power 755`."""
    seen = [one.observation for one in outcome.published if measure in ("", one.cell.measure)]
    for asked in outcome.study.findings if not seen else ():
        if asked.there and asked.test.compared(outcome.study):
            seen += catalogue.results()[asked.there.table].find(asked.there.metric, asked.there.where)
    known = catalogue.machines()
    names = (known[one.machine].name if one.machine in known else _unnamed(one.machine) for one in seen)
    return ", ".join(dict.fromkeys(re.split(r" \(|;| at ", name)[0].removeprefix("IBM ") for name in names))


def _unnamed(machine: str) -> str:
    """Of a machine that its document does not name, what is known of it: `POWER7`."""
    return machine.removeprefix("unspecified-").replace("plus", "+").replace("-", " ").upper()


@dataclass(frozen=True)
class FurtherTable:
    """A published table, or the part of it that a finding names; or a table of predictions."""

    id: str
    title: str
    caption: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def _machine(name: str, table: catalogue.Result) -> str:
    """The machine's name; of one that no document names what is known of it."""
    known = catalogue.machines().get(name)
    return known.name if known else table.machine_attribution


def further_tables(study: Study) -> tuple[FurtherTable, ...]:
    """The tables that findings name for what is published, without those whose values or ratios stand beside ours."""
    beside = {one.table for one in study.published}
    beside |= {asked.there.table for asked in study.findings if asked.there and asked.test.compared(study)}
    found: dict[str, FurtherTable] = {}
    for asked in study.findings:
        if asked.there and asked.there.table not in beside:
            table = catalogue.results()[asked.there.table]
            rows = table.find(asked.there.metric, {} if asked.there.to else asked.there.where)
            columns = [
                c for c in table.configuration_columns if len({row.configuration.get(c, "") for row in rows}) > 1
            ]
            machines = ", ".join(dict.fromkeys(_machine(row.machine, table) for row in rows))
            document = catalogue.documents()[table.document].title
            found.setdefault(
                table.id,
                FurtherTable(
                    table.id, f"Published: {table.title}", f"{machines}; {document}, {table.where}.",
                    (*(c.replace("_", " ") for c in columns), asked.there.metric.replace("_", " ")),
                    tuple((*(row.configuration.get(c, "") for c in columns), _value(row)) for row in rows),
                ),
            )  # fmt: skip
    return tuple(found.values())


def larger_tables(predictions: Predictions) -> tuple[FurtherTable, ...]:
    """What the network model says of more nodes: like this one, and of described machines."""
    answers = [measured_answers(predictions.larger)] if predictions.larger else []
    answers += [system_answers(one) for one in predictions.systems]
    return tuple(_table(number, one) for number, one in enumerate(answers, 1))


def _table(number: int, answers: Answers) -> FurtherTable:
    text = "; ".join(answers.notes)
    return FurtherTable(f"larger-{number}", f"Model: {answers.title}", f"{text}.", answers.header, answers.rows)


def _value(row: catalogue.Observation) -> str:
    unit = {"percent": "%", "ratio": ""}.get(row.unit, row.unit)
    return "–" if row.value is None else f"{row.value:g} {unit}".strip()
