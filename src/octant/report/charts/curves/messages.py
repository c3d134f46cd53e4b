"""Messages along their length: time and bandwidth, the straight lines that fit the time, and half of the best rate."""

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from octant.analysis.segments import TRUSTED, Segment, hot_and_cold, segments, with_causes
from octant.metric import Metric
from octant.report import claims
from octant.report.charts.curves import curve as shared
from octant.report.charts.curves import figure_curves as curves
from octant.report.charts.curves.figure_curves import CurveAxis, FigureCurve, MeasuredCells, curve_series
from octant.report.charts.picture import ChartSeries, Mark, Note, Panel, Picture, Span, thin
from octant.report.charts.texts import picture_texts
from octant.report.charts.ticks import even_ticks, with_unit
from octant.report.segments import LETTERS, formula, range_text, segment_facts
from octant.request import EFFORT
from octant.workload import Messages

_SHORT = 8  # bytes of the message that represents all short ones
_DRAWN = 24  # points of a drawn segment, which is no straight line on these axes
_BUFFERS = "buffers"  # the knob that separates hot curves from cold ones


def messages(cells: MeasuredCells, shown: Messages) -> Picture | None:
    """Draw time above bandwidth over one axis; `None` if no line has two lengths. The longest line has segments."""
    workload, figures = cells.workload, cells.figures
    metric, x = workload.metric(), curves.curve_axis(workload, figures, shown.x, shown.along)
    every = curves.collect_curves(cells.figure, x, figures, each=shown.each)
    if not curves.has_curve(every):
        return None
    times = sorted(thin(every, curves.MAX_SERIES), key=lambda line: -len(line.xs))
    named = {line.name: line for line in curves.collect_curves(cells.figure, x, figures, shown.rate, shown.each)}
    rates = [named[line.name] for line in times if line.name in named]
    xs = sorted({at for line in times for at in line.xs})
    parts = _segments(cells.ladders.shown_sizes(), times)
    # A knee is at its length, a step between the last length before it and the next.
    borders = [b.first if b.kind == "knee" else math.sqrt(a.last * b.first) for a, b in pairwise(parts)]
    marks = tuple(Mark(border, "") for border in borders)
    predicted = zip(times, shared.model_lines(cells.modelled, times), strict=True)
    source = cells.modelled
    models = [None if source and source.is_made_from(line.figures[0]) else one for line, one in predicted]
    panels = [_time_panel(metric, x, xs, times, parts, marks, models)]
    if rates:
        panels.append(_rate_panel(workload.metric(shown.rate), x, xs, rates, marks))
    texts = picture_texts(
        "messages", workload=workload, metric=metric, reading=shared.how_to_read(times), trusted=TRUSTED,
        kept=len(times), total=len(every), segments=segment_facts(parts), **shared.model_texts(source, times, models),
        **_extremes(times[0], [one.measurable for one in rates]),
    )  # fmt: skip
    return Picture(
        "messages", "Messages", panels=tuple(panels),
        header=("curve", x.title, *shared.value_columns(metric), "of limit", "what the limit is"),
        rows=tuple(row for line in (*times, *rates) for row in shared.table_rows(shared.listed(line), x)), **texts,
    )  # fmt: skip


def _segments(caches: Mapping[int, int], lines: Sequence[FigureCurve]) -> tuple[Segment, ...]:
    """Return those of the longest line, fitted together with a line that differs from it in its buffers alone."""
    first, *others = (line.measurable for line in lines)
    points = [[(at, y) for at, y in line.points if y > 0] for line in (first, *others)]
    mate = next((i for i, line in enumerate(others, 1) if _differ_in_buffers(first, line)), None)
    hot: tuple[Segment, ...] = ()
    cold: tuple[Segment, ...] = ()
    if mate:
        hot, cold = hot_and_cold(points[0], points[mate], (first.noise, others[mate - 1].noise))
    return with_causes(hot or segments(points[0], first.noise), caches, cold, first.noise)


def _differ_in_buffers(one: FigureCurve, other: FigureCurve) -> bool:
    """Return whether two lines have the same messages in other buffers; the reach of rotating ones belongs to these."""
    if not one.figures or not other.figures:
        return False
    knobs = [line.figures[0].knobs for line in (one, other)]
    skipped = {_BUFFERS, "rotation", "bytes", *EFFORT}
    kept = [{name: value for name, value in mine.items() if name not in skipped} for mine in knobs]
    return kept[0] == kept[1] and knobs[0].get(_BUFFERS) != knobs[1].get(_BUFFERS)


def _time_panel(
    metric: Metric, x: CurveAxis, xs: Sequence[float], lines: Sequence[FigureCurve], parts: Sequence[Segment],
    marks: tuple[Mark, ...], models: Sequence[ChartSeries | None],
) -> Panel:  # fmt: skip
    least = min((at for at in xs if at > 0), default=1.0)
    values = [y for one in (*(line.ys for line in lines), *(one.y for one in models if one)) for y in one]
    first, place = lines[0], _short_place(lines[0])
    word = Note(first.xs[place], first.ys[place], f"{x.text(first.xs[place])}: {shared.point_text(first, place)}")
    regions, fits = [], []
    for i, (one, after) in enumerate(zip(parts, [*parts[1:], None], strict=False)):
        regions.append(Span(max(one.first, least), one.last, f"{LETTERS[i]}: {range_text(i, parts)}\n{formula(one)}"))
        if one.fits:  # up to the next one, unless time jumps there
            last = after.first if after and after.kind == "knee" else one.last
            at = tuple(map(float, np.geomspace(max(one.first, least), last, _DRAWN)))
            fit = tuple(map(one.seconds, at))
            fits.append(ChartSeries(f"line of {LETTERS[i]}", "line", at, fit, role="ink", dash="dotted", names="none"))
    return Panel(
        shared.along_axis(x, xs), shared.value_axis(metric.name.capitalize(), values, metric.unit, log=True),
        (*curve_series(lines, xs, len(lines) > 1, at_zero=True), *fits, *shared.model_series(models)), marks,
        regions=tuple(regions) if len(parts) > 1 else (),
        notes=(word,) if first.xs[place] > 0 and len(first.xs) > 1 else (),
    )  # fmt: skip


def _rate_panel(
    metric: Metric, x: CurveAxis, xs: Sequence[float], lines: Sequence[FigureCurve], marks: tuple[Mark, ...]
) -> Panel:
    """Draw the rates, and of the first line the best rate with its length, N½, and the rate of the longest message."""
    limits, good, notes = shared.limits_of(lines), lines[0].measurable, []
    most = max(y for one in (*(line.ys for line in lines), *(one.y for one in limits)) for y in one)
    if len(good.xs) > 1:
        best = _best_place(good)
        value, last = good.ys[best], len(good.xs) - 1
        notes.append(Note(good.xs[best], value, f"best {shared.point_text(good, best)} at {x.text(good.xs[best])}"))
        if half := good.half_length:
            notes.append(Note(half, value / 2, f"N½ = {claims.quantity(half, 'B')}", "both", "diamond"))
        if best != last:
            notes.append(Note(good.xs[last], good.ys[last], shared.point_text(good, last)))
    return Panel(
        shared.along_axis(x, xs), with_unit(metric.name.capitalize(), False, even_ticks(most, str), metric.unit),
        (*curve_series(lines, xs, named=False, at_zero=True), *limits), marks, notes=tuple(notes),
    )  # fmt: skip


def _best_place(line: FigureCurve) -> int:
    return max(range(len(line.xs)), key=lambda i: line.ys[i])


def _short_place(line: FigureCurve) -> int:
    """Return the point that represents short messages: 8 B, else the shortest that is not empty."""
    positive = [i for i, at in enumerate(line.xs) if at > 0] or [0]
    return next((i for i in positive if line.xs[i] == _SHORT), positive[0])


def _extremes(times: FigureCurve, rates: Sequence[FigureCurve]) -> dict[str, Any]:
    """Return the points that the label and the facts name: of the first line, and the best and last of the others."""
    short, first = _short_place(times), next((line for line in rates[:1] if line.xs), None)
    others = []
    for line in (one for one in rates[1:] if one.xs):
        points = dict.fromkeys((_best_place(line), len(line.xs) - 1))
        others.append((line.name, [(line.xs[i], shared.point_text(line, i)) for i in points]))
    best = _best_place(first) if first else 0
    return {
        "short_size": times.xs[short], "short_time": shared.point_text(times, short), "others": others,
        "best": (first.xs[best], shared.point_text(first, best)) if first else None,
        "half": first.half_length if first else None,
    }  # fmt: skip
