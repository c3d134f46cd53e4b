"""Pictures of curves along a knob or metric: lines, bands, samples in time order, the memory ladder, and messages."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np

from octant import units
from octant.analysis.figures import Figure
from octant.analysis.level_names import NamedPlateau
from octant.analysis.names import picture_title
from octant.analysis.plateaus import APART, reach
from octant.analysis.segments import TRUSTED, Segment, hot_and_cold, segments, with_causes
from octant.analysis.summary import Modelled
from octant.machine import Machine
from octant.machine.cache_levels import disputed_levels, stated_sizes
from octant.metric import Metric
from octant.report import claims
from octant.report.charts import picture
from octant.report.charts.curves import figure_curves as curves
from octant.report.charts.curves.figure_curves import CurveAxis, FigureCurve, Ladders, MeasuredCells, MeasuredLadder
from octant.report.charts.layout.plot import MAX_MARKS
from octant.report.charts.picture import Axis, ChartSeries, Mark, Note, Panel, Picture, Span, even_ticks, thin
from octant.report.sentences import Sentences, picture_texts
from octant.request import EFFORT
from octant.workload import Curve, Messages, Spread, Timeline

_SHORT = 8  # bytes of the message that represents all short ones
_DRAWN = 24  # points of a drawn segment, which is no straight line on these axes
_SEGMENTS = Sentences("octant.report.charts", "segments")
_BUFFERS = "buffers"  # the knob that separates hot curves from cold ones
_Band: TypeAlias = tuple[FigureCurve, tuple[float, ...], tuple[float, ...]]
"""A line with the lower and the upper ends of its points."""


def curve(cells: MeasuredCells, shown: Curve) -> Picture | None:
    """Draw a metric along x; return `None` if no line has two places."""
    workload, figures = cells.workload, cells.figures
    metric, x = workload.metric(shown.y), curves.curve_axis(workload, figures, shown.x, shown.along)
    every = curves.collect_curves(cells.figure, x, figures, shown.y, shown.each)
    lines = thin(every, curves.MAX_LINES)
    xs = sorted({at for line in lines for at in line.xs})
    if not curves.has_curve(every) or (x.metric and shown.each and len(xs) == 1):  # nothing lies along it
        return None
    marks = cache_marks(cells.ladders.machine, xs[0], xs[-1]) if shown.marks == "caches" else ()
    models = model_lines(cells.modelled, lines)
    ys = [y for line in lines for y in (*line.ys, *(limit for _, limit in line.limits))]
    ys += [y for one in models if one for y in one.y]
    across, upright = along_axis(x, xs), value_axis(metric.name, ys, metric.unit, log=True)
    panels = []
    for first in range(0, len(lines), curves.MAX_SERIES):
        group = lines[first : first + curves.MAX_SERIES]
        drawn = curves.curve_series(group, xs, len(lines) > 1, across.log)
        panels.append(Panel(across, upright, (*drawn, *limits_of(group), *model_series(models[first:])), marks))
    words = [] if x.metric else [
        f"{x.name} {figure.knobs[x.name]}: {units.si_text(figure.value.middle, figure.metric.unit, 4)}"
        for figure in figures
        if not figure.show.table and figure.value and x.name in figure.knobs and x.place(figure.knobs) is None
    ]  # fmt: skip
    texts = picture_texts(
        "curve", workload=workload, metric=metric, lines=every, x=x, most_marks=MAX_MARKS, marks=marks, words=words,
        kept=len(lines), total=len(every), **model_texts(cells.modelled, lines, models),
    )  # fmt: skip
    return Picture(
        "curve", shown.title or picture_title(figures, f"{metric.name} against {x.title}"), panels=tuple(panels),
        header=("curve", x.title, *value_columns(metric), "of limit", "limit"),
        rows=tuple(row for line in lines for row in table_rows(line, x)), **texts,
    )  # fmt: skip


def size_text(machine: Machine, level: int) -> str:
    """Return the stated size of a cache level: `2 MiB`, `480 MiB (disputed)`."""
    dispute = disputed_levels(machine).get(level)
    return units.bytes_text(stated_sizes(machine)[level]) + (f" ({dispute})" if dispute else "")


def cache_marks(machine: Machine, least: float, most: float) -> tuple[Mark, ...]:
    """Return a line at each stated cache size between two footprints in bytes."""
    sizes = stated_sizes(machine).items()
    return tuple(Mark(float(at), f"L{n} {size_text(machine, n)}") for n, at in sizes if least <= at <= most)


def along_axis(x: CurveAxis, xs: Sequence[float]) -> Axis:
    """Return the axis along curves with its ticks; `xs` ascend. A size of 0 is left of a gap."""
    if x.sized:
        ticks = picture.size_ticks([at for at in xs if at > 0] or [1.0])
        return Axis(x.title, True, ((curves.zero_place(xs), "0"), *ticks) if xs[0] == 0 else ticks, "B")
    if x.metric:
        return value_axis(x.title, xs, x.metric.unit)
    if xs[0] > 0:
        return Axis(x.title, True, picture.places(xs))
    return Axis(x.title, False, even_ticks(xs[-1], lambda v: f"{v:g}"))


def value_axis(title: str, values: Iterable[float], unit: str, log: bool = False) -> Axis:
    """Return an axis of rates or times: logarithmic if requested or if values are far apart, and all are positive."""
    known = list(values)
    least, most = min(known), max(known)
    if least > 0 and (log or most / least > picture.WIDE):
        return picture.with_unit(title, True, picture.decades(least, most, str), unit)
    return picture.with_unit(title, False, even_ticks(most, str), unit)


def limits_of(lines: Sequence[FigureCurve]) -> list[ChartSeries]:
    """Return the limits of lines with at least two of them; equal ones once."""
    known: dict[tuple[tuple[float, float], ...], str] = {}
    for line in lines:
        if len(line.limits) > 1:
            known.setdefault(line.limits, line.name)
    series = []
    for at, name in known.items():
        title = "limit" if all(line.limits == at for line in lines) else f"limit of {name}"
        xs, ys = zip(*at, strict=True)
        series.append(ChartSeries(title, "line", xs, ys, role="grey"))
    return series


def model_lines(modelled: Modelled | None, lines: Sequence[FigureCurve]) -> list[ChartSeries | None]:
    """Return the model's line for each line of which it predicts at least two points of a length above 0."""
    models: list[ChartSeries | None] = []
    for line in lines:
        points = [(x, y) for x, one in line.cells if x > 0 and modelled and (y := modelled.headline(one))]
        xs, ys = zip(*points, strict=True) if points else ((), ())
        models.append(ChartSeries("model", "line", xs, ys, dash="solid", names="none") if len(xs) > 1 else None)
    return models


def model_series(models: Sequence[ChartSeries | None]) -> list[ChartSeries]:
    """Return the model's lines of a panel in the colours of the measured ones; the first is named."""
    known = [replace(one, role=role) for one, role in zip(models, curves.ROLES, strict=False) if one]
    return [replace(one, names="legend") if one is known[0] else one for one in known]


def model_texts(
    modelled: Modelled | None, lines: Sequence[FigureCurve], models: Sequence[ChartSeries | None]
) -> dict[str, Any]:
    """Return what the model is, if a line of it is drawn, and how far measurements are from it, for `picture_texts`."""
    facts = []
    for line, model in zip(lines, models, strict=True):
        predicted = dict(zip(model.x, model.y, strict=True)) if model else {}
        if ratios := [y / predicted[x] for x, y in line.points if x in predicted]:
            text = " to ".join(dict.fromkeys(f"{ratio:.2g}" for ratio in (min(ratios), max(ratios))))
            facts.append((line.name or "model", f"{text} times the value of the model"))
    return {"model": modelled.text if modelled and any(models) else "", "model_facts": facts}


def table_rows(line: FigureCurve, x: CurveAxis) -> Iterable[tuple[str, ...]]:
    """Return a row per point, of many for evenly spaced ones: curve, place, value, ends, claim, share and limit."""
    for at, figure in thin(line.cells, picture.MAX_POINTS):
        limit, known = figure.at_limit, figure.limit
        source = f"{units.si_text(limit, figure.metric.unit, 4)}: {known.source}" if limit and known else ""
        yield line.name, x.text(at), *value_cells(figure), share_text(figure), source


def value_columns(metric: Metric) -> tuple[str, str, str]:
    """Return the titles of `value_cells`."""
    return metric.name, "low … high", "kind of range"


def value_cells(figure: Figure) -> tuple[str, str, str]:
    """Return the value with its unit, its ends, and what they are."""
    texts = claims.value_texts(figure.value, figure.metric.unit)
    return f"{texts.number} {texts.unit}".strip(), texts.ends, texts.claim


def share_text(figure: Figure) -> str:
    """Return the share of the limit; `best of this run` for a figure that is one; empty if there is none."""
    if figure.is_limit:
        return claims.BEST
    return "" if figure.of_limit is None else units.percent_text(figure.of_limit)


def spread(cells: MeasuredCells, shown: Spread) -> Picture | None:
    """Draw the bands that have two points with all three metrics; return `None` without any."""
    workload, figures = cells.workload, cells.figures
    metric, x = workload.metric(shown.middle), curves.curve_axis(workload, figures, shown.x, shown.along)
    every = _bands(cells, x, shown)
    if not every:
        return None
    kept = thin(every, curves.MAX_SERIES)
    xs = sorted({at for line, *_ in kept for at in line.xs})
    upright = value_axis(metric.name, [y for _, *ends in kept for end in ends for y in end], metric.unit, log=True)
    series, widest = [], []
    for (line, low, high), role in zip(kept, curves.ROLES, strict=False):
        names = "end" if len(kept) > 1 else "none"
        series.append(ChartSeries(line.name, "band", line.xs, line.ys, low, high, role=role, names=names))  # type: ignore[arg-type]
        ratio, at = max(((b / a if a > 0 else 1.0, -i) for i, (a, b) in enumerate(zip(low, high, strict=True))))
        widest.append({"name": line.name, "ratio": ratio, "place": x.text(line.xs[-at])})
    return Picture(
        "spread", shown.title or picture_title(figures, f"{metric.name} of ranks against {x.title}"),
        panels=(Panel(along_axis(x, xs), upright, tuple(series)),),
        header=("band", x.title, shown.low, *value_columns(metric), shown.high, "slowest over fastest"),
        rows=tuple(row for band in kept for row in _spread_rows(band, x)),
        **picture_texts(
            "spread", workload=workload, metric=metric, shown=shown, kept=len(kept), total=len(every), widest=widest
        ),
    )  # fmt: skip


def _bands(cells: MeasuredCells, x: CurveAxis, shown: Spread) -> list[_Band]:
    bands = []
    for line in curves.collect_curves(cells.figure, x, cells.figures, shown.middle, shown.each):
        points = []
        for at, figure in line.cells:
            ends = [cells.figure(figure, name) for name in (shown.low, shown.high)]
            values = [one.value.middle for one in ends if one and one.value]
            if len(values) == len(ends) and at > 0:  # an axis of powers has no place for a size of 0
                points.append(((at, figure), *values))
        if len(points) > 1:
            at_middle, low, high = zip(*points, strict=True)
            bands.append((FigureCurve(line.name, at_middle), low, high))
    return bands


def _spread_rows(band: _Band, x: CurveAxis) -> list[tuple[str, ...]]:
    rows, (line, lows, highs) = list[tuple[str, ...]](), band
    for (at, figure), *ends in zip(line.cells, lows, highs, strict=True):
        low, high = (units.si_text(end, figure.metric.unit, 4) for end in ends)
        ratio = f"×{units.fixed_text(ends[1] / ends[0], 3)}" if ends[0] > 0 else ""
        rows.append((line.name, x.text(at), low, *value_cells(figure), high, ratio))
    return rows


def timeline(cells: MeasuredCells, shown: Timeline) -> Picture | None:
    """Draw the first launch of each figure of the table; return `None` without samples."""
    workload, figures = cells.workload, cells.figures
    metric = workload.metric(shown.y)
    listed = [one for cell in figures if cell.show.table for one in [cells.figure(cell, shown.y)] if one]
    every = [figure for figure in listed if figure.value and figure.launches and len(figure.launches[0].samples)]
    kept = thin(every, curves.MAX_LINES)
    if not kept:
        return None
    series = tuple(map(_sample_series, kept))
    ticks = even_ticks(max(one.x[-1] for one in series), lambda v: f"{v:g}")
    rows = []
    for figure in kept:
        launch = figure.launches[0]
        values = (float(launch.samples[0]), launch.value.middle, float(launch.samples[-1]))
        rows.append((figure.title, figure.mode, str(launch.count), *(units.si_text(v, metric.unit, 4) for v in values)))
    samples = [y for one in series for y in (*one.y, *one.low, *one.high)]
    return Picture(
        "timeline", picture_title(figures, f"{metric.name} in the order of samples"),
        panels=(Panel(Axis("sample", False, ticks), value_axis(metric.name, samples, metric.unit), series),),
        header=("figure", "mode", "samples", "first", "median", "last"), rows=tuple(rows),
        **picture_texts("timeline", workload=workload, most=picture.MAX_POINTS, kept=len(kept), total=len(every)),
    )  # fmt: skip


def _sample_series(figure: Figure) -> ChartSeries:
    """Return a curve; of too many samples, minimum, median and maximum of equal parts."""
    launch = figure.launches[0]
    step = launch.count / len(launch.samples)  # the figure has evenly spaced samples
    if len(launch.samples) <= picture.MAX_POINTS:
        xs = tuple(float(i * step) for i in range(len(launch.samples)))
        return ChartSeries(figure.name, "curve", xs, tuple(map(float, launch.samples)))
    parts = np.array_split(launch.samples, picture.MAX_POINTS)
    begins = np.cumsum([0, *map(len, parts[:-1])])
    xs = tuple(float((begin + (len(one) - 1) / 2) * step) for begin, one in zip(begins, parts, strict=True))
    low, middle, high = (tuple(float(of(one)) for one in parts) for of in (np.min, np.median, np.max))
    return ChartSeries(figure.name, "band", xs, middle, low, high)


def ladder(ladders: Ladders) -> Picture | None:
    """Draw all workloads that declare a ladder in one picture, rates above times; `None` if no line has two places."""
    machine, shown = ladders.machine, ladders.rungs
    if not shown:
        return None
    lines = [line for one in shown for line in one.lines]
    xs = sorted({at for line in lines for at in line.xs})
    marks = cache_marks(machine, xs[0], xs[-1])
    plateaus = sorted(((one, level) for one in shown for level in one.curve.plateaus), key=lambda pair: pair[1].last)
    by_name: dict[str, list[tuple[MeasuredLadder, NamedPlateau]]] = {}
    for one, plateau in plateaus:
        by_name.setdefault(plateau.name, []).append((one, plateau))
    caches = []
    for level in stated_sizes(machine):
        texts = dict.fromkeys(ladders.missing_text(one.curve, one.metric, level) for one in shown)
        is_unnamed = any(one.curve.verdict(level) == "unnamed" for one in shown)
        caches.append((level, size_text(machine, level), is_unnamed, list(filter(None, texts))))
    pages = list(filter(None, map(_page_ratios, shown)))
    texts = picture_texts(
        "ladder", panels=shown, level=_level_text, least=xs[0], most=xs[-1],
        lines=lines, most_marks=MAX_MARKS,
        threads=sorted({len(figure.point.hardware_threads) for line in lines for figure in line.figures}),
        shared=any(len(plateau.levels) > 1 for _, plateau in plateaus), marks=marks, by_name=by_name, pages=pages,
        reach=reach, apart=APART, caches=caches, kept=len(lines), total=len(lines) + sum(one.left_out for one in shown),
    )  # fmt: skip
    columns = ("value", "low … high", "kind of range", "of limit", "limit", "plateau")
    return Picture(
        "ladder", "Memory ladder", panels=tuple(_ladder_panel(one, xs, marks) for one in shown),
        header=("measured", "curve", shown[0].x.title, *columns),
        rows=tuple(row for one in shown for line in one.lines for row in _ladder_rows(one, line)), **texts,
    )  # fmt: skip


def _ladder_panel(one: MeasuredLadder, xs: Sequence[float], marks: tuple[Mark, ...]) -> Panel:
    levels, pages = one.curve.plateaus, _page_ratios(one)
    x, ratio = pages[-1][-1] if pages else (0.0, 0.0)  # of page sizes at the right end
    notes = [Note(x, dict(pages[0].points)[x], claims.ratio(ratio))] if pages and ratio > APART else []
    return Panel(
        along_axis(one.x, xs),
        value_axis(one.metric.name, [y for line in one.lines for y in line.ys], one.metric.unit, log=True),
        curves.curve_series(one.lines, xs, len(one.lines) > 1, at_zero=True), marks, one.title,
        bands=tuple(Span(level.last, level.beyond) for level in levels if level.beyond),
        levels=tuple(Span(level.first, level.last, _level_text(one, level), level.value) for level in levels),
        notes=tuple(notes),
    )  # fmt: skip


def _level_text(one: MeasuredLadder, level: NamedPlateau) -> str:
    value = claims.quantity(level.value, one.metric.unit)
    return f"{level.name} {value}" if level.levels or level.name.startswith("beyond") else f"{value} {level.name}"


def _page_ratios(one: MeasuredLadder) -> tuple[FigureCurve, FigureCurve, list[tuple[float, float]]] | None:
    """Return the lines of base and of larger pages, and how many times as fast these are, by footprint."""
    pages = {line.figures[0].knobs.get("pages", "default"): line.measurable for line in reversed(one.lines)}
    base = pages.get("base")
    large = next((line for name, line in reversed(pages.items()) if name not in ("base", "default")), None)
    if not base or not large:
        return None
    old, new = dict(base.points), dict(large.points)
    at = sorted(old.keys() & new.keys())
    ratios = [(x, old[x] / new[x] if one.metric.better == "lower" else new[x] / old[x]) for x in at]
    return (base, large, ratios) if ratios else None


def _ladder_rows(one: MeasuredLadder, line: FigureCurve) -> Iterable[tuple[str, ...]]:
    for x, (name, *cells) in zip(thin(line.xs, picture.MAX_POINTS), table_rows(line, one.x), strict=True):
        plateau = one.curve.at(x) if line is one.lines[0] else None
        yield f"{one.title}, {one.metric.name}", name, *cells, plateau.name if plateau else ""


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
    predicted = zip(times, model_lines(cells.modelled, times), strict=True)
    source = cells.modelled
    models = [None if source and source.is_made_from(line.figures[0]) else one for line, one in predicted]
    panels = [_time_panel(metric, x, xs, times, parts, marks, models)]
    if rates:
        panels.append(_rate_panel(workload.metric(shown.rate), x, xs, rates, marks))
    texts = picture_texts(
        "messages", workload=workload, metric=metric, lines=times, most_marks=MAX_MARKS, trusted=TRUSTED,
        kept=len(times), total=len(every), segments=segment_facts(parts), **model_texts(source, times, models),
        **_extremes(times[0], [one.measurable for one in rates]),
    )  # fmt: skip
    return Picture(
        "messages", "Messages", panels=tuple(panels),
        header=("curve", x.title, *value_columns(metric), "of limit", "limit"),
        rows=tuple(row for line in (*times, *rates) for row in table_rows(line, x)), **texts,
    )  # fmt: skip


def segment_facts(known: Sequence[Segment]) -> list[tuple[str, str]]:
    """Return the letter and lengths of each segment; its line, the worst error, and the cause of its border."""
    return [(_SEGMENTS.line("name", i, known, ","), _SEGMENTS.line("fact", one)) for i, one in enumerate(known)]


def _segments(caches: Mapping[int, int], lines: Sequence[FigureCurve]) -> tuple[Segment, ...]:
    """Return those of the longest line, fitted together with a line that differs from it in its buffers alone."""
    first, *others = (line.measurable for line in lines)
    points = [[(at, y) for at, y in line.points if y > 0] for line in (first, *others)]
    mate = next((i for i, line in enumerate(others, 1) if _differ_in_buffers(first, line)), None)
    fitted = hot_and_cold(points[0], points[mate], (first.noise, others[mate - 1].noise)) if mate else None
    hot, cold = fitted or ((), ())
    return with_causes(hot or segments(points[0], first.noise), caches, cold, first.noise)


def _differ_in_buffers(one: FigureCurve, other: FigureCurve) -> bool:
    """Return whether two lines have the same messages in other buffers; the reach of rotating ones belongs to these."""
    if not one.figures or not other.figures:
        return False
    first, second = (line.figures[0].knobs for line in (one, other))
    differing = {name for name in first.keys() | second.keys() if first.get(name) != second.get(name)}
    return _BUFFERS in differing and differing <= {_BUFFERS, "rotation", "bytes", *EFFORT}


def _time_panel(
    metric: Metric, x: CurveAxis, xs: Sequence[float], lines: Sequence[FigureCurve], parts: Sequence[Segment],
    marks: tuple[Mark, ...], models: Sequence[ChartSeries | None],
) -> Panel:  # fmt: skip
    least = min((at for at in xs if at > 0), default=1.0)
    values = [y for one in (*(line.ys for line in lines), *(one.y for one in models if one)) for y in one]
    first, place = lines[0], _short_place(lines[0])
    word = Note(first.xs[place], first.ys[place], f"{x.text(first.xs[place])}: {first.point_text(place)}")
    regions, fits = [], []
    for i, (one, after) in enumerate(zip(parts, [*parts[1:], None], strict=False)):
        label = f"{_SEGMENTS.line('name', i, parts, ':')}\n{_SEGMENTS.line('formula', one)}"
        regions.append(Span(max(one.first, least), one.last, label))
        if one.fits:  # up to the next one, unless time jumps there
            last = after.first if after and after.kind == "knee" else one.last
            at = tuple(map(float, np.geomspace(max(one.first, least), last, _DRAWN)))
            fit = tuple(map(one.seconds, at))
            fits.append(ChartSeries(f"line of {label[0]}", "line", at, fit, role="ink", dash="dotted", names="none"))
    return Panel(
        along_axis(x, xs), value_axis(metric.name.capitalize(), values, metric.unit, log=True),
        (*curves.curve_series(lines, xs, len(lines) > 1, at_zero=True), *fits, *model_series(models)), marks,
        regions=tuple(regions) if len(parts) > 1 else (),
        notes=(word,) if first.xs[place] > 0 and len(first.xs) > 1 else (),
    )  # fmt: skip


def _rate_panel(
    metric: Metric, x: CurveAxis, xs: Sequence[float], lines: Sequence[FigureCurve], marks: tuple[Mark, ...]
) -> Panel:
    """Draw the rates, and of the first line the best rate with its length, N½, and the rate of the longest message."""
    limits, good, notes = limits_of(lines), lines[0].measurable, []
    most = max(y for one in (*(line.ys for line in lines), *(one.y for one in limits)) for y in one)
    if len(good.xs) > 1:
        best = _best_place(good)
        value, last = good.ys[best], len(good.xs) - 1
        notes.append(Note(good.xs[best], value, f"best {good.point_text(best)} at {x.text(good.xs[best])}"))
        if half := good.half_length:
            notes.append(Note(half, value / 2, f"N½ = {claims.quantity(half, 'B')}", "both", "diamond"))
        if best != last:
            notes.append(Note(good.xs[last], good.ys[last], good.point_text(last)))
    return Panel(
        along_axis(x, xs), picture.with_unit(metric.name.capitalize(), False, even_ticks(most, str), metric.unit),
        (*curves.curve_series(lines, xs, named=False, at_zero=True), *limits), marks, notes=tuple(notes),
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
        others.append((line.name, [(line.xs[i], line.point_text(i)) for i in points]))
    best = _best_place(first) if first else 0
    return {
        "short_size": times.xs[short], "short_time": times.point_text(short), "others": others,
        "best": (first.xs[best], first.point_text(best)) if first else None,
        "half": first.half_length if first else None,
    }  # fmt: skip
