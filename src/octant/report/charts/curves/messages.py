"""Messages along their length: time and bandwidth, the straight lines that fit the time, and half of the best rate."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from octant import units
from octant.analysis.segments import TRUSTED, hot_and_cold, segments, with_causes
from octant.report import claims
from octant.report.charts.curves.curve import (
    along_axis,
    dressed_models,
    how_to_read,
    limits_of,
    listed,
    model_facts,
    model_text,
    models_of,
    point_text,
    table_rows,
    value_axis,
    value_columns,
)
from octant.report.charts.curves.lines import MOST_SERIES, Along, FigureCurve, along, dressed, lead_somewhere, lines_of
from octant.report.charts.picture import ChartSeries, Mark, Note, Panel, Picture, Region, thin, thinned_text
from octant.report.charts.ticks import even_ticks, with_unit
from octant.report.segments import LETTERS, formula, range_text, segment_facts
from octant.request import EFFORT

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from octant.analysis.segments import Segment
    from octant.report.charts.cells import MeasuredCells
    from octant.workload import Messages, Workload

_WORD = 8  # bytes: the message that stands for all short ones
_DRAWN = 24  # points of a drawn segment, which is no straight line on these axes
_BUFFERS = "buffers"  # the knob that tells hot curves from cold ones


def messages(cells: MeasuredCells, shown: Messages) -> Picture | None:
    """Time above bandwidth over one axis; `None` where no line has two lengths. Segments are of the longest line."""
    workload, figures = cells.workload, cells.figures
    metric, x = workload.metric(), along(workload, figures, shown.x, shown.along)
    every = lines_of(cells.figure, x, figures, each=shown.each)
    if not lead_somewhere(every):
        return None
    times = sorted(thin(every, MOST_SERIES), key=lambda line: -len(line.xs))
    named = {line.name: line for line in lines_of(cells.figure, x, figures, shown.rate, shown.each)}
    rates = [named[line.name] for line in times if line.name in named]
    xs = sorted({at for line in times for at in line.xs})
    found = _segments(cells.ladders.shown_sizes(), times)
    marks = tuple(Mark(_border(one, after), "") for one, after in pairwise(found))
    said = zip(times, models_of(cells.modelled, times), strict=True)
    models = [None if cells.modelled and cells.modelled.is_made_from(line.figures[0]) else one for line, one in said]
    below = (_rate_panel(workload, shown, x, xs, rates, marks),) if rates else ()
    return Picture(
        "messages",
        "Messages",
        f"{workload.summary}. {metric.name.capitalize()}: {metric.note or metric.unit}. {how_to_read(times)} "
        f"Dotted: the model, a straight line in each segment, drawn where its worst error is at most "
        f"{units.percent_text(TRUSTED)}."
        + model_text(cells.modelled, models)
        + thinned_text(len(times), len(every), "lines"),
        (_time_panel(workload, x, xs, times, found, marks, models), *below),
        ("curve", x.title, *value_columns(metric), "of limit", "what the limit is"),
        tuple(cells for line in (*times, *rates) for cells in table_rows(listed(line), x)),
        label=_sentence(times[0], rates[:1]),
        facts=(
            *segment_facts(found),
            *(_half_fact(rates[0]) if rates else ()),
            *_other_facts(rates[1:]),
            *model_facts(times, models),
        ),
    )


def _segments(caches: Mapping[int, int], lines: Sequence[FigureCurve]) -> tuple[Segment, ...]:
    """Those of the longest line, fitted with the line that differs from it in its buffers alone where there is one."""
    first, *others = (line.measurable for line in lines)
    points = [[(at, y) for at, y in line.points if y > 0] for line in (first, *others)]
    mates = [i for i, line in enumerate(others, 1) if _other_buffers(first, line)]
    found: tuple[Segment, ...] = ()
    other: tuple[Segment, ...] = ()
    if mates:
        found, other = hot_and_cold(points[0], points[mates[0]], (first.noise, others[mates[0] - 1].noise))
    return with_causes(found or segments(points[0], first.noise), caches, other, first.noise)


def _other_buffers(one: FigureCurve, other: FigureCurve) -> bool:
    """Whether two lines are of the same messages in other buffers; how far rotating ones go belongs to these."""
    if not one.figures or not other.figures:
        return False
    knobs = [line.figures[0].knobs for line in (one, other)]
    skipped = {_BUFFERS, "rotation", "bytes", *EFFORT}
    kept = [{name: value for name, value in some.items() if name not in skipped} for some in knobs]
    return kept[0] == kept[1] and knobs[0].get(_BUFFERS) != knobs[1].get(_BUFFERS)


def _border(before: Segment, after: Segment) -> float:
    """Where it is drawn: a knee at its length, a step somewhere between the last length before it and the next."""
    return after.first if after.kind == "knee" else math.sqrt(before.last * after.first)


def _time_panel(
    workload: Workload,
    x: Along,
    xs: Sequence[float],
    lines: Sequence[FigureCurve],
    found: Sequence[Segment],
    marks: tuple[Mark, ...],
    models: Sequence[ChartSeries | None],
) -> Panel:
    metric = workload.metric()
    least = min((at for at in xs if at > 0), default=1.0)
    fits = [_fit(i, found, least) for i, one in enumerate(found) if one.fits]
    every = [*(line.ys for line in lines), *(one.y for one in models if one)]
    first, place = lines[0], _word_place(lines[0])
    words = Note(first.xs[place], first.ys[place], f"{x.text(first.xs[place])}: {point_text(first, place)}")
    return Panel(
        along_axis(x, xs),
        value_axis(metric.name.capitalize(), [y for one in every for y in one], metric.unit, log=True),
        (*dressed(lines, xs, len(lines) > 1, at_zero=True), *fits, *dressed_models(models)),
        marks,
        regions=tuple(_region(i, found, least) for i in range(len(found))) if len(found) > 1 else (),
        notes=(words,) if first.xs[place] > 0 and len(first.xs) > 1 else (),
    )


def _rate_panel(
    workload: Workload,
    shown: Messages,
    x: Along,
    xs: Sequence[float],
    lines: Sequence[FigureCurve],
    marks: tuple[Mark, ...],
) -> Panel:
    metric, limits = workload.metric(shown.rate), limits_of(lines)
    most = max(y for one in (*(line.ys for line in lines), *(one.y for one in limits)) for y in one)
    return Panel(
        along_axis(x, xs),
        with_unit(metric.name.capitalize(), False, even_ticks(most, str), metric.unit),
        (*dressed(lines, xs, named=False, at_zero=True), *limits),
        marks,
        notes=_rate_notes(lines[0], x),
    )


def _rate_notes(line: FigureCurve, x: Along) -> tuple[Note, ...]:
    """The best rate with its length, N½, and the rate of the longest message, of those that are measurable."""
    good = line.measurable
    if len(good.xs) < 2:
        return ()
    best = _best(good)
    notes = [Note(good.xs[best], good.ys[best], f"best {point_text(good, best)} at {x.text(good.xs[best])}")]
    if half := line.half_length:
        notes.append(Note(half, good.ys[best] / 2, f"N½ = {claims.quantity(half, 'B')}", "both", "diamond"))
    if best != len(good.xs) - 1:
        notes.append(Note(good.xs[-1], good.ys[-1], point_text(good, -1)))
    return tuple(notes)


def _best(line: FigureCurve) -> int:
    return max(range(len(line.xs)), key=lambda i: line.ys[i])


def _word_place(line: FigureCurve) -> int:
    """The point that stands for short messages: 8 B, else the shortest that is not empty."""
    positive = [i for i, at in enumerate(line.xs) if at > 0] or [0]
    return next((i for i in positive if line.xs[i] == _WORD), positive[0])


def _fit(number: int, found: Sequence[Segment], least: float) -> ChartSeries:
    """The line of a segment, up to the next where time does not jump there."""
    of, after = found[number], found[number + 1 : number + 2]
    last = after[0].first if after and after[0].kind == "knee" else of.last
    xs = tuple(map(float, np.geomspace(max(of.first, least), last, _DRAWN)))
    ys = tuple(of.seconds(at) for at in xs)
    return ChartSeries(f"line of {LETTERS[number]}", "line", xs, ys, role="ink", dash="dotted", names="none")


def _region(number: int, found: Sequence[Segment], least: float) -> Region:
    one = found[number]
    return Region(max(one.first, least), one.last, (f"{LETTERS[number]}: {range_text(number, found)}", formula(one)))


def _half_fact(line: FigureCurve) -> tuple[tuple[str, str], ...]:
    half = line.half_length
    return (("N½", f"{claims.quantity(half, 'B')} reach half of the best bandwidth"),) if half else ()


def _other_facts(lines: Sequence[FigureCurve]) -> list[tuple[str, str]]:
    """The best rate of each further line, and its rate at the longest."""
    facts = []
    for line in (one.measurable for one in lines):
        if not line.xs:
            continue
        best, last = _best(line), len(line.xs) - 1
        texts = [f"{point_text(line, i)} at {units.bytes_text(line.xs[i])}" for i in dict.fromkeys((best, last))]
        facts.append((line.name, f"best {'; '.join(texts)}"))
    return facts


def _sentence(times: FigureCurve, rates: Sequence[FigureCurve]) -> str:
    place = _word_place(times)
    text = f"A message of {units.bytes_text(times.xs[place])} takes {point_text(times, place)}"
    for line in (one.measurable for one in rates):
        if not line.xs:
            continue
        best = _best(line)
        text += f"; the best bandwidth is {point_text(line, best)} at {units.bytes_text(line.xs[best])}"
        half = line.half_length
        text += f", half of it at {claims.quantity(half, 'B')}" if half else ""
    return f"{text}."
