"""A study as data for pictures: every combination against the baseline of its own machine, or curves along the axis."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from octant import catalogue, units
from octant.report.charts.bars.ratios import ratio_axis
from octant.report.charts.curves.curve import value_axis
from octant.report.charts.picture import MOST_BARS, Axis, ChartSeries, Column, Mark, Note, Panel, Picture
from octant.report.charts.ticks import ZERO_BYTES, even_ticks, places, size_ticks
from octant.report.study.rows import (
    UNSURE_RATIOS,
    StudyPlace,
    baseline_name,
    columns_and_rows,
    combination_names,
    ends_texts,
    gain_here,
    is_invalid,
    machines_there,
    stated_value,
)
from octant.report.study.rows import places as places_of
from octant.study.local_reference import THIS_MACHINE
from octant.study.parts import Cell, number
from octant.study.question import quantities
from octant.study.ratios import stated

if TYPE_CHECKING:
    from collections.abc import Sequence

    from octant.report.charts.picture import Role, Tone
    from octant.study.outcome import Outcome
    from octant.study.values import StudyValue

_WIDE_AXIS = 100  # between its ends, from which on an axis of counts is logarithmic
WIDEST = 64.0
"""A gain, or its reciprocal, beyond which no axis is stretched."""
_MOST_MACHINES = 24  # characters of their names over a column


@dataclass(frozen=True)
class _Row:
    """One combination (at an axis value) against the baseline: ratios with their ends, `None` where there is none."""

    label: str
    place: StudyPlace
    ours: tuple[float, float, float] | None
    there: tuple[float, float, float] | None
    note: str = ""  # where nothing stands for us
    open: bool = False  # our ratio rests on a value that is not what was asked, or not measurable


def pictures(outcome: Outcome) -> list[Picture]:
    """One a measure, as each has its own unit; a measure of which nobody says anything has none."""
    draw = {"curve": curves, "years": years}.get(outcome.study.picture, gains)
    found = []
    for name, one in outcome.study.measures.items():
        chosen, there = gains if draw is curves and not one.axis else draw, places_of(outcome, name)
        if any(place.ours or place.published for place in there) if chosen is curves else there:
            found.append(chosen(outcome, name))
    return found


def gains(outcome: Outcome, measure: str) -> Picture:
    """Each combination as a ratio to the baseline of its own machine: ● here with its interval, ◇ published."""
    every = _rows(outcome, measure)
    rows = every[:MOST_BARS]
    unit = quantities(outcome.study)[measure].unit
    ours = [(float(n), row.ours) for n, row in enumerate(rows) if row.ours]
    there = [(float(n), row.there) for n, row in enumerate(rows) if row.there]
    series = [_marks(outcome, ours, rows)] if ours else []
    series += [_published_marks(there, rows)] if there else []
    columns = [Column(_ours(outcome), tuple(_value_here(row, unit) for row in rows), _in_ink(len(rows)))]
    if any(row.place.published for row in rows):
        columns.append(Column(_machines(outcome, measure), tuple(_value_there(row, unit) for row in rows)))
    panel = Panel(
        ratio_axis([ends for _, ends in (*ours, *there)], WIDEST),
        Axis("", False, tuple((float(n), row.label) for n, row in enumerate(rows)), down=True),
        tuple(series),
        (Mark(1.0, "", "solid"),),
        f"{units.capital(measure)} against the baseline" + " of each machine" * bool(there),
        notes=tuple(Note(1.0, float(n), row.note) for n, row in enumerate(rows) if row.note),
        columns=tuple(columns),
    )
    beside = " and published" if any(row.there or row.place.published for row in rows) else ""
    title = f"{_ours(outcome).capitalize()}{beside}"
    title += f": {measure}" if len(outcome.study.measures) > 1 else ""
    left_out = f" {len(rows)} of {len(every)} rows are drawn; the table has all." if len(every) > len(rows) else ""
    return _picture(outcome, measure, title, _caption(outcome, measure) + left_out, panel, 1152)


def _rows(outcome: Outcome, measure: str) -> list[_Row]:
    """A row for each combination of the study at each axis value, measured or not."""
    axis = outcome.study.measures[measure].axis
    cells, base = outcome.cells(measure), Cell(measure, outcome.study.full({}))
    known = {(place.cell, place.at): place for place in places_of(outcome, measure)}
    names = combination_names(outcome.study, cells)
    found = []
    for cell in cells:
        for at in axis.values if axis else ("",):
            place, origin = known.get((cell, at), StudyPlace(cell, at, None, None)), known.get((base, at))
            gained = gain_here(outcome, measure, place.ours, origin.ours if origin else None)
            gained = stated(gained) if gained else None
            ours = (gained.low, gained.middle, gained.high) if gained else None
            there = place.gain_there and _with_middle(*place.gain_there)
            if cell == base:  # of both machines the origin
                ours, there = (1.0, 1.0, 1.0) if place.ours else None, (1.0, 1.0, 1.0) if place.published else None
            why = outcome.values.absent.get(cell) or outcome.values.gaps.get((cell, at), "not measured yet")
            note = "" if place.ours else f"not measured: {why}" if outcome.run else why
            note = "no baseline here" if place.ours and not ours else note
            unsure = is_invalid(place.ours) or is_invalid(origin.ours if origin else None)
            name = ", ".join(filter(None, (names[cell], axis.label(at) if axis else "")))
            found.append(_Row(name, place, ours, there, note, unsure))
    return found


def _with_middle(low: float, high: float) -> tuple[float, float, float]:
    """A range of ratios with its geometric mean, as the answer names it."""
    return low, math.sqrt(low * high), high


def _marks(
    outcome: Outcome, ours: Sequence[tuple[float, tuple[float, float, float]]], rows: Sequence[_Row]
) -> ChartSeries:
    claim = "95 % interval" if outcome.run else "the model's own bounds"
    name = f"{_ours(outcome)}, {claim}" if any(low < high for _, (low, _, high) in ours) else _ours(outcome)
    low, middle, high = zip(*(ends for _, ends in ours), strict=True)
    labels = tuple(f"{rows[int(n)].label}: × {ends[1]:.3g}" for n, ends in ours)
    places = tuple(n for n, _ in ours)
    unsure = tuple(rows[int(n)].open for n in places)
    return ChartSeries(name, "rows", middle, places, low, high, labels, names="legend", open=unsure)


def _published_marks(there: Sequence[tuple[float, tuple[float, float, float]]], rows: Sequence[_Row]) -> ChartSeries:
    low, middle, high = zip(*(ends for _, ends in there), strict=True)
    labels = tuple(f"published: {rows[int(n)].label}: × {ends[1]:.3g}" for n, ends in there)
    places = tuple(n for n, _ in there)
    return ChartSeries("published", "rows", middle, places, low, high, labels, role="published", names="legend")


def _value_here(row: _Row, unit: str) -> str:
    return units.si_text(row.place.ours.value.middle, unit) if row.place.ours else "–"


def _value_there(row: _Row, unit: str) -> str:
    return units.si_text(row.place.published.value, unit) if row.place.published else "–"


def _in_ink(count: int) -> tuple[Tone, ...]:
    inks: list[Tone] = ["ink"] * count
    return tuple(inks)


def _machines(outcome: Outcome, measure: str) -> str:
    names = machines_there(outcome, measure)
    return f"{names}, published" if len(names) <= _MOST_MACHINES else "published"


def curves(outcome: Outcome, measure: str) -> Picture:
    """A curve per combination along the measure's axis, and the published values as points."""
    axis = outcome.study.measures[measure].axis
    if axis is None:  # the file is refused before
        raise ValueError(f"{measure} has no axis")
    found = places_of(outcome, measure)
    sized = axis.knob == "bytes"
    cells = list(dict.fromkeys(place.cell for place in found))
    names = combination_names(outcome.study, cells)
    published_cells = list(dict.fromkeys(place.cell for place in found if place.published))
    word = axis.knob if sized or axis.unit in ("", "B") else axis.unit
    series = []
    for cell in cells:
        name = names[cell] if len(cells) > 1 else _ours(outcome)
        mine = [(place, place.ours) for place in found if place.cell == cell and place.ours]
        mine.sort(key=lambda one: _x(one[0], sized))  # of a model they are as the file has them
        if mine:
            series.append(
                _curve(name, [(_x(place, sized), ours, f"{word} {axis.label(place.at)}") for place, ours in mine])
            )
    for cell in published_cells:
        name = f"published, {names[cell]}" if len(cells) > 1 else "published"
        rows = [(place, place.published.value) for place in found if place.cell == cell and place.published]
        points = [(_x(place, sized), value, axis.label(place.at)) for place, value in rows]
        xs, ys = tuple(x for x, _, _ in points), tuple(y for _, y, _ in points)
        labels = tuple(f"{name}, {word} {at}" for _, _, at in points)
        series.append(ChartSeries(name, "points", xs, ys, labels=labels, role="published"))
    unit, title = _unit(outcome, measure)
    xs = tuple(sorted({x for one in series for x in one.x}))
    along = _along(word, xs, sized)
    upright = value_axis(title, [y for one in series for y in _drawn_values(one)], unit)
    panel = Panel(along, upright, tuple(series))
    return _picture(
        outcome, measure, f"{units.capital(measure)} against {word}", _caption(outcome, measure), panel, 780
    )


def years(outcome: Outcome, measure: str) -> Picture:
    """Each level that has a year as a mark there; this machine's own at the year of its run."""
    ours: list[tuple[float, float, str]] = []
    theirs: list[tuple[float, float, str]] = []
    for place in places_of(outcome, measure):
        pairs = zip(outcome.study.factors, place.cell.levels, strict=True)
        levels = [(name, outcome.study.factors[factor][name]) for factor, name in pairs]
        own = any(level.arguments.get("system") == THIS_MACHINE for _, level in levels)
        year = outcome.own.year if own else next((level.year for _, level in levels if level.year), None)
        if year and place.ours:
            name = outcome.own.machine or THIS_MACHINE if own else levels[0][0]
            (ours if own else theirs).append((float(year), place.ours.value.middle, name))
    series: list[ChartSeries] = []
    kinds: tuple[tuple[str, list[tuple[float, float, str]], Role], ...] = (
        ("published", theirs, "published"),
        (THIS_MACHINE, ours, "series-1"),
    )
    for name, points, role in kinds:
        if points:
            xs, ys, labels = zip(*points, strict=True)
            series.append(ChartSeries(name, "points", xs, ys, labels=labels, role=role, names="points"))
    unit, title = _unit(outcome, measure)
    every = [x for one in series for x in one.x]
    first, last = int(min(every)) - 1, int(max(every)) + 1
    step = max(1, (last - first) // 6)
    along = Axis("year", False, tuple((float(y), str(y)) for y in range(first, last + 1, step)), ends=(first, last))
    upright = value_axis(title, [y for one in series for y in one.y], unit, log=True)
    return _picture(
        outcome,
        measure,
        f"{measure} over peak, by year",
        _caption(outcome, measure),
        Panel(along, upright, tuple(series)),
        780,
    )


def _drawn_values(series: ChartSeries) -> list[float]:
    """What of a series stands on the value axis: ends of intervals only where they are drawn, of a band."""
    ends = (*series.low, *series.high) if series.kind == "band" else ()
    return [*series.y, *(y for _, y in series.dots), *ends]


def _curve(name: str, points: Sequence[tuple[float, StudyValue, str]]) -> ChartSeries:
    """A curve with its launches as dots; of a model a line within its bounds."""
    values = [stated_value(ours) for _, ours, _ in points]
    bounded = any(ours.modelled and ours.modelled.low < ours.modelled.high for _, ours, _ in points)
    return ChartSeries(
        name, "band" if bounded else "curve", tuple(x for x, _, _ in points), tuple(value.middle for value in values),
        tuple(value.low for value in values), tuple(value.high for value in values),
        tuple(f"{name}, {at}" for _, _, at in points),
        dots=tuple((x, launch.value.middle) for x, ours, _ in points for launch in ours.launches),
        open=tuple(is_invalid(ours) for _, ours, _ in points),
    )  # fmt: skip


def _picture(
    outcome: Outcome, measure: str, title: str, caption: str, panel: Panel, width: Literal[1152, 780]
) -> Picture:
    header, rows = columns_and_rows(outcome, measure)
    number_of = list(outcome.study.measures).index(measure) + 1
    table = tuple(tuple(cells) for cells in rows)
    return Picture(f"picture-{number_of}", title, caption, (panel,), tuple(header), table, width=width)


def _caption(outcome: Outcome, measure: str) -> str:
    study, unit = outcome.study, quantities(outcome.study)[measure].unit
    found = places_of(outcome, measure)
    several = len({place.cell for place in found}) > 1
    text = f"The baseline is {baseline_name(study)}. " if several else ""
    whose = f" {unit.partition(' ')[2]}" if " per " in unit else ""
    better = "More is better" if outcome.values.better(measure) == "higher" else "Less is better"
    if study.picture == "years":
        run = f", {outcome.own.machine} in run {outcome.own.id}" if outcome.own.id else ""
        return f"{better}{f', {whose.strip()}' if whose else ''}. Published results over published peaks; " + (
            f"this machine{run}, over the peak that its own run measured."
        )
    values = f"Values{whose} of a model" if outcome.run is None else "Medians over launches"
    text += f"{'Published values' if study.is_published else values}. {better}."
    ends = "; ".join(ends_texts(outcome, measure))
    marks = "Lines, and brackets"
    if study.picture == "curve" and study.measures[measure].axis:
        marks = "Small dots are single launches. Brackets" if outcome.run else "Areas, and brackets"
    text += f" {marks} in the table: {ends}." if ends else ""
    if any(is_invalid(place.ours) for place in found):
        text += f" Open marks are not as asked, or not measurable; {UNSURE_RATIOS}."
    tables = dict.fromkeys(one.table for one in study.published if one.measure == measure)
    if any(place.published for place in found) and tables:
        titles = "; ".join(catalogue.results()[table].title for table in tables)
        text += f" Published: {titles.rstrip('.')}."
    return text


def _ours(outcome: Outcome) -> str:
    if outcome.study.is_published:
        return "published"
    return "model" if outcome.run is None else "here"


def _unit(outcome: Outcome, measure: str) -> tuple[str, str]:
    """The unit that ticks can carry, and the axis's title with the rest of it."""
    unit, _, per = quantities(outcome.study)[measure].unit.partition(" per ")
    return unit, f"{measure} per {per}" if per else measure


def _x(place: StudyPlace, sized: bool) -> float:
    x = number(place.at)
    return ZERO_BYTES if sized and x == 0 else x


def _along(word: str, xs: Sequence[float], sized: bool) -> Axis:
    if sized:
        return Axis(word, True, size_ticks(xs))
    if xs[0] > 0 and xs[-1] / xs[0] > _WIDE_AXIS:
        return Axis(word, True, places(xs))
    return Axis(word, False, even_ticks(xs[-1], lambda v: f"{v:g}"))
