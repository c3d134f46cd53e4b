"""Pictures of a study: each configuration relative to the baseline of its machine, or curves along an axis."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal, TypeAlias

from octant import catalogue, units
from octant.report.charts import picture
from octant.report.charts.bars.ratios import ratio_axis
from octant.report.charts.curves.curve import value_axis
from octant.report.charts.picture import Axis, ChartSeries, Column, Mark, Note, Panel, Picture
from octant.report.study import rows as study_rows
from octant.report.study.rows import StudyPlace, every_place, is_invalid, stated_value
from octant.report.tables.layout import fill
from octant.study.local_reference import THIS_MACHINE
from octant.study.outcome import Outcome
from octant.study.parts import number
from octant.study.question import Study, quantities
from octant.study.ratios import stated
from octant.study.values import StudyValue

_WIDE_AXIS = 100  # ratio of its ends from which on an axis of counts is logarithmic
WIDEST = 64.0
"""Largest gain, or reciprocal of a gain, that extends the axis."""
_MAX_MACHINES = 24  # characters of their names over a column
_Ends: TypeAlias = tuple[float, float, float]
_ORIGIN: _Ends = (1.0, 1.0, 1.0)


@dataclass(frozen=True)
class _Row:
    """A configuration at an axis value: ratios to the baseline with their ends, `None` without a ratio.

    In a study of parts only, these are the values themselves.
    """

    label: str
    place: StudyPlace
    ours: _Ends | None
    there: _Ends | None
    note: str  # why there is no ratio of ours


def pictures(outcome: Outcome) -> list[Picture]:
    """Return a picture for each measure that has values."""
    draw = {"curve": curves, "years": years}.get(outcome.study.picture, gains)
    found = []
    for name, one in outcome.study.measures.items():
        chosen, there = gains if draw is curves and not one.axis else draw, study_rows.places(outcome, name)
        if any(place.ours or place.published for place in there) if chosen is curves else there:
            found.append(chosen(outcome, name))
    return found


def gains(outcome: Outcome, measure: str) -> Picture:
    """Return each configuration relative to the baseline of its machine: ● here with its interval, ◇ published."""
    every = _rows(outcome, measure)
    rows = every[: picture.MAX_BARS]
    unit, source = quantities(outcome.study)[measure].unit, _source(outcome)
    ours, there = [row.ours for row in rows], [row.there for row in rows]
    claim = "95 % interval" if outcome.run else "the model's own bounds"
    text = partial(units.si_text, unit=unit) if outcome.study.has_only_parts else "× {:.3g}".format
    series = []
    if any(ours):
        name = f"{source}, {claim}" if any(one[0] < one[2] for one in ours if one) else source
        series.append(_marks(name, rows, ours, text))
    if any(there):
        series.append(_marks("published", rows, there, text, "published"))
    here = tuple(units.si_text(row.place.ours.value.middle, unit) if row.place.ours else "–" for row in rows)
    inks: list[picture.Tone] = ["ink"] * len(rows)
    columns = [Column(source, here, tuple(inks))]
    published = [row.place.published for row in rows]
    if any(published):
        names = study_rows.machines_there(outcome, measure)
        title = f"{names}, published" if len(names) <= _MAX_MACHINES else "published"
        columns.append(Column(title, tuple(units.si_text(one.value, unit) if one else "–" for one in published)))
    drawn = [ends for ends in (*ours, *there) if ends]
    panel = Panel(
        _axis_of_parts(measure, drawn, unit) if outcome.study.has_only_parts else ratio_axis(drawn, WIDEST),
        Axis("", False, tuple((float(n), row.label) for n, row in enumerate(rows)), down=True),
        tuple(series),
        () if outcome.study.has_only_parts else (Mark(1.0, "", "solid"),),
        _title(outcome, measure, any(there)),
        notes=tuple(Note(_least(drawn), float(n), row.note) for n, row in enumerate(rows) if row.note),
        columns=tuple(columns),
    )
    title = f"{source.capitalize()}{' and published' if any(there) or any(published) else ''}"
    title += f": {measure}" if len(outcome.study.measures) > 1 else ""
    omitted = (len(rows), len(every)) if len(every) > len(rows) else None
    return _picture(outcome, measure, title, panel, 1152, omitted)


def _title(outcome: Outcome, measure: str, has_published: bool) -> str:
    if outcome.study.has_only_parts:
        return units.capital(measure)
    return f"{units.capital(measure)} against the baseline" + " of each machine" * has_published


def _axis_of_parts(measure: str, drawn: Sequence[_Ends], unit: str) -> Axis:
    return value_axis(measure, [value for ends in drawn for value in ends] or [1.0], unit, log=True)


def _least(drawn: Sequence[_Ends]) -> float:
    """Return where notes begin: at the baseline, or at the least value."""
    return 1.0 if _ORIGIN in drawn or not drawn else min(ends[0] for ends in drawn)


def _values_of_part(place: StudyPlace) -> tuple[_Ends | None, _Ends | None]:
    """Return our value with its ends and the published one, as far as a logarithmic axis has a place for them."""
    ours = stated_value(place.ours) if place.ours else None
    there = place.published.value if place.published else 0.0
    drawn = (ours.low, ours.middle, ours.high) if ours and ours.low > 0 else None
    return drawn, (there, there, there) if there > 0 else None


def _rows(outcome: Outcome, measure: str) -> list[_Row]:
    """Return a row for each configuration at each axis value, measured or not."""
    axis = outcome.study.measures[measure].axis
    names = study_rows.combination_names(outcome.study, outcome.cells(measure))
    found = []
    for place in every_place(outcome, measure):
        gained = stated(place.gained) if place.gained else None
        ours = (gained.low, gained.middle, gained.high) if gained else None
        there = None
        if place.gain_there:
            low, high = place.gain_there
            there = low, math.sqrt(low * high), high  # the geometric mean, as in the answer
        if outcome.study.has_only_parts:
            ours, there = _values_of_part(place)
        elif place.is_baseline:
            ours, there = _ORIGIN if place.ours else None, _ORIGIN if place.published else None
        absent = outcome.values.absent.get(place.cell)
        why = absent or outcome.values.gaps.get((place.cell, place.at), "not measured yet")
        note = "" if place.ours else f"not measured: {why}" if outcome.run else why
        lacking = "the value is 0" if outcome.study.has_only_parts else "no value of the baseline"
        note = lacking if place.ours and not ours else note
        name = ", ".join(filter(None, (names[place.cell], axis.label(place.at) if axis else "")))
        found.append(_Row(name, place, ours, there, note))
    return found


def _marks(
    name: str,
    rows: Sequence[_Row],
    ratios: Sequence[_Ends | None],
    text: Callable[[float], str],
    role: picture.Role = "",
) -> ChartSeries:
    """Return the ratios of one source as marks in their rows; ours are open if a value is not measurable."""
    drawn = [(float(n), row, ends) for n, (row, ends) in enumerate(zip(rows, ratios, strict=True)) if ends]
    low, middle, high = zip(*(ends for *_, ends in drawn), strict=True)
    labels = tuple(f"{'published: ' if role else ''}{row.label}: {text(ends[1])}" for _, row, ends in drawn)
    at, unsure = tuple(n for n, *_ in drawn), () if role else tuple(row.place.unsure for _, row, _ in drawn)
    return ChartSeries(name, "rows", middle, at, low, high, labels, role=role, names="legend", open=unsure)


def curves(outcome: Outcome, measure: str) -> Picture:
    """Return a curve for each configuration along the axis of the measure, and the published values as points."""
    axis = outcome.study.measures[measure].axis
    if axis is None:  # the file is refused before
        raise ValueError(f"{measure} has no axis")
    found = study_rows.places(outcome, measure)
    sized = axis.knob == "bytes"
    cells = list(dict.fromkeys(place.cell for place in found))
    names = study_rows.combination_names(outcome.study, cells)
    word = axis.knob if sized or axis.unit in ("", "B") else axis.unit
    series: list[ChartSeries] = []
    for cell in cells:
        ours = [(_x(one, sized), one.ours, axis.label(one.at)) for one in found if one.cell == cell and one.ours]
        ours.sort(key=lambda one: one[0])  # those of a model have the order of the file
        if ours:
            series.append(_curve(names[cell] if len(cells) > 1 else _source(outcome), ours, word))
    for cell in cells:
        there = [(_x(one, sized), one.published.value, axis.label(one.at))
                 for one in found if one.cell == cell and one.published]  # fmt: skip
        if there:
            name = f"published, {names[cell]}" if len(cells) > 1 else "published"
            x, y, at = zip(*there, strict=True)
            labels = tuple(f"{name}, {word} {one}" for one in at)
            series.append(ChartSeries(name, "points", x, y, labels=labels, role="published"))
    unit, title = _unit(outcome, measure)
    xs = sorted({x for one in series for x in one.x})
    if sized or (xs[0] > 0 and xs[-1] / xs[0] > _WIDE_AXIS):
        along = Axis(word, True, picture.size_ticks(xs) if sized else picture.places(xs))
    else:
        along = Axis(word, False, picture.even_ticks(xs[-1], lambda v: f"{v:g}"))
    upright = value_axis(title, [y for one in series for y in _drawn_values(one)], unit)
    panel = Panel(along, upright, tuple(series))
    return _picture(outcome, measure, f"{units.capital(measure)} against {word}", panel, 780)


def years(outcome: Outcome, measure: str) -> Picture:
    """Return a mark for each level with a year; that of this machine is at the year of its run."""
    roles: dict[str, picture.Role] = {"published": "published", THIS_MACHINE: "series-1"}
    marks: dict[str, list[tuple[float, float, str]]] = {name: [] for name in roles}
    for place in study_rows.places(outcome, measure):
        pairs = zip(outcome.study.factors, place.cell.levels, strict=True)
        levels = [(name, outcome.study.factors[factor][name]) for factor, name in pairs]
        own = any(level.arguments.get("system") == THIS_MACHINE for _, level in levels)
        year = outcome.local_run.year if own else next((level.year for _, level in levels if level.year), None)
        if year and place.ours:
            name = outcome.local_run.machine or THIS_MACHINE if own else levels[0][0]
            marks[THIS_MACHINE if own else "published"].append((float(year), place.ours.value.middle, name))
    series = []
    for name, points in marks.items():
        if points:
            x, y, labels = zip(*points, strict=True)
            series.append(ChartSeries(name, "points", x, y, labels=labels, role=roles[name], names="points"))
    unit, title = _unit(outcome, measure)
    every = [x for one in series for x in one.x]
    first, last = int(min(every)) - 1, int(max(every)) + 1
    ticks = tuple((float(y), str(y)) for y in range(first, last + 1, max(1, (last - first) // 6)))
    upright = value_axis(title, [y for one in series for y in one.y], unit, log=True)
    panel = Panel(Axis("year", False, ticks, ends=(first, last)), upright, tuple(series))
    return _picture(outcome, measure, f"{measure} over peak, by year", panel, 780)


def _drawn_values(series: ChartSeries) -> list[float]:
    """Return the values of a series on the value axis; ends only of a band, as only its ends are drawn."""
    ends = (*series.low, *series.high) if series.kind == "band" else ()
    return [*series.y, *(y for _, y in series.dots), *ends]


def _curve(name: str, points: Sequence[tuple[float, StudyValue, str]], word: str) -> ChartSeries:
    """Return a curve with its launches as dots; for a model, a line within its bounds."""
    values = [stated_value(ours) for _, ours, _ in points]
    bounded = any(ours.modelled and ours.modelled.low < ours.modelled.high for _, ours, _ in points)
    return ChartSeries(
        name, "band" if bounded else "curve", tuple(x for x, _, _ in points), tuple(value.middle for value in values),
        tuple(value.low for value in values), tuple(value.high for value in values),
        tuple(f"{name}, {word} {at}" for _, _, at in points),
        dots=tuple((x, launch.value.middle) for x, ours, _ in points for launch in ours.launches),
        open=tuple(is_invalid(ours) for _, ours, _ in points),
    )  # fmt: skip


def _picture(
    outcome: Outcome, measure: str, title: str, panel: Panel, width: Literal[1152, 780],
    omitted: tuple[int, int] | None = None,
) -> Picture:  # fmt: skip
    header, rows = study_rows.columns_and_rows(outcome, measure)
    number_of, table = list(outcome.study.measures).index(measure) + 1, tuple(map(tuple, rows))
    caption = _caption(outcome, measure, omitted)
    return Picture(f"picture-{number_of}", title, caption, (panel,), tuple(header), table, width=width)


def _caption(outcome: Outcome, measure: str, omitted: tuple[int, int] | None) -> str:
    study, found = outcome.study, study_rows.places(outcome, measure)
    unit, better = quantities(study)[measure].unit, outcome.values.better(measure)
    per = unit.partition(" ")[2] if " per " in unit else ""
    if study.picture == "years":
        return fill("study/captions", "years", direction=better, per=per, machine=outcome.local_run)
    tables = dict.fromkeys(one.table for one in study.published if one.measure == measure)
    return fill(
        "study/captions", "values", study=study, direction=better, per=per, is_measured=outcome.run is not None,
        baseline=_baseline(study) if len({place.cell for place in found}) > 1 else "",
        is_curve=study.picture == "curve" and study.measures[measure].axis, unsure=study_rows.UNSURE_RATIOS,
        ends=study_rows.ends_texts(outcome, measure), has_invalid=any(is_invalid(place.ours) for place in found),
        omitted=omitted,
        tables=[catalogue.results()[one].title for one in tables] if any(place.published for place in found) else (),
    )  # fmt: skip


def _baseline(study: Study) -> str:
    return "" if study.has_only_parts else study_rows.baseline_name(study)


def _source(outcome: Outcome) -> str:
    if outcome.study.is_published:
        return "published"
    return "model" if outcome.run is None else "here"


def _unit(outcome: Outcome, measure: str) -> tuple[str, str]:
    """Return the unit of the ticks, and the title of the axis with the rest of the unit."""
    unit, _, per = quantities(outcome.study)[measure].unit.partition(" per ")
    return unit, f"{measure} per {per}" if per else measure


def _x(place: StudyPlace, sized: bool) -> float:
    x = number(place.at)
    return picture.ZERO_BYTES if sized and x == 0 else x
