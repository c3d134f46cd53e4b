"""Names of series: at their last points, in the right margin, along slanted lines, or else in a legend."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from octant.report.charts.layout.fonts import text_width, wrap
from octant.report.charts.layout.labels import ABOVE, Box, Spot, Text, spread
from octant.report.charts.layout.scale import clipped, value_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from octant.report.charts.layout.frame import PanelPlace
    from octant.report.charts.layout.looks import Look
    from octant.report.charts.layout.scale import Scale
    from octant.report.charts.layout.svg import Sheet
    from octant.report.charts.picture import ChartSeries, Panel

_PITCH = 1.2
_GAP = 8.0
_JOINED = ("curve", "points", "line", "band")
_SHARES = (0.5, 0.44, 0.56, 0.38, 0.62, 0.32, 0.68, 0.26, 0.74, 0.8, 0.2)
"""Where along a line its name may be, the preferred place first."""


@dataclass(frozen=True)
class SeriesName:
    """The name of a series in lines, or along a slanted line in shorter and shorter forms."""

    series: ChartSeries
    look: Look
    lines: tuple[str, ...]
    bold: bool


@dataclass(frozen=True)
class SeriesNames:
    """The places of the names of a panel's series."""

    at_end: tuple[SeriesName, ...]
    along: tuple[SeriesName, ...]
    legend: frozenset[str]
    size: float

    @property
    def width(self) -> float:
        """The room of names at the right, px."""
        widths = [text_width(line, self.size, one.bold) for one in self.at_end for line in one.lines]
        return max(widths) + _GAP + 1 if widths else 0.0


def series_names(panel: Panel, looks: Sequence[Look], place: PanelPlace, height: float) -> SeriesNames:
    """Choose the place of each name: a legend takes those that are too long, or too many for the height in px."""
    most = place.width * (0.27 if place.narrow else 0.2)
    at_end, along, below = [], [], set[str]()
    for one, look in zip(panel.series, looks, strict=True):
        if one.kind == "bars" and one.names == "end" and len(panel.series) > 1:
            below.add(one.name)
        if not one.name or not one.x or one.kind not in _JOINED or one.names in ("points", "legend", "none"):
            continue
        name = one.short if place.narrow and one.short else one.name
        if len(one.x) == 1 and one.kind == "curve":
            name += f" {value_text(one.y[0], panel.y)}: one point, no curve"
        if one.names == "along":
            along.append(SeriesName(one, look, (one.name, one.short or one.name), False))
            continue
        bold = one.names == "end"
        lines = [part for line in name.split("\n") for part in wrap(line, place.size, most, 4, bold)]
        if len(lines) > 4 or (any(line.endswith("…") for line in lines) and not name.endswith("…")):
            below.add(one.name)
        else:
            at_end.append(SeriesName(one, look, tuple(lines), bold))
    if _PITCH * place.size * sum(len(one.lines) for one in at_end) > 0.9 * height:
        below |= {one.series.name for one in at_end}
        at_end = []
    return SeriesNames(tuple(at_end), tuple(along), frozenset(below), place.size)


def write_names(sheet: Sheet, place: PanelPlace, names: SeriesNames, x: Scale, y: Scale) -> None:
    """Write the names, moved apart."""
    for one in names.along:
        _write_along(sheet, one, names.size, x, y)
    shown: list[tuple[SeriesName, Spot]] = []
    for one in names.at_end:
        spot = _last_point(one.series, x, y)
        if spot is None:
            continue
        if spot[0] < x.end - 24 and one.bold:  # the series ends early: its name is at the point
            lines = [Text(0, 0, line, names.size, one.look.colour, bold=True) for line in one.lines]
            own = [(x.at(a), y.at(b)) for a, b in zip(one.series.x, one.series.y, strict=True)]
            if sheet.field.place(spot, lines, Box(place.left, y.end, place.right, y.begin), own):
                continue
        shown.append((one, spot))
    sizes = [_PITCH * names.size * len(one.lines) for one, _ in shown]
    middles = spread([spot[1] for _, spot in shown], sizes, y.end - 8, y.begin + 8, 1)
    for (one, spot), middle, size in zip(shown, middles, sizes, strict=True):
        kind = one.look.colour if one.bold else "soft"
        first = middle - size / 2 + names.size * ((_PITCH - ABOVE) / 2 + ABOVE - 0.08)
        for number, line in enumerate(one.lines):
            down = first + names.size * _PITCH * number
            sheet.text(Text(x.end + _GAP, down, line, names.size, kind, bold=one.bold))
        if abs(middle - spot[1]) > 5:
            sheet.field.hairlines.append(((max(spot[0], x.end - 24) + 4, spot[1]), (x.end + _GAP - 1, middle)))


def _last_point(series: ChartSeries, x: Scale, y: Scale) -> Spot | None:
    """Return the last point inside; of a line that leaves the axes, the point where it leaves them."""
    points = list(zip(series.x, series.y, strict=True))
    pieces = clipped(points, x, y)
    if pieces and series.kind in ("line", "curve", "band"):
        return pieces[-1][-1]
    return max(((x.at(a), y.at(b)) for a, b in points if x.holds(a) and y.holds(b)), default=None)


def _write_along(sheet: Sheet, name: SeriesName, size: float, x: Scale, y: Scale) -> None:
    """Write the name along the longest straight piece of the line, above it or else below, rotated with it."""
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
    sheet.text(*sheet.field.best(candidates, room))
