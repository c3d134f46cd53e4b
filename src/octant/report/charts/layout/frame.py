"""What every panel has: its place and sizes, titles, axes, grids, and a legend below."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from octant.report.charts.layout.fonts import cut, text_width, wrap
from octant.report.charts.layout.labels import Box, Text
from octant.report.charts.layout.scale import ticks_along
from octant.report.charts.layout.svg import RADIUS, Sheet, open_line, px

if TYPE_CHECKING:
    from collections.abc import Sequence

    from octant.report.charts.layout.looks import Look
    from octant.report.charts.layout.scale import Scale
    from octant.report.charts.picture import Axis, Panel

NARROW = 480
"""Panels narrower than this have short names and fewer ticks, px."""
_SWATCH = 18.0


@dataclass(frozen=True)
class PanelPlace:
    """Where a panel lies, and the sizes of its texts."""

    left: float
    width: float
    top: float

    @property
    def narrow(self) -> bool:
        """Whether names are shortened."""
        return self.width < NARROW

    @property
    def right(self) -> float:
        """Its right end, px."""
        return self.left + self.width

    @property
    def size(self) -> float:
        """Of labels, px."""
        return 12.5 if self.narrow else 12.0

    @property
    def small(self) -> float:
        """Of ticks, px."""
        return 12.5 if self.narrow else 11.5


class LegendEntry(NamedTuple):
    """What a legend explains: a series by its look, or a grey band."""

    name: str
    look: Look | None
    kind: str


def titles(sheet: Sheet, place: PanelPlace, panel: Panel, quantity: str) -> float:
    """Writes the panel's title and the quantity of its upright axis; gives where they end, px."""
    y, x = place.top, place.left
    lines: list[tuple[str, bool, str]] = []
    if panel.title:
        lines += [(line, True, "") for line in wrap(panel.title, 12.5, place.width, 3, bold=True)]
    if quantity:
        bold = not panel.title
        soft = [(line, bold, "" if bold else "soft") for line in wrap(quantity, 12.5, place.width, 3, bold)]
        used = text_width(lines[0][0], 12.5, True) + 10 if len(lines) == 1 else place.width
        if len(soft) == 1 and used + text_width(quantity, 12.5) <= place.width:
            sheet.text(Text(x + used, y + 12, quantity, 12.5, "soft"))
        else:
            lines += soft
    for text, bold, kind in lines:
        y += 16
        sheet.text(Text(x, y - 4, text, 12.5, kind, bold=bold))
    return y + 4 * bool(lines)


def x_axis(sheet: Sheet, place: PanelPlace, axis: Axis, across: Scale, y: float, title: bool = True) -> float:
    """Draws the lying axis at a height with its ticks and title; gives where it ends, px."""
    ticks = ticks_along(axis, across, place.small, place.left, place.right)
    marks = "".join(f"M{px(at)} {px(y)}v4" for at, _ in ticks)
    sheet.path("axis", open_line([(across.begin, y), (across.end, y)]) + marks)
    for at, text in ticks:
        sheet.text(Text(at, y + 7 + place.small, text, place.small, "soft", "middle"))
    bottom = y + 10 + place.small if ticks else y + 2
    if title and axis.title:
        for line in wrap(axis.title, place.small, place.width, 2):
            half = text_width(line, place.small) / 2
            middle = max(place.left + half, min(place.right - half, (across.begin + across.end) / 2))
            sheet.text(Text(middle, bottom + place.small + 2, line, place.small, "soft", "middle"))
            bottom += place.small + 4
    return bottom


def legend(sheet: Sheet, place: PanelPlace, entries: Sequence[LegendEntry], left: float, top: float) -> float:
    """Writes what marks and lines mean, side by side and in as many lines as needed; gives where they end, px."""
    x, y = left, top
    for entry in entries:
        text = cut(entry.name, place.small, place.right - left - _SWATCH - 6)
        wide = _SWATCH + 6 + text_width(text, place.small)
        if x > left and x + wide > place.right:
            x, y = left, y + 18
        _swatch(sheet, entry, x, y + 9)
        sheet.text(Text(x + _SWATCH + 6, y + 13, text, place.small, "soft", title=entry.name * (text != entry.name)))
        x += wide + 18
    return y + 20 if entries else top


def _swatch(sheet: Sheet, entry: LegendEntry, x: float, y: float) -> None:
    middle = x + _SWATCH / 2
    if entry.look is None:
        sheet.rect("edge", Box(x, y - 5, x + _SWATCH, y + 5))
        return
    look, kind = entry.look, entry.kind
    with sheet.group(look.colour):
        if kind in ("bars", "across", "stack"):
            sheet.rect("o" if look.open else "b", Box(middle - 6, y - 5, middle + 6, y + 5))
            return
        if kind in ("curve", "line", "band"):
            sheet.path(f"l {look.dash}".rstrip(), open_line([(x, y), (x + _SWATCH, y)]))
        if kind in ("curve", "points", "rows"):
            sheet.mark("o" if look.open else "m", look.shape, (middle, y), radius=RADIUS)
