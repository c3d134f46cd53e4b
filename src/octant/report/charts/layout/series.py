"""Draw series between two numeric axes: lines, marks, launches, intervals, bands, bars and cells."""

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
"""A series of more points is drawn by its minimum, median and maximum in each pixel column."""
_PALEST = 0.12  # opacity of the palest cell
_TITLED = 200  # a series of more marks has no titles at its marks
_LYING = ("rows", "across", "stack")


def draw_series(sheet: Sheet, series: ChartSeries, look: Look, panel: Panel, x: Scale, y: Scale, base: float) -> None:
    """Draw one series; `base` is the height of the x axis, px."""
    with sheet.group(look.colour):
        if series.kind == "bars":
            _bars(sheet, series, panel, x, y, base)
            return
        if series.kind == "cells":
            _cells(sheet, series, x, y)
            return
        points = list(zip(series.x, series.y, strict=True))
        spots = [(x.at(a), y.at(b)) for a, b in points if x.holds(a) and y.holds(b)]
        if series.kind == "band":
            ends = zip(series.x, series.low, series.high, strict=False)
            _area(sheet, [(x.at(a), y.held(low), y.held(high)) for a, low, high in ends if x.holds(a)])
        if series.kind in ("curve", "points") and len(spots) > MOST_MARKS:
            _columns(sheet, spots, look)
            return
        joined = len(series.x) > 1 if series.kind in ("line", "band") else len(series.x) > 2
        if series.kind != "points" and joined:
            pieces = clipped(points, x, y)
            sheet.path(f"l {look.dash}".rstrip(), "".join(map(open_line, pieces)))
            for piece in pieces:
                sheet.field.add_line(piece)
        sheet.path("dots", dots([(x.at(a), y.at(b)) for a, b in series.dots if x.holds(a) and y.holds(b)]))
        if series.kind == "points":
            _intervals(sheet, series, x, y)
        if series.kind in ("curve", "points"):
            radius = 2.2 if len(series.x) > 60 else RADIUS
            for i, (a, b) in enumerate(points):
                if x.holds(a) and y.holds(b):
                    title = point_title(series, i, panel) if len(series.x) <= _TITLED else ""
                    sheet.mark(mark_kind(series, look, i), look.shape, (x.at(a), y.at(b)), title, radius)


def mark_kind(series: ChartSeries, look: Look, number: int) -> str:
    """Return the class of a mark: open or filled."""
    return "o" if look.open or (number < len(series.open) and series.open[number]) else "m"


def point_title(series: ChartSeries, number: int, panel: Panel) -> str:
    """Return the text that a browser shows when the pointer is over a point."""
    lies = series.kind in _LYING
    x, y = value_text(series.x[number], panel.x), value_text(series.y[number], panel.y)
    label = series.labels[number] if number < len(series.labels) else series.name
    ends = ""
    if series.low and series.high:
        low, high = (value_text(side[number], panel.x if lies else panel.y) for side in (series.low, series.high))
        ends = f" ({low} … {high})"
    return f"{label}: {x}{ends}" if lies else f"{label}, {x}: {y}{ends}"


def _intervals(sheet: Sheet, series: ChartSeries, x: Scale, y: Scale) -> None:
    lines = []
    for a, low, high in zip(series.x, series.low, series.high, strict=False):
        if x.holds(a) and math.isfinite(low) and math.isfinite(high) and high > low:
            lines.append([(x.at(a), y.held(low)), (x.at(a), y.held(high))])
            sheet.field.add_line(lines[-1])
    sheet.path("v", "".join(map(open_line, lines)))


def _area(sheet: Sheet, ends: Sequence[tuple[float, float, float]]) -> None:
    """Draw the area between the lower and the upper ends at each x, px."""
    if len(ends) > 1:
        upper, lower = [(x, high) for x, _, high in ends], [(x, low) for x, low, _ in ends]
        sheet.path("area", closed([*upper, *reversed(lower)]))
        sheet.field.add_line(upper)
        sheet.field.add_line(lower)


def _columns(sheet: Sheet, spots: Sequence[Spot], look: Look) -> None:
    """Draw minimum, median and maximum of each pixel column as an area and a line."""
    columns: dict[int, list[float]] = {}
    for x, y in spots:
        columns.setdefault(round(x), []).append(y)
    stacks = [(float(x), sorted(ys)) for x, ys in sorted(columns.items())]
    _area(sheet, [(x, ys[-1], ys[0]) for x, ys in stacks])
    middle = [(x, ys[len(ys) // 2]) for x, ys in stacks]
    sheet.line(f"l {look.dash}".rstrip(), *middle)


def _bars(sheet: Sheet, series: ChartSeries, panel: Panel, x: Scale, y: Scale, base: float) -> None:
    """Draw a bar over each part of x; all are as wide as the least distance between their centres."""
    shown = [(x.at(a), b, i) for i, (a, b) in enumerate(zip(series.x, series.y, strict=True)) if x.holds(a)]
    half = min((b - a for a, b in pairwise(sorted({at for at, _, _ in shown}))), default=24.0) / 2
    for at, height, i in shown:
        top, left, right = y.held(height), max(x.begin, at - half), min(x.end, at + half)
        if height <= 0 or right <= left or top >= base:
            continue
        box = Box(left, top, max(left + 0.5, right - 1.0), base)
        sheet.rect("b", box, point_title(series, i, panel))
        sheet.field.add_line([(box.left, top), (box.right, top)])
        sheet.field.add_line([(at, top), (at, base)])


def _cells(sheet: Sheet, series: ChartSeries, x: Scale, y: Scale) -> None:
    """Draw squares of one unit of each axis; the palest is visible."""
    labels = series.labels if len(series.x) <= _TITLED else ()
    for i, (a, b, shade) in enumerate(zip(series.x, series.y, series.shades, strict=True)):
        if x.holds(a) and y.holds(b):
            box = Box(x.held(a - 0.5), y.held(b + 0.5), x.held(a + 0.5), y.held(b - 0.5))
            sheet.rect("b", box, labels[i] if i < len(labels) else "", _PALEST + (1 - _PALEST) * shade)


def arrow(at: Spot, right: bool) -> str:
    """Return path data of an arrow head for a value beyond the axis."""
    return f"M{px(at[0])} {px(at[1])}l{px(-6 if right else 6)} -3.5v7z"
