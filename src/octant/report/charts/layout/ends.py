"""Names of series at the data: at their last points, in the right margin, along slanted lines; or else in a legend."""

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


@dataclass(frozen=True)
class EndLabel:
    """The name of a series beside its last point."""

    series: ChartSeries
    look: Look
    lines: tuple[str, ...]
    bold: bool


@dataclass(frozen=True)
class Ends:
    """Where the names of a panel's series stand."""

    beside: tuple[EndLabel, ...]
    along: tuple[EndLabel, ...]
    legend: frozenset[str]
    size: float

    @property
    def width(self) -> float:
        """What the names need at the right, px."""
        widths = [text_width(line, self.size, one.bold) for one in self.beside for line in one.lines]
        return max(widths) + _GAP + 1 if widths else 0.0


def ends(panel: Panel, looks: Sequence[Look], place: PanelPlace, height: float) -> Ends:
    """Chooses where each name stands: a legend takes those that are too long, or too many for the height in px."""
    most = place.width * (0.27 if place.narrow else 0.2)
    beside, along, below = [], [], set[str]()
    for one, look in zip(panel.series, looks, strict=True):
        if one.kind == "bars" and one.names == "end" and len(panel.series) > 1:
            below.add(one.name)
        if not one.name or not one.x or one.kind not in _JOINED or one.names in ("points", "legend", "none"):
            continue
        name = one.short if place.narrow and one.short else one.name
        if len(one.x) == 1 and one.kind == "curve":
            name += f" {value_text(one.y[0], panel.y)}: one point, no curve"
        if one.names == "along":
            along.append(EndLabel(one, look, (one.name, one.short or one.name), False))
            continue
        bold = one.names == "end"
        lines = [part for line in name.split("\n") for part in wrap(line, place.size, most, 4, bold)]
        if len(lines) > 4 or (any(line.endswith("…") for line in lines) and not name.endswith("…")):
            below.add(one.name)
        else:
            beside.append(EndLabel(one, look, tuple(lines), bold))
    if _PITCH * place.size * sum(len(one.lines) for one in beside) > 0.9 * height:
        below |= {one.series.name for one in beside}
        beside = []
    return Ends(tuple(beside), tuple(along), frozenset(below), place.size)


def write_ends(sheet: Sheet, place: PanelPlace, names: Ends, x: Scale, y: Scale) -> None:
    """Writes the names, moved apart."""
    for one in names.along:
        _write_along(sheet, one, names.size, x, y)
    shown: list[tuple[EndLabel, Spot]] = []
    for one in names.beside:
        spot = _last(one.series, x, y)
        if spot is None:
            continue
        if spot[0] < x.end - 24 and one.bold:  # ends early: its name stands at the point
            lines = [Text(0, 0, line, names.size, one.look.colour, bold=True) for line in one.lines]
            own = [(x.at(a), y.at(b)) for a, b in zip(one.series.x, one.series.y, strict=True)]
            if sheet.field.place(spot, lines, Box(place.left, y.end, place.right, y.begin), own):
                continue
        shown.append((one, spot))
    sizes = [_PITCH * names.size * len(one.lines) for one, _ in shown]
    middles = spread([spot[1] for _, spot in shown], sizes, y.end - 8, y.begin + 8, 1)
    for (one, spot), middle, size in zip(shown, middles, sizes, strict=True):
        top = middle - size / 2
        kind = one.look.colour if one.bold else "soft"
        for number, line in enumerate(one.lines):
            down = top + names.size * (_PITCH * number + (_PITCH - ABOVE) / 2 + ABOVE - 0.08)
            sheet.text(Text(x.end + _GAP, down, line, names.size, kind, bold=one.bold))
        if abs(middle - spot[1]) > 5:
            sheet.field.hairlines.append(((max(spot[0], x.end - 24) + 4, spot[1]), (x.end + _GAP - 1, middle)))


def _last(series: ChartSeries, x: Scale, y: Scale) -> Spot | None:
    """The last point inside; of a line that leaves the axes, where it leaves."""
    pieces = clipped(list(zip(series.x, series.y, strict=True)), x, y)
    if pieces and series.kind in ("line", "curve", "band"):
        return pieces[-1][-1]
    inside = [(x.at(a), y.at(b)) for a, b in zip(series.x, series.y, strict=True) if x.holds(a) and y.holds(b)]
    return max(inside, default=None)


def _write_along(sheet: Sheet, end: EndLabel, size: float, x: Scale, y: Scale) -> None:
    """The name along the longest straight piece of the line, above it, else below; turned with it."""
    pieces = clipped(list(zip(end.series.x, end.series.y, strict=True)), x, y)
    straight = [(a, b) for piece in pieces for a, b in itertools.pairwise(piece)]
    if all(math.dist(*ends) < 1 for ends in straight):
        return
    (ax, ay), (bx, by) = max(straight, key=lambda ends: math.dist(*ends))
    if bx < ax:
        (ax, ay), (bx, by) = (bx, by), (ax, ay)
    length, angle = math.dist((ax, ay), (bx, by)), math.degrees(math.atan2(by - ay, bx - ax))
    up = ((by - ay) / length, -(bx - ax) / length)  # away from the line, upwards
    places = []
    for shortness, text in enumerate(dict.fromkeys(end.lines)):
        if text_width(text, size) > length - 4:
            continue
        for step, share in enumerate((0.5, 0.44, 0.56, 0.38, 0.62, 0.32, 0.68, 0.26, 0.74, 0.8, 0.2)):
            for side, off in enumerate((4.0, -4.0 - ABOVE * size)):
                at = (ax + share * (bx - ax) + off * up[0], ay + share * (by - ay) + off * up[1])
                label = Text(*at, text, size, "soft", "middle", angle=angle, title=end.series.name)
                places.append((20.0 * shortness + 0.5 * step + 6 * side, [label]))
    room = Box(x.begin - 4, y.end - 4, x.end + 4, y.begin + 4)
    sheet.text(*sheet.field.best(places, room))
