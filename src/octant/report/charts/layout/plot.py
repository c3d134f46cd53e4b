"""Panels with two numeric axes: series, grid, and the texts at them, also the names of series."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from octant.report.charts.layout import frame
from octant.report.charts.layout.frame import LegendEntry, Look, PanelPlace, Scale, clipped
from octant.report.charts.layout.labels import ABOVE, BELOW, Box, Spot, Text, cut, spread, text_width, wrap
from octant.report.charts.layout.svg import RADIUS, Sheet, closed, dots, open_line
from octant.report.charts.picture import ChartSeries, Note, Panel, Span

_PITCH = 1.2
_GAP = 8.0
MAX_MARKS = 1000
"""A series of more points is drawn by its minimum, median and maximum in each pixel column."""
_PALEST = 0.12  # opacity of the palest cell
_TITLED = 200  # a series of more marks has no titles at its marks
_JOINED = ("curve", "points", "line", "band")
_SHARES = (0.5, 0.44, 0.56, 0.38, 0.62, 0.32, 0.68, 0.26, 0.74, 0.8, 0.2)
"""Where along a line its name may be, the preferred place first."""


class Plot(NamedTuple):
    """A panel under construction: its place and its frame."""

    sheet: Sheet
    place: PanelPlace
    panel: Panel
    x: Scale
    y: Scale

    @property
    def room(self) -> Box:
        """The area in which labels may be."""
        return Box(self.place.left, self.y.end - 2, self.place.right, self.y.begin - 1)


def draw_plots(sheet: Sheet, place: PanelPlace, panels: Sequence[Panel], looks: Sequence[Sequence[Look]]) -> float:
    """Draw panels with one x axis, one below the other; return where they end, px."""
    panels = [_drawable(panel, place) for panel in panels]
    axis = panels[0].x
    single = 232.0 if len(panels) == 1 else 150.0 if place.narrow else 160.0
    heights = [single * panel.height for panel in panels]
    names = [_series_names(panel, mine, place, h) for panel, mine, h in zip(panels, looks, heights, strict=True)]
    ticks = (text_width(text, place.small) for panel in panels for _, text in panel.y.ticks)
    left = place.left + max(ticks, default=0.0) + 8
    right = place.right - max(frame.half_of_last(axis, place), *(_room_at_end(shown, place.size) for shown, _ in names))
    values = [value for panel in panels for value in frame.x_values(panel)]
    bars = any(one.kind in ("bars", "line") for panel in panels for one in panel.series)
    across = frame.scale(axis, values, left, right, 0 if bars else 8)
    labelled: set[tuple[float, str]] = set()
    bottom, entries = place.top, list[LegendEntry]()
    for number, (panel, mine, (shown, in_legend)) in enumerate(zip(panels, looks, names, strict=True)):
        marks = tuple(replace(m, label="") if (m.at, m.label) in labelled else m for m in panel.marks)
        labelled.update((mark.at, mark.label) for mark in panel.marks)
        at = place._replace(top=bottom + 14 * bool(number))
        bottom = _draw(sheet, at, replace(panel, marks=marks), mine, shown, across, heights[number])
        is_last = number == len(panels) - 1
        bottom = frame.x_axis(sheet, place, axis if is_last else replace(axis, ticks=(), title=""), across, bottom)
        below = {line.name for line in panel.series if line.names == "legend"} | in_legend
        entries += [entry for entry in frame.legend_entries(panel, mine, below) if entry not in entries]
    return frame.legend(sheet, place, entries, left, bottom + 6)


def _draw(
    sheet: Sheet, place: PanelPlace, panel: Panel, looks: Sequence[Look], names: Sequence[_SeriesName], x: Scale,
    height: float,
) -> float:  # fmt: skip
    """Draw one panel above its x axis; return the height of the axis, px."""
    top = frame.draw_head(sheet, place, panel, panel.y.title, x) + 6
    feet = [region for region in panel.regions if region.place == "bottom"]
    foot = place.size * frame.PITCH * max(region.label.count("\n") + 1 for region in feet) + 6 if feet else 0.0
    low = any(one.kind == "bars" for one in panel.series) or (not panel.y.log and not panel.y.ends)
    y = frame.scale(panel.y, frame.y_values(panel), top + height - foot, top, 0 if low else 6)
    plot, base = Plot(sheet, place, panel, x, y), top + height
    _draw_ground(plot, base)
    for one, look in zip(panel.series, looks, strict=True):
        _draw_series(sheet, one, look, panel, x, y, base)
    levels = ([(x.held(one.begin), y.at(one.y)), (x.held(one.end), y.at(one.y))] for one in panel.levels)
    sheet.lines("level", *levels)
    _draw_guides(plot, base)
    frame.regions(sheet, place, feet, x, base - foot - 2)
    _write_names(plot, names)
    for level in panel.levels:
        _label_level(plot, level)
    for note in panel.notes:
        _write_note(plot, note)
    _label_points(plot)
    return base


def _drawable(panel: Panel, place: PanelPlace) -> Panel:
    """Return the panel without what has no place on its axes, and with ticks that are not too long."""
    y = replace(panel.y, ticks=tuple((at, cut(text, place.small, 0.22 * place.width)) for at, text in panel.y.ticks))
    return replace(
        panel,
        y=y,
        levels=tuple(one for one in panel.levels if frame.has_place(one.y, y) and not math.isnan(one.begin + one.end)),
        notes=tuple(one for one in panel.notes if frame.has_place(one.x, panel.x) and frame.has_place(one.y, y)),
    )


def _draw_ground(plot: Plot, base: float) -> None:
    """Draw bands, the grid at labelled ticks, and lines across."""
    sheet, x, y, small = plot.sheet, plot.x, plot.y, plot.place.small
    frame.draw_bands(sheet, plot.panel, x, [(y.end, base)])
    ticks = frame.fitting_ticks(plot.panel.y, y, lambda _: (small + 3) / 2)
    sheet.path("grid", "".join(open_line([(x.begin, at), (x.end, at)]) for at, _ in ticks if abs(at - base) > 0.5))
    sheet.text(*(Text(x.begin - 8, at + 0.36 * small, text, small, "soft", "end") for at, text in ticks))
    frame.draw_marks(sheet, plot.panel, x, [(y.end - 4, base)])


def _label_level(plot: Plot, level: Span) -> None:
    """Write the label of a plateau above or below it, where it covers least."""
    size = plot.place.size
    begin, end, y = plot.x.held(level.begin), plot.x.held(level.end), plot.y.at(level.y)
    for text in (level.label, cut(level.label, size, plot.place.width * 0.4, bold=True)):
        half = text_width(text, size, bold=True) / 2
        candidates = []
        for away in (5.0, 9.0, 14.0, 20.0, 28.0):
            for k, share in enumerate((0.5, 0.35, 0.65, 0.2, 0.8, 0.0, 1.0)):
                x = max(plot.x.begin - 4 + half, min(plot.place.right - half, begin + share * (end - begin)))
                for side, down in enumerate((y - away - BELOW * size, y + away + ABOVE * size)):
                    label = Text(x, down, text, size, "", "middle", bold=True)
                    candidates.append((away / 4 + 0.4 * k + 0.3 * side, [label]))
        if label_texts := plot.sheet.field.best(candidates, plot.room):
            plot.sheet.text(*label_texts)
            return


def _draw_guides(plot: Plot, base: float) -> None:
    for note in plot.panel.notes:
        at = plot.x.held(note.x), plot.y.held(note.y)
        if note.guides:
            plot.sheet.lines("guide", [at, (at[0], base)])
        if note.guides == "both":
            plot.sheet.lines("guide", [at, (plot.x.begin, at[1])])
        if note.marker:
            with plot.sheet.group("ink"):
                plot.sheet.mark("m", note.marker, at, note.text)


def _write_note(plot: Plot, note: Note) -> None:
    """Write a note near its point; it may be closer to marks of a series through that point."""
    size, at, related = plot.place.size, (plot.x.held(note.x), plot.y.held(note.y)), list[Spot]()
    for one in plot.panel.series:
        spots = [(plot.x.at(x), plot.y.at(y)) for x, y in zip(one.x, one.y, strict=True)]
        related += spots if one.kind != "points" and any(math.dist(spot, at) < 3 for spot in spots) else []
    for most in (plot.place.width * 0.6, plot.place.width * 0.35):
        lines = [Text(0, 0, line, size, "", bold=True) for line in wrap(note.text, size, most, 3, bold=True)]
        if plot.sheet.field.place(at, lines, plot.room, related):
            return


def _label_points(plot: Plot) -> None:
    """Write the labels of single points, those of the most crowded first."""
    wanted: list[tuple[Spot, str]] = []
    place = plot.place
    for one in plot.panel.series:
        labels = one.short_labels if place.narrow and one.short_labels else one.labels
        for x, y, label in zip(one.x, one.y, labels, strict=False) if one.names == "points" else ():
            if label and plot.x.holds(x) and plot.y.holds(y):
                wanted.append(((plot.x.at(x), plot.y.at(y)), label))
    crowd = [sum(math.dist(at, other) < 60 for other, _ in wanted) for at, _ in wanted]
    for i in sorted(range(len(wanted)), key=lambda i: -crowd[i]):
        at, label = wanted[i]
        for share, rows in ((0.5, 1), (0.3, 2), (0.22, 3)):
            lines = [Text(0, 0, line, place.size) for line in wrap(label, place.size, place.width * share, rows)]
            is_whole = rows == 3 or not any(text.text.endswith("…") for text in lines)
            if is_whole and plot.sheet.field.place(at, lines, plot.room):
                break


def _draw_series(sheet: Sheet, series: ChartSeries, look: Look, panel: Panel, x: Scale, y: Scale, base: float) -> None:
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
            ends = zip(series.x, series.low, series.high, strict=False)
            known = [one for one in ends if x.holds(one[0]) and -math.inf < one[1] < one[2] < math.inf]
            sheet.lines("v", *([(x.at(a), y.held(low)), (x.at(a), y.held(high))] for a, low, high in known))
        if series.kind in ("curve", "points"):
            radius = 2.2 if len(series.x) > 60 else RADIUS
            for i, (a, b) in enumerate(points):
                if x.holds(a) and y.holds(b):
                    title = frame.point_title(series, i, panel) if len(series.x) <= _TITLED else ""
                    sheet.mark(frame.mark_kind(series, look, i), look.shape, (x.at(a), y.at(b)), title, radius)


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
    half = min((b - a for a, b in itertools.pairwise(sorted({at for at, _, _ in shown}))), default=24.0) / 2
    for at, height, i in shown:
        top, left, right = y.held(height), max(x.begin, at - half), min(x.end, at + half)
        if height <= 0 or right <= left or top >= base:
            continue
        box = Box(left, top, max(left + 0.5, right - 1.0), base)
        sheet.rect("b", box, frame.point_title(series, i, panel))
        sheet.field.add_line([(box.left, top), (box.right, top)])
        sheet.field.add_line([(at, top), (at, base)])


def _cells(sheet: Sheet, series: ChartSeries, x: Scale, y: Scale) -> None:
    """Draw squares of one unit of each axis; the palest is visible."""
    labels = series.labels if len(series.x) <= _TITLED else ()
    for i, (a, b, shade) in enumerate(zip(series.x, series.y, series.shades, strict=True)):
        if x.holds(a) and y.holds(b):
            box = Box(x.held(a - 0.5), y.held(b + 0.5), x.held(a + 0.5), y.held(b - 0.5))
            sheet.rect("b", box, labels[i] if i < len(labels) else "", _PALEST + (1 - _PALEST) * shade)


class _SeriesName(NamedTuple):
    """The name of a series in lines, bold at its end, or along a slanted line in shorter and shorter forms."""

    series: ChartSeries
    look: Look
    lines: tuple[str, ...]

    @property
    def bold(self) -> bool:
        return self.series.names == "end"


def _series_names(
    panel: Panel, looks: Sequence[Look], place: PanelPlace, height: float
) -> tuple[list[_SeriesName], set[str]]:
    """Return the names in the panel, and those in the legend: too long ones, or all if they need too much height."""
    most = place.width * (0.27 if place.narrow else 0.2)
    at_end, along, below = list[_SeriesName](), list[_SeriesName](), set[str]()
    for one, look in zip(panel.series, looks, strict=True):
        if one.kind == "bars" and one.names == "end" and len(panel.series) > 1:
            below.add(one.name)
        if not one.name or not one.x or one.kind not in _JOINED or one.names in ("points", "legend", "none"):
            continue
        if one.names == "along":
            along.append(_SeriesName(one, look, (one.name, one.short or one.name)))
            continue
        name = one.short if place.narrow and one.short else one.name
        if len(one.x) == 1 and one.kind == "curve":
            name += f" {frame.value_text(one.y[0], panel.y)}: one point, no curve"
        lines = [part for line in name.split("\n") for part in wrap(line, place.size, most, 4, one.names == "end")]
        if len(lines) > 4 or (any(line.endswith("…") for line in lines) and not name.endswith("…")):
            below.add(one.name)
        else:
            at_end.append(_SeriesName(one, look, tuple(lines)))
    if _PITCH * place.size * sum(len(one.lines) for one in at_end) > 0.9 * height:
        return along, below | {one.series.name for one in at_end}
    return along + at_end, below


def _room_at_end(names: Sequence[_SeriesName], size: float) -> float:
    """Return the room of names at the right, px."""
    ends = [one for one in names if one.series.names != "along"]
    return max((text_width(line, size, one.bold) + _GAP + 1 for one in ends for line in one.lines), default=0.0)


def _write_names(plot: Plot, names: Sequence[_SeriesName]) -> None:
    """Write the names, moved apart."""
    field, size, x, y = plot.sheet.field, plot.place.size, plot.x, plot.y
    shown: list[tuple[_SeriesName, Spot]] = []
    for one in names:
        if one.series.names == "along":
            _write_along(plot, one)
        elif spot := _last_point(one.series, x, y):
            if spot[0] < x.end - 24 and one.bold:  # the series ends early: its name is at the point
                lines = [Text(0, 0, line, size, one.look.colour, bold=True) for line in one.lines]
                own = [(x.at(a), y.at(b)) for a, b in zip(one.series.x, one.series.y, strict=True)]
                if field.place(spot, lines, Box(plot.place.left, y.end, plot.place.right, y.begin), own):
                    continue
            shown.append((one, spot))
    sizes = [_PITCH * size * len(one.lines) for one, _ in shown]
    middles = spread([spot[1] for _, spot in shown], sizes, y.end - 8, y.begin + 8, 1)
    for (one, spot), middle, height in zip(shown, middles, sizes, strict=True):
        first = middle - height / 2 + size * ((_PITCH - ABOVE) / 2 + ABOVE - 0.08)
        kind = one.look.colour if one.bold else "soft"
        for number, line in enumerate(one.lines):
            plot.sheet.text(Text(x.end + _GAP, first + size * _PITCH * number, line, size, kind, bold=one.bold))
        if abs(middle - spot[1]) > 5:
            field.hairlines.append(((max(spot[0], x.end - 24) + 4, spot[1]), (x.end + _GAP - 1, middle)))


def _last_point(series: ChartSeries, x: Scale, y: Scale) -> Spot | None:
    """Return the last point inside; of a line that leaves the axes, the point where it leaves them."""
    points = list(zip(series.x, series.y, strict=True))
    pieces = clipped(points, x, y)
    if pieces and series.kind in ("line", "curve", "band"):
        return pieces[-1][-1]
    return max(((x.at(a), y.at(b)) for a, b in points if x.holds(a) and y.holds(b)), default=None)


def _write_along(plot: Plot, name: _SeriesName) -> None:
    """Write the name along the longest straight piece of the line, above it or else below, rotated with it."""
    x, y, size = plot.x, plot.y, plot.place.size
    pieces = clipped(list(zip(name.series.x, name.series.y, strict=True)), x, y)
    straight = [tuple(sorted(ends)) for piece in pieces for ends in itertools.pairwise(piece)]
    if all(math.dist(*ends) < 1 for ends in straight):
        return
    (ax, ay), (bx, by) = max(straight, key=lambda ends: math.dist(*ends))
    length, angle = math.dist((ax, ay), (bx, by)), math.degrees(math.atan2(by - ay, bx - ax))
    up = ((by - ay) / length, -(bx - ax) / length)  # away from the line, upwards
    candidates = []
    for shortness, text in enumerate(dict.fromkeys(name.lines)):
        for step, share in enumerate(_SHARES) if text_width(text, size) <= length - 4 else ():
            for side, off in enumerate((4.0, -4.0 - ABOVE * size)):
                at = (ax + share * (bx - ax) + off * up[0], ay + share * (by - ay) + off * up[1])
                label = Text(*at, text, size, "soft", "middle", angle=angle, title=name.series.name)
                candidates.append((20.0 * shortness + 0.5 * step + 6 * side, [label]))
    room = Box(x.begin - 4, y.end - 4, x.end + 4, y.begin + 4)
    plot.sheet.text(*plot.sheet.field.best(candidates, room))
