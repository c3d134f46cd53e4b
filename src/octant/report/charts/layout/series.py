"""Draws series between two numeric axes: lines, marks, launches, intervals, bands and bars."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING

from octant.report.charts.layout.labels import Box
from octant.report.charts.layout.scale import clipped, value_text
from octant.report.charts.layout.svg import RADIUS, Sheet, closed, dots, open_line, px

if TYPE_CHECKING:
    from collections.abc import Sequence

    from octant.report.charts.layout.labels import Spot
    from octant.report.charts.layout.looks import Look
    from octant.report.charts.layout.scale import Scale
    from octant.report.charts.picture import ChartSeries, Panel

MOST_MARKS = 1000
"""A series of more points is drawn by its least, median and greatest in each pixel column."""
_PALEST = 0.12  # opacity of the palest cell
_TITLED = 200  # marks of a series that say what they are on pointing


def draw_series(sheet: Sheet, series: ChartSeries, look: Look, panel: Panel, x: Scale, y: Scale, base: float) -> None:
    """Draws one series; `base` is the height of the x axis, px."""
    with sheet.group(look.colour):
        if series.kind == "bars":
            _bars(sheet, series, panel, x, y, base)
            return
        if series.kind == "cells":
            _cells(sheet, series, x, y)
            return
        spots = [(x.at(a), y.at(b)) for a, b in zip(series.x, series.y, strict=True) if x.holds(a) and y.holds(b)]
        if series.kind == "band":
            _area(sheet, series.x, series.low, series.high, x, y)
        if series.kind in ("curve", "points") and len(spots) > MOST_MARKS:
            _columns(sheet, spots, look)
            return
        joined = len(series.x) > 1 if series.kind in ("line", "band") else len(series.x) > 2
        if series.kind != "points" and joined:
            _line(sheet, list(zip(series.x, series.y, strict=True)), look, x, y)
        sheet.path("dots", dots([(x.at(a), y.at(b)) for a, b in series.dots if x.holds(a) and y.holds(b)]))
        if series.kind == "points":
            _intervals(sheet, series, x, y)
        if series.kind in ("curve", "points"):
            _marks(sheet, series, look, panel, x, y)


def point_title(series: ChartSeries, number: int, panel: Panel) -> str:
    """What a point is, for those who point at it."""
    x, y = value_text(series.x[number], panel.x), value_text(series.y[number], panel.y)
    label = series.labels[number] if number < len(series.labels) else series.name
    ends = ""
    if series.low and series.high:
        axis = panel.x if series.kind in ("rows", "across", "stack") else panel.y
        ends = f" ({value_text(series.low[number], axis)} … {value_text(series.high[number], axis)})"
    if series.kind in ("rows", "across", "stack"):
        return f"{label}: {x}{ends}"
    return f"{label}, {x}: {y}{ends}"


def _line(sheet: Sheet, points: Sequence[Spot], look: Look, x: Scale, y: Scale) -> None:
    pieces = clipped(points, x, y)
    sheet.path(f"l {look.dash}".rstrip(), "".join(map(open_line, pieces)))
    for piece in pieces:
        sheet.field.add_line(piece)


def _marks(sheet: Sheet, series: ChartSeries, look: Look, panel: Panel, x: Scale, y: Scale) -> None:
    crowded = len(series.x) > 60
    radius = 2.2 if crowded else RADIUS
    for i, (a, b) in enumerate(zip(series.x, series.y, strict=True)):
        if x.holds(a) and y.holds(b):
            is_open = look.open or (i < len(series.open) and series.open[i])
            title = point_title(series, i, panel) if len(series.x) <= _TITLED else ""
            sheet.mark("o" if is_open else "m", look.shape, (x.at(a), y.at(b)), title, radius)


def _intervals(sheet: Sheet, series: ChartSeries, x: Scale, y: Scale) -> None:
    lines = []
    for a, low, high in zip(series.x, series.low, series.high, strict=False):
        if x.holds(a) and math.isfinite(low) and math.isfinite(high) and high > low:
            line = [(x.at(a), y.held(low)), (x.at(a), y.held(high))]
            lines.append(open_line(line))
            sheet.field.add_line(line)
    sheet.path("v", "".join(lines))


def _area(sheet: Sheet, xs: Sequence[float], low: Sequence[float], high: Sequence[float], x: Scale, y: Scale) -> None:
    ends = [(x.at(a), y.held(b), y.held(c)) for a, b, c in zip(xs, low, high, strict=False) if x.holds(a)]
    if len(ends) > 1:
        upper, lower = [(a, c) for a, _, c in ends], [(a, b) for a, b, _ in ends]
        sheet.path("area", closed([*upper, *reversed(lower)]))
        sheet.field.add_line(upper)
        sheet.field.add_line(lower)


def _columns(sheet: Sheet, spots: Sequence[Spot], look: Look) -> None:
    """Least, median and greatest of each pixel column, as an area and a line."""
    columns: dict[int, list[float]] = {}
    for x, y in spots:
        columns.setdefault(round(x), []).append(y)
    found = [(float(x), sorted(ys)) for x, ys in sorted(columns.items())]
    upper, lower = [(x, ys[0]) for x, ys in found], [(x, ys[-1]) for x, ys in found]
    middle = [(x, ys[len(ys) // 2]) for x, ys in found]
    sheet.path("area", closed([*upper, *reversed(lower)]))
    sheet.path(f"l {look.dash}".rstrip(), open_line(middle))
    for line in (upper, lower, middle):
        sheet.field.add_line(line)


def _bars(sheet: Sheet, series: ChartSeries, panel: Panel, x: Scale, y: Scale, base: float) -> None:
    """A bar over each stretch of x; all are as wide as the middles nearest to each other are apart."""
    known = [(x.at(a), b, i) for i, (a, b) in enumerate(zip(series.x, series.y, strict=True)) if x.holds(a) and b > 0]
    places = sorted({x.at(a) for a in series.x if x.holds(a)})
    half = min((b - a for a, b in pairwise(places)), default=24.0) / 2
    for at, height, i in known:
        top = y.held(height)
        left, right = max(x.begin, at - half), min(x.end, at + half)
        if right <= left or top >= base:
            continue
        box = Box(left, top, max(left + 0.5, right - 1.0), base)
        sheet.rect("b", box, point_title(series, i, panel))
        sheet.field.add_line([(box.left, top), (box.right, top)])
        sheet.field.add_line([(at, top), (at, base)])


def _cells(sheet: Sheet, series: ChartSeries, x: Scale, y: Scale) -> None:
    """Squares of one unit of each axis; the palest can still be seen."""
    titled = len(series.x) <= _TITLED
    for i, (a, b, shade) in enumerate(zip(series.x, series.y, series.shades, strict=True)):
        if x.holds(a) and y.holds(b):
            box = Box(x.held(a - 0.5), y.held(b + 0.5), x.held(a + 0.5), y.held(b - 0.5))
            sheet.rect(
                "b", box, series.labels[i] if titled and i < len(series.labels) else "", _PALEST + (1 - _PALEST) * shade
            )


def arrow(at: Spot, right: bool) -> str:
    """Path data of a head that says: there is more beyond the axis."""
    x, y = at
    way = 1 if right else -1
    return f"M{px(x)} {px(y)}l{px(-6 * way)} -3.5v7z"
