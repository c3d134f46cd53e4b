"""Panels with two numeric axes: curves, points, lines, bands, histograms, and the texts at them."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from octant.report.charts.layout import frame
from octant.report.charts.layout import scale as scales
from octant.report.charts.layout.fonts import cut, text_width, wrap
from octant.report.charts.layout.frame import LegendEntry, PanelPlace
from octant.report.charts.layout.labels import ABOVE, BELOW, Box, Spot, Text
from octant.report.charts.layout.scale import has_place
from octant.report.charts.layout.series import draw_series
from octant.report.charts.layout.series_names import SeriesNames, series_names, write_names
from octant.report.charts.layout.svg import Sheet, open_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from octant.report.charts.layout.looks import Look
    from octant.report.charts.layout.scale import Scale
    from octant.report.charts.picture import LevelLine, Note, Panel


@dataclass(frozen=True)
class Plot:
    """A panel under construction: its place, its scales and the looks of its series."""

    sheet: Sheet
    place: PanelPlace
    panel: Panel
    looks: Sequence[Look]
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
    names = [series_names(panel, mine, place, h) for panel, mine, h in zip(panels, looks, heights, strict=True)]
    ticks = (text_width(text, place.small) for panel in panels for _, text in panel.y.ticks)
    left = place.left + max(ticks, default=0.0) + 8
    right = place.right - max(frame.half_of_last(axis, place), *(one.width for one in names))
    values = [value for panel in panels for value in scales.x_values(panel)]
    bars = any(one.kind in ("bars", "line") for panel in panels for one in panel.series)
    across = scales.scale(axis, values, left, right, 0 if bars else 8)
    labelled: set[tuple[float, str]] = set()
    bottom, entries = place.top, list[LegendEntry]()
    for number, (panel, mine, one) in enumerate(zip(panels, looks, names, strict=True)):
        marks = tuple(replace(m, label="") if (m.at, m.label) in labelled else m for m in panel.marks)
        labelled.update((mark.at, mark.label) for mark in panel.marks)
        at = replace(place, top=bottom + 14 * bool(number))
        bottom = _draw(sheet, at, replace(panel, marks=marks), mine, one, across, heights[number])
        is_last = number == len(panels) - 1
        bottom = frame.x_axis(sheet, place, axis if is_last else replace(axis, ticks=(), title=""), across, bottom)
        entries += [entry for entry in _entries(panel, mine, one) if entry not in entries]
    return frame.legend(sheet, place, entries, left, bottom + 6)


def _draw(
    sheet: Sheet, place: PanelPlace, panel: Panel, looks: Sequence[Look], names: SeriesNames, x: Scale, height: float
) -> float:
    """Draw one panel above its x axis; return the height of the axis, px."""
    top = frame.draw_head(sheet, place, panel, panel.y.title, x) + 6
    feet = [region for region in panel.regions if region.place == "bottom"]
    foot = place.size * frame.PITCH * max(len(region.lines) for region in feet) + 6 if feet else 0.0
    low = any(one.kind == "bars" for one in panel.series) or (not panel.y.log and not panel.y.ends)
    y = scales.scale(panel.y, scales.y_values(panel), top + height - foot, top, 0 if low else 6)
    plot, base = Plot(sheet, place, panel, looks, x, y), top + height
    _draw_ground(plot, base)
    for one, look in zip(panel.series, looks, strict=True):
        draw_series(sheet, one, look, panel, x, y, base)
    levels = [[(x.held(one.begin), y.at(one.y)), (x.held(one.end), y.at(one.y))] for one in panel.levels]
    sheet.path("level", "".join(map(open_line, levels)))
    for line in levels:
        sheet.field.add_line(line)
    _draw_guides(plot, base)
    frame.regions(sheet, place, feet, x, base - foot - 2)
    write_names(sheet, place, names, x, y)
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
        levels=tuple(one for one in panel.levels if has_place(one.y, y) and not math.isnan(one.begin + one.end)),
        notes=tuple(one for one in panel.notes if has_place(one.x, panel.x) and has_place(one.y, y)),
    )


def _entries(panel: Panel, looks: Sequence[Look], names: SeriesNames) -> Iterable[LegendEntry]:
    for one, look in zip(panel.series, looks, strict=True):
        if one.name and (one.names == "legend" or one.name in names.legend):
            yield LegendEntry(one.name, look, one.kind)
    yield from (LegendEntry(band.label, None, "band") for band in panel.bands if band.label)


def _draw_ground(plot: Plot, base: float) -> None:
    """Draw bands, the grid at labelled ticks, and lines across."""
    sheet, x, y, small = plot.sheet, plot.x, plot.y, plot.place.small
    frame.draw_bands(sheet, plot.panel, x, [(y.end, base)])
    ticks = scales.ticks_up(plot.panel.y, y, small + 3)
    sheet.path("grid", "".join(open_line([(x.begin, at), (x.end, at)]) for at, _ in ticks if abs(at - base) > 0.5))
    sheet.text(*(Text(x.begin - 8, at + 0.36 * small, text, small, "soft", "end") for at, text in ticks))
    frame.draw_marks(sheet, plot.panel, x, [(y.end - 4, base)])


def _label_level(plot: Plot, level: LevelLine) -> None:
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
            plot.sheet.line("guide", at, (at[0], base))
        if note.guides == "both":
            plot.sheet.line("guide", at, (plot.x.begin, at[1]))
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
