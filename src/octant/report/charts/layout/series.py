"""Series between two numeric axes: their looks, lines, marks, launches, intervals, bands, bars and cells."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from octant.report.charts.layout.labels import Box, Spot
from octant.report.charts.layout.scale import Scale, clipped, value_text
from octant.report.charts.layout.svg import RADIUS, Sheet, closed, dots, px
from octant.report.charts.picture import ChartSeries, Panel, Picture

MAX_MARKS = 1000
"""A series of more points is drawn by its minimum, median and maximum in each pixel column."""
_PALEST = 0.12  # opacity of the palest cell
_TITLED = 200  # a series of more marks has no titles at its marks
_LYING = ("rows", "across", "stack")
_HUES = ("s1", "s2", "s3", "s4")
_DASHES = ("", "d2", "d3", "d4")
_SHAPES = ("circle", "square", "triangle", "diamond")
_CLASSES = {"ink": "ink", "grey": "grey", "faint": "faint", "published": "grey"}
_DASH_OF = {"solid": "", "dashed": "d2", "dotted": "d3", "dash-dot": "d4"}


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
        if series.kind in ("curve", "points") and len(spots) > MAX_MARKS:
            _columns(sheet, spots, look)
            return
        joined = len(series.x) > 1 if series.kind in ("line", "band") else len(series.x) > 2
        if series.kind != "points" and joined:
            sheet.lines(f"l {look.dash}".rstrip(), *clipped(points, x, y))
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
    ends = zip(series.x, series.low, series.high, strict=False)
    known = [one for one in ends if x.holds(one[0]) and -math.inf < one[1] < one[2] < math.inf]
    sheet.lines("v", *([(x.at(a), y.held(low)), (x.at(a), y.held(high))] for a, low, high in known))


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
    sheet.lines(f"l {look.dash}".rstrip(), [(x, ys[len(ys) // 2]) for x, ys in stacks])


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


@dataclass(frozen=True)
class Look:
    """The classes of a series: colour, dash of its line, shape of its marks."""

    colour: str
    dash: str
    shape: str
    open: bool = False  # published values


def looks(picture: Picture) -> list[list[Look]]:
    """Return the look of each series of each panel; series of the same name look the same in all panels."""
    known: dict[str, Look] = {}
    every = []
    for panel in picture.panels:
        every.append(_panel_looks(panel, known))
        known.update({one.name: look for one, look in zip(panel.series, every[-1], strict=True) if one.name})
    return every


def _panel_looks(panel: Panel, known: dict[str, Look]) -> list[Look]:
    taken = {one.role for one in panel.series}
    free = [i for i in range(16) if f"series-{i + 1}" not in taken] * 8
    plain = 0
    chosen = []
    for one in panel.series:
        if not one.role and one.name in known:
            chosen.append(known[one.name])
        elif not one.role and one.kind == "line":
            chosen.append(_look(one, "ink", plain))
            plain += 1
        elif not one.role or one.role.startswith("series-"):
            number = int(one.role[-1]) - 1 if one.role else free.pop(0)
            chosen.append(_look(one, _HUES[number % 4], number))
        else:
            chosen.append(_look(one, _CLASSES[one.role], 3 if one.role == "published" else 0))
    return chosen


def _look(one: ChartSeries, colour: str, number: int) -> Look:
    """Return the `number`-th look; from the fifth on, hues return with another mark and dash."""
    turn = (number + number // 4) % 4
    dash = _DASH_OF[one.dash] if one.dash else "" if one.role == "published" else _DASHES[turn]
    return Look(colour, dash, one.marker or _SHAPES[turn], one.role == "published")
