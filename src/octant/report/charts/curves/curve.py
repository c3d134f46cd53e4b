"""Curves of a run: a metric along a knob or another metric, with its limits; and what pictures of curves share."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from octant import units
from octant.analysis.levels import disputed_levels, stated_sizes
from octant.analysis.names import picture_title
from octant.report import claims
from octant.report.charts.curves import figure_curves as curves
from octant.report.charts.curves.figure_curves import MOST_SERIES, Along, FigureCurve
from octant.report.charts.layout.series import MOST_MARKS
from octant.report.charts.picture import MOST_LINES, MOST_POINTS, Axis, ChartSeries, Mark, Panel, Picture, thin
from octant.report.charts.texts import picture_texts
from octant.report.charts.ticks import WIDE, decades, even_ticks, places, size_ticks, with_unit

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from octant.analysis.figures import Figure
    from octant.analysis.summary import Modelled
    from octant.machine import Machine
    from octant.metric import Metric
    from octant.report.charts.curves.ladders import MeasuredCells
    from octant.workload import Curve


def curve(cells: MeasuredCells, shown: Curve) -> Picture | None:
    """Draw a metric along x; return `None` if no line has two places."""
    workload, figures = cells.workload, cells.figures
    metric, x = workload.metric(shown.y), curves.along(workload, figures, shown.x, shown.along)
    every = curves.lines_of(cells.figure, x, figures, shown.y, shown.each)
    lines = thin(every, MOST_LINES)
    xs = sorted({at for line in lines for at in line.xs})
    if not curves.lead_somewhere(every) or (x.metric and shown.each and len(xs) == 1):  # nothing lies along it
        return None
    marks = cache_marks(cells.ladders.machine, xs[0], xs[-1]) if shown.marks == "caches" else ()
    models = models_of(cells.modelled, lines)
    ys = [y for line in lines for y in (*line.ys, *(limit for _, limit in line.limits))]
    ys += [y for one in models if one for y in one.y]
    across, upright = along_axis(x, xs), value_axis(metric.name, ys, metric.unit, log=True)
    panels = []
    for first in range(0, len(lines), MOST_SERIES):
        group = lines[first : first + MOST_SERIES]
        dressed_lines = curves.dressed(group, xs, len(lines) > 1, across.log)
        series = (*dressed_lines, *limits_of(group), *dressed_models(models[first:]))
        panels.append(Panel(across, upright, series, marks))
    words = [] if x.metric else [
        f"{x.name} {figure.knobs[x.name]}: {units.si_text(figure.value.middle, figure.metric.unit, 4)}"
        for figure in figures
        if not figure.show.table and figure.value and x.name in figure.knobs and x.place(figure.knobs) is None
    ]  # fmt: skip
    texts = picture_texts(
        "curve", workload=workload, metric=metric, reading=how_to_read(every), marks=marks, words=words,
        model=model_text(cells.modelled, models), kept=len(lines), total=len(every), ends=span_text(lines[0], x),
        model_facts=model_facts(lines, models),
    )  # fmt: skip
    return Picture(
        "curve", shown.title or picture_title(figures, f"{metric.name} against {x.title}"), panels=tuple(panels),
        header=("curve", x.title, *value_columns(metric), "of limit", "what the limit is"),
        rows=tuple(row for line in lines for row in table_rows(listed(line), x)), **texts,
    )  # fmt: skip


def size_text(machine: Machine, level: int) -> str:
    """Return the stated size of a cache level: `2 MiB`, `480 MiB (the host's)`."""
    dispute = disputed_levels(machine).get(level)
    return units.bytes_text(stated_sizes(machine)[level]) + (f" ({dispute})" if dispute else "")


def cache_marks(machine: Machine, least: float, most: float) -> tuple[Mark, ...]:
    """Return a line at each stated cache size between two footprints in bytes."""
    sizes = stated_sizes(machine).items()
    known = [(level, float(size)) for level, size in sizes if least <= size <= most]
    return tuple(Mark(size, f"L{level} {size_text(machine, level)}") for level, size in known)


def along_axis(x: Along, xs: Sequence[float]) -> Axis:
    """Return the axis along curves with its ticks; `xs` ascend. A size of 0 is left of a gap."""
    if x.sized:
        ticks = size_ticks([at for at in xs if at > 0] or [1.0])
        return Axis(x.title, True, ((curves.zero_place(xs), "0"), *ticks) if xs[0] == 0 else ticks, "B")
    if x.metric:
        return value_axis(x.title, xs, x.metric.unit)
    if xs[0] > 0:
        return Axis(x.title, True, places(xs))
    return Axis(x.title, False, even_ticks(xs[-1], lambda v: f"{v:g}"))


def value_axis(title: str, values: Iterable[float], unit: str, log: bool = False) -> Axis:
    """Return an axis of rates or times: logarithmic if requested or if values are far apart, and all are positive."""
    known = list(values)
    least, most = min(known), max(known)
    if least > 0 and (log or most / least > WIDE):
        return with_unit(title, True, decades(least, most, str), unit)
    return with_unit(title, False, even_ticks(most, str), unit)


def how_to_read(lines: Sequence[FigureCurve]) -> str:
    """Explain lines, dots and open marks of a picture, as far as it has them."""
    figures, most = [figure for line in lines for figure in line.figures], max(len(line.xs) for line in lines)
    text = "Lines join medians" if most > 2 else "Marks are medians"
    text += "; small dots are launches" * any(len(figure.counted) > 1 for figure in figures)
    text += "; open marks are not measurable" * any(figure.invalid for figure in figures)
    text += f". Of more than {MOST_MARKS} points, each pixel column has minimum, median and maximum" * (
        most > MOST_MARKS
    )
    return f"{text}. The table has the intervals."


def span_text(line: FigureCurve, x: Along) -> str:
    """Return the ends of a curve: `1.39 ns at 8 KiB, 190 ns at 512 MiB`."""
    ends = dict.fromkeys((0, len(line.xs) - 1))
    return ", ".join(f"{point_text(line, i)} at {x.text(line.xs[i])}" for i in ends)


def point_text(line: FigureCurve, number: int) -> str:
    """Return the value of a point to three digits: `1.39 ns`."""
    return claims.quantity(line.ys[number], line.figures[number].metric.unit)


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


def models_of(modelled: Modelled | None, lines: Sequence[FigureCurve]) -> list[ChartSeries | None]:
    """Return the model's line for each line of which it predicts at least two points of a length above 0."""
    models: list[ChartSeries | None] = []
    for line in lines:
        at = zip(line.xs, line.figures, strict=True) if modelled else ()
        points = [(x, y) for x, figure in at if x > 0 and modelled and (y := modelled.headline(figure))]
        xs, ys = zip(*points, strict=True) if points else ((), ())
        drawn = ChartSeries("model", "line", xs, ys, dash="solid", names="none")
        models.append(drawn if len(points) > 1 else None)
    return models


def dressed_models(models: Sequence[ChartSeries | None]) -> list[ChartSeries]:
    """Return the model's lines of a panel in the colours of the measured ones; the first is named."""
    known = [replace(one, role=role) for one, role in zip(models, curves.ROLES, strict=False) if one]
    return [replace(one, names="legend") if one is known[0] else one for one in known]


def model_text(modelled: Modelled | None, models: Sequence[ChartSeries | None]) -> str:
    """Return what the model is; empty if none of its lines is drawn."""
    return modelled.text if modelled and any(models) else ""


def model_facts(lines: Sequence[FigureCurve], models: Sequence[ChartSeries | None]) -> list[tuple[str, str]]:
    """Return how far measurements are from the model: `1.1 to 2.3 times the model's`."""
    facts = []
    for line, model in zip(lines, models, strict=True):
        predicted = dict(zip(model.x, model.y, strict=True)) if model else {}
        ratios = [y / predicted[x] for x, y in line.points if x in predicted]
        if ratios:
            text = " to ".join(dict.fromkeys(f"{ratio:.2g}" for ratio in (min(ratios), max(ratios))))
            facts.append((line.name or "model", f"{text} times the model's"))
    return facts


def listed(line: FigureCurve) -> FigureCurve:
    """Return the points that a table lists: of many, evenly spaced ones."""
    kept = thin(list(zip(line.xs, line.figures, strict=True)), MOST_POINTS)
    return FigureCurve(line.name, tuple(x for x, _ in kept), tuple(figure for _, figure in kept))


def table_rows(line: FigureCurve, x: Along) -> Iterable[tuple[str, ...]]:
    """Return a row per point: curve, place, value, ends, claim, share and limit."""
    for at, figure in zip(line.xs, line.figures, strict=True):
        limit = figure.at_limit
        source = (
            units.si_text(limit, figure.metric.unit, 4) + f": {figure.limit.source}" if limit and figure.limit else ""
        )
        yield line.name, x.text(at), *value_cells(figure), share_text(figure), source


def value_columns(metric: Metric) -> tuple[str, str, str]:
    """Return the titles of `value_cells`."""
    return metric.name, "low … high", "which is"


def value_cells(figure: Figure) -> tuple[str, str, str]:
    """Return the value with its unit, its ends, and what they are."""
    texts = claims.value_texts(figure.value, figure.metric.unit)
    return f"{texts.number} {texts.unit}".strip(), texts.ends, texts.claim


def share_text(figure: Figure) -> str:
    """Return the share of the limit; `limit` for a figure that is one; empty if there is none."""
    if figure.is_limit:
        return "limit"
    return "" if figure.of_limit is None else units.percent_text(figure.of_limit)
