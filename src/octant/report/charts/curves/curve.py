"""Curves of a run: a metric against a knob or another metric, with its limits; and what pictures of curves share."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from octant import units
from octant.analysis.names import picture_title
from octant.report import claims
from octant.report.charts.curves.caches import cache_marks
from octant.report.charts.curves.lines import (
    MOST_SERIES,
    ROLES,
    Along,
    FigureCurve,
    along,
    dressed,
    lead_somewhere,
    lines_of,
    zero_place,
)
from octant.report.charts.layout.series import MOST_MARKS
from octant.report.charts.picture import MOST_LINES, MOST_POINTS, Axis, ChartSeries, Panel, Picture, thin, thinned_text
from octant.report.charts.ticks import WIDE, decades, even_ticks, places, size_ticks, with_unit

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from octant.analysis.figures import Figure
    from octant.analysis.summary import Modelled
    from octant.metric import Metric
    from octant.report.charts.cells import MeasuredCells
    from octant.workload import Curve

_WORDS = 8  # values without a place on the axis that a caption names


def curve(cells: MeasuredCells, shown: Curve) -> Picture | None:
    """A metric along x; `None` where no line has two places."""
    workload, figures = cells.workload, cells.figures
    metric, x = workload.metric(shown.y), along(workload, figures, shown.x, shown.along)
    every = lines_of(cells.figure, x, figures, shown.y, shown.each)
    if not lead_somewhere(every):
        return None
    lines = thin(every, MOST_LINES)
    xs = sorted({at for line in lines for at in line.xs})
    if x.metric and shown.each and len(xs) == 1:
        return None  # nothing lies along it
    marks = cache_marks(cells.ladders.machine, xs[0], xs[-1]) if shown.marks == "caches" else ()
    across = along_axis(x, xs)
    models = models_of(cells.modelled, lines)
    ys = [y for line in lines for y in (*line.ys, *(limit for _, limit in line.limits))]
    ys += [y for one in models if one for y in one.y]
    upright = value_axis(metric.name, ys, metric.unit, log=True)
    named = len(lines) > 1
    groups = [lines[i : i + MOST_SERIES] for i in range(0, len(lines), MOST_SERIES)]
    return Picture(
        "curve",
        shown.title or picture_title(figures, f"{metric.name} against {x.title}"),
        f"{workload.summary}. {how_to_read(every)}{f' {metric.name.capitalize()}: {metric.note}.' * bool(metric.note)}"
        + model_text(cells.modelled, models)
        + " Dotted: sizes of caches as the system states them." * bool(marks)
        + _words_text(x, figures)
        + thinned_text(len(lines), len(every), "lines"),
        tuple(
            Panel(
                across,
                upright,
                (*dressed(group, xs, named, across.log), *limits_of(group), *dressed_models(models[first:])),
                marks,
            )
            for first, group in zip(range(0, len(lines), MOST_SERIES), groups, strict=True)
        ),
        ("curve", x.title, *value_columns(metric), "of limit", "what the limit is"),
        tuple(cells for line in lines for cells in table_rows(listed(line), x)),
        label=f"{metric.name.capitalize()} of {workload.name}: {span_text(lines[0], x)}.",
        facts=model_facts(lines, models),
    )


def along_axis(x: Along, xs: Sequence[float]) -> Axis:
    """The axis along curves with its ticks; `xs` ascend. A size of 0 stands left of a gap."""
    if x.sized:
        ticks = size_ticks([at for at in xs if at > 0] or [1.0])
        return Axis(x.title, True, ((zero_place(xs), "0"), *ticks) if xs[0] == 0 else ticks, "B")
    if x.metric:
        return value_axis(x.title, xs, x.metric.unit)
    if xs[0] > 0:
        return Axis(x.title, True, places(xs))
    return Axis(x.title, False, even_ticks(xs[-1], lambda v: f"{v:g}"))


def value_axis(title: str, values: Iterable[float], unit: str, log: bool = False) -> Axis:
    """An axis of rates or times: logarithmic if asked, or where values are far apart, as long as all are positive."""
    known = list(values)
    least, most = min(known), max(known)
    if least > 0 and (log or most / least > WIDE):
        return with_unit(title, True, decades(least, most, str), unit)
    return with_unit(title, False, even_ticks(most, str), unit)


def how_to_read(lines: Sequence[FigureCurve]) -> str:
    """What lines, dots and open marks of a picture are, as far as it has them."""
    figures = [figure for line in lines for figure in line.figures]
    text = "Lines join medians" if max(len(line.xs) for line in lines) > 2 else "Marks are medians"
    text += "; small dots are launches" * any(len(figure.counted) > 1 for figure in figures)
    text += "; open marks are not measurable" * any(figure.invalid for figure in figures)
    if max(len(line.xs) for line in lines) > MOST_MARKS:
        text += f". Of more than {MOST_MARKS} points the least, median and greatest in each column are drawn"
    return f"{text}. Intervals stand in the table."


def span_text(line: FigureCurve, x: Along) -> str:
    """The ends of a curve in words: `1.39 ns at 8 KiB, 190 ns at 512 MiB`."""
    ends = [f"{point_text(line, i)} at {x.text(line.xs[i])}" for i in dict.fromkeys((0, len(line.xs) - 1))]
    return ", ".join(ends)


def point_text(line: FigureCurve, number: int) -> str:
    """The value of a point to three digits: `1.39 ns`."""
    return claims.quantity(line.ys[number], line.figures[number].metric.unit)


def limits_of(lines: Sequence[FigureCurve]) -> list[ChartSeries]:
    """What the hardware could give, drawn where at least two points of a line have a limit; equal ones once."""
    known: dict[tuple[tuple[float, float], ...], str] = {}
    for line in lines:
        if len(line.limits) > 1:
            known.setdefault(line.limits, line.name)
    return [
        ChartSeries(
            "limit" if all(line.limits == at for line in lines) else f"limit of {name}",
            "line",
            tuple(x for x, _ in at),
            tuple(y for _, y in at),
            role="grey",
        )
        for at, name in known.items()
    ]  # fmt: skip


def models_of(modelled: Modelled | None, lines: Sequence[FigureCurve]) -> list[ChartSeries | None]:
    """What the model says of each line, where it has an answer to two of its points and length is above 0."""
    return [_model_of(modelled, line) if modelled else None for line in lines]


def _model_of(modelled: Modelled, line: FigureCurve) -> ChartSeries | None:
    at = zip(line.xs, line.figures, strict=True)
    found = [(x, y) for x, figure in at if x > 0 and (y := modelled.headline(figure))]
    if len(found) < 2:
        return None
    return ChartSeries(
        "model", "line", tuple(x for x, _ in found), tuple(y for _, y in found), dash="solid", names="none"
    )


def dressed_models(models: Sequence[ChartSeries | None]) -> list[ChartSeries]:
    """The model's lines of a panel in the colours of what they stand beside; the first is named."""
    known = [replace(one, role=role) for one, role in zip(models, ROLES, strict=False) if one]
    return [replace(one, names="legend") if one is known[0] else one for one in known]


def model_text(modelled: Modelled | None, models: Sequence[ChartSeries | None]) -> str:
    """What the lines without marks are; empty without any."""
    if modelled is None or not any(models):
        return ""
    what = f"the network model: {modelled.text}"
    return f" Without marks: {what}; of a library's collectives the fastest that it knows."


def model_facts(lines: Sequence[FigureCurve], models: Sequence[ChartSeries | None]) -> tuple[tuple[str, str], ...]:
    """How far what was measured is from the model: `1.1 to 2.3 times the model's time`."""
    facts = []
    for line, model in zip(lines, models, strict=True):
        if model:
            said = dict(zip(model.x, model.y, strict=True))
            ratios = [y / said[x] for x, y in line.points if x in said]
            text = " to ".join(dict.fromkeys(f"{ratio:.2g}" for ratio in (min(ratios), max(ratios))))
            facts.append((line.name or "model", f"{text} times the model's"))
    return tuple(facts)


def listed(line: FigureCurve) -> FigureCurve:
    """The points that a table lists: of many, evenly chosen."""
    kept = thin(list(zip(line.xs, line.figures, strict=True)), MOST_POINTS)
    return FigureCurve(line.name, tuple(x for x, _ in kept), tuple(figure for _, figure in kept))


def table_rows(line: FigureCurve, x: Along) -> Iterable[tuple[str, ...]]:
    """A row for each point: curve, place, value, ends, claim, share and limit."""
    for at, figure in zip(line.xs, line.figures, strict=True):
        yield line.name, x.text(at), *value_cells(figure), share_text(figure), _source(figure)


def value_columns(metric: Metric) -> tuple[str, str, str]:
    """The titles of `value_cells`."""
    return metric.name, "low … high", "which is"


def value_cells(figure: Figure) -> tuple[str, str, str]:
    """The value with its unit, its ends, and what they are."""
    texts = claims.value_texts(figure.value, figure.metric.unit)
    return f"{texts.number} {texts.unit}".strip(), texts.ends, texts.claim


def share_text(figure: Figure) -> str:
    """The share of the limit; `limit` for a figure that is one; empty where there is none."""
    if figure.is_limit:
        return "limit"
    return "" if figure.of_limit is None else units.percent_text(figure.of_limit)


def _source(figure: Figure) -> str:
    limit = figure.at_limit
    return f"{units.si_text(limit, figure.metric.unit, 4)}: {figure.limit.source}" if limit and figure.limit else ""


def _words_text(x: Along, figures: Sequence[Figure]) -> str:
    """Points whose value of the knob is a word, such as `scalar`: they have no place, but are not kept back."""
    if x.metric:
        return ""
    words = [
        f"{x.name} {figure.knobs[x.name]}: {units.si_text(figure.value.middle, figure.metric.unit, 4)}"
        for figure in figures
        if not figure.show.table and figure.value and x.name in figure.knobs and x.place(figure.knobs) is None
    ]
    more = f" and {len(words) - _WORDS} more" if len(words) > _WORDS else ""
    return f" Without a place on the axis: {'; '.join(words[:_WORDS])}{more}." if words else ""
