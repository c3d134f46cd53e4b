"""Panels with two numeric axes: curves, points, lines, bands, histograms, and the words at them."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from octant.report.charts.layout import scale as scales
from octant.report.charts.layout.ends import Ends, ends, write_ends
from octant.report.charts.layout.fonts import cut, text_width, wrap
from octant.report.charts.layout.frame import LegendEntry, PanelPlace, legend, titles, x_axis
from octant.report.charts.layout.labels import ABOVE, BELOW, Box, Spot, Text
from octant.report.charts.layout.scale import has_place
from octant.report.charts.layout.series import draw_series
from octant.report.charts.layout.svg import Sheet, open_line
from octant.report.charts.layout.words import PITCH, half_of_last, mark_labels, regions

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from octant.report.charts.layout.looks import Look
    from octant.report.charts.layout.scale import Scale
    from octant.report.charts.picture import ChartSeries, LevelLine, Note, Panel


@dataclass(frozen=True)
class Plot:
    """A panel on its way: where it lies, its scales and the looks of its series."""

    sheet: Sheet
    place: PanelPlace
    panel: Panel
    looks: Sequence[Look]
    x: Scale
    y: Scale

    @property
    def frame(self) -> Box:
        """The area between the axes."""
        return Box(self.x.begin, self.y.end, self.x.end, self.y.begin)

    @property
    def room(self) -> Box:
        """Where labels may lie."""
        return Box(self.place.left, self.y.end - 2, self.place.right, self.y.begin - 1)


def draw_plots(sheet: Sheet, place: PanelPlace, panels: Sequence[Panel], looks: Sequence[Sequence[Look]]) -> float:
    """Draws panels with one x axis, one under the other; gives where they end, px."""
    panels = [_shown(panel, place) for panel in panels]
    axis, first = panels[0].x, place.top
    heights = [_height(place, len(panels)) * panel.height for panel in panels]
    every = [ends(panel, mine, place, h) for panel, mine, h in zip(panels, looks, heights, strict=True)]
    ticks = (text_width(text, place.small) for panel in panels for _, text in panel.y.ticks)
    left = place.left + max(ticks, default=0.0) + 8
    right = place.right - max(half_of_last(axis, place), *(one.width for one in every))
    values = [value for panel in panels for value in scales.x_values(panel)]
    bars = any(one.kind in ("bars", "line") for panel in panels for one in panel.series)
    across = scales.scale(axis, values, left, right, 0 if bars else 8)
    seen: set[tuple[float, str]] = set()
    bottom, entries = first, list[LegendEntry]()
    for number, (panel, mine, end) in enumerate(zip(panels, looks, every, strict=True)):
        marks = tuple(replace(one, label="") if (one.at, one.label) in seen else one for one in panel.marks)
        seen.update((mark.at, mark.label) for mark in panel.marks)
        at = replace(place, top=bottom + 14 * bool(number))
        bottom = _draw(sheet, at, replace(panel, marks=marks), mine, end, across, heights[number])
        last = number == len(panels) - 1
        bottom = x_axis(sheet, place, axis if last else replace(axis, ticks=(), title=""), across, bottom)
        entries += [one for one in _entries(panel, mine, end) if one not in entries]
    return legend(sheet, place, entries, left, bottom + 6)


def _draw(
    sheet: Sheet, place: PanelPlace, panel: Panel, looks: Sequence[Look], end: Ends, across: Scale, height: float
) -> float:
    """Draws one panel above its x axis; gives the height of the axis, px."""
    top = titles(sheet, place, panel, panel.y.title)
    top = regions(sheet, place, [r for r in panel.regions if r.place == "top"], across, top)
    top = mark_labels(sheet, place, panel.marks, across, top) + 6
    foot = _foot(panel, place)
    low = any(one.kind == "bars" for one in panel.series) or (not panel.y.log and not panel.y.ends)
    up = scales.scale(panel.y, scales.y_values(panel), top + height - foot, top, 0 if low else 6)
    plot = Plot(sheet, place, panel, looks, across, up)
    base = top + height
    _ground(plot, base)
    for one, look in zip(panel.series, looks, strict=True):
        draw_series(sheet, one, look, panel, across, up, base)
    _level_lines(plot)
    _guides(plot, base)
    regions(sheet, place, [r for r in panel.regions if r.place == "bottom"], across, base - foot - 2)
    write_ends(sheet, place, end, across, up)
    for level in panel.levels:
        _level_label(plot, level)
    for note in panel.notes:
        _note(plot, note)
    _point_labels(plot)
    return base


def _shown(panel: Panel, place: PanelPlace) -> Panel:
    """The panel without what has no place on its axes, and with ticks of bearable length."""
    y = replace(panel.y, ticks=tuple((at, cut(text, place.small, 0.22 * place.width)) for at, text in panel.y.ticks))
    return replace(
        panel,
        y=y,
        levels=tuple(one for one in panel.levels if has_place(one.y, y) and not math.isnan(one.begin + one.end)),
        notes=tuple(one for one in panel.notes if has_place(one.x, panel.x) and has_place(one.y, y)),
    )


def _height(place: PanelPlace, panels: int) -> float:
    single = 232.0
    return single if panels == 1 else 150.0 if place.narrow else 160.0


def _entries(panel: Panel, looks: Sequence[Look], end: Ends) -> Iterable[LegendEntry]:
    for one, look in zip(panel.series, looks, strict=True):
        if one.name and (one.names == "legend" or one.name in end.legend):
            yield LegendEntry(one.name, look, one.kind)
    yield from (LegendEntry(band.label, None, "band") for band in panel.bands if band.label)


def _ground(plot: Plot, base: float) -> None:
    """Bands, the grid at labelled ticks, and lines across."""
    sheet, panel, x, frame = plot.sheet, plot.panel, plot.x, plot.frame
    for band in panel.bands:
        begin, end = x.held(band.begin), x.held(band.end)
        if end > begin:
            sheet.rect("edge", Box(begin, frame.top, end, base), band.label)
    ticks = scales.ticks_up(panel.y, plot.y, plot.place.small + 3)
    grid = "".join(open_line([(frame.left, at), (frame.right, at)]) for at, _ in ticks if abs(at - base) > 0.5)
    sheet.path("grid", grid)
    for at, text in ticks:
        up = at + 0.36 * plot.place.small
        sheet.text(Text(frame.left - 8, up, text, plot.place.small, "soft", "end"))
    for mark in panel.marks:
        if x.holds(mark.at):
            line = open_line([(x.at(mark.at), frame.top - 4), (x.at(mark.at), base)])
            sheet.path("axis" if mark.dash == "solid" else "at", line, mark.label)


def _foot(panel: Panel, place: PanelPlace) -> float:
    """Room above the x axis for words at the bottom."""
    lines = [len(region.lines) for region in panel.regions if region.place == "bottom"]
    return place.size * PITCH * max(lines) + 6 if lines else 0.0


def _level_lines(plot: Plot) -> None:
    lines = [
        [(plot.x.held(one.begin), plot.y.at(one.y)), (plot.x.held(one.end), plot.y.at(one.y))]
        for one in plot.panel.levels
    ]
    plot.sheet.path("level", "".join(map(open_line, lines)))
    for line in lines:
        plot.sheet.field.add_line(line)


def _level_label(plot: Plot, level: LevelLine) -> None:
    """The label of a plateau over it or under it, where it covers least."""
    size = plot.place.size
    begin, end, y = plot.x.held(level.begin), plot.x.held(level.end), plot.y.at(level.y)
    for text in (level.label, cut(level.label, size, plot.place.width * 0.4, bold=True)):
        half = text_width(text, size, bold=True) / 2
        places = []
        for away in (5.0, 9.0, 14.0, 20.0, 28.0):
            for k, share in enumerate((0.5, 0.35, 0.65, 0.2, 0.8, 0.0, 1.0)):
                x = max(plot.x.begin - 4 + half, min(plot.place.right - half, begin + share * (end - begin)))
                for side, below in enumerate((y - away - BELOW * size, y + away + ABOVE * size)):
                    label = Text(x, below, text, size, "", "middle", bold=True)
                    places.append((away / 4 + 0.4 * k + 0.3 * side, [label]))
        found = plot.sheet.field.best(places, plot.room)
        if found:
            plot.sheet.text(*found)
            return


def _guides(plot: Plot, base: float) -> None:
    for note in plot.panel.notes:
        at = plot.x.held(note.x), plot.y.held(note.y)
        if note.guides:
            plot.sheet.path("guide", open_line([at, (at[0], base)]))
            plot.sheet.field.add_line([at, (at[0], base)])
        if note.guides == "both":
            plot.sheet.path("guide", open_line([at, (plot.x.begin, at[1])]))
            plot.sheet.field.add_line([at, (plot.x.begin, at[1])])
        if note.marker:
            with plot.sheet.group("ink"):
                plot.sheet.mark("m", note.marker, at, note.text)


def _note(plot: Plot, note: Note) -> None:
    size, place = plot.place.size, plot.place
    at = plot.x.held(note.x), plot.y.held(note.y)
    own = _own(plot, at)
    for most in (place.width * 0.6, place.width * 0.35):
        lines = [Text(0, 0, line, size, "", bold=True) for line in wrap(note.text, size, most, 3, bold=True)]
        if plot.sheet.field.place(at, lines, plot.room, own):
            return


def _own(plot: Plot, at: Spot) -> list[Spot]:
    """Marks of the series that a point belongs to: its label may lie nearer to those."""
    found: list[Spot] = []
    for one in plot.panel.series:
        spots = [(plot.x.at(x), plot.y.at(y)) for x, y in zip(one.x, one.y, strict=True)]
        if one.kind != "points" and any(math.dist(spot, at) < 3 for spot in spots):
            found += spots
    return found


def _point_labels(plot: Plot) -> None:
    """Labels of single points, those of the most crowded first."""
    wanted: list[tuple[Spot, str, Look, ChartSeries]] = []
    for one, look in zip(plot.panel.series, plot.looks, strict=True):
        if one.names != "points":
            continue
        labels = one.short_labels if plot.place.narrow and one.short_labels else one.labels
        for x, y, label in zip(one.x, one.y, labels, strict=False):
            if label and plot.x.holds(x) and plot.y.holds(y):
                wanted.append(((plot.x.at(x), plot.y.at(y)), label, look, one))
    spots = [at for at, *_ in wanted]
    for at, label, _, _ in sorted(wanted, key=lambda one: sum(math.dist(one[0], s) < 60 for s in spots), reverse=True):
        for most, rows in ((plot.place.width * 0.5, 1), (plot.place.width * 0.3, 2), (plot.place.width * 0.22, 3)):
            lines = [Text(0, 0, line, plot.place.size) for line in wrap(label, plot.place.size, most, rows)]
            if (rows == 3 or not any(t.text.endswith("…") for t in lines)) and plot.sheet.field.place(
                at, lines, plot.room
            ):
                break
