"""Parts that all panels have in common: scales of axes, place, looks of series, titles, ticks, texts, legend."""

import itertools
import math
import sys
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from octant import units
from octant.report.charts.layout.labels import Box, Spot, Text, cut, spread, text_width, wrap
from octant.report.charts.layout.svg import Sheet, open_line, px
from octant.report.charts.picture import Axis, ChartSeries, Mark, Panel, Picture, Span

NARROW = 480
"""Panels narrower than this have short names and fewer ticks, px."""
PITCH = 1.25
"""Distance between the lines of a label, relative to its size."""
_SWATCH = 18.0
_LYING = ("rows", "across", "stack")
_HUES = ("s1", "s2", "s3", "s4")
_DASHES = ("", "d2", "d3", "d4")
_SHAPES = ("circle", "square", "triangle", "diamond")
_CLASSES = {"ink": "ink", "grey": "grey", "faint": "faint", "published": "grey"}
_DASH_OF = {"solid": "", "dashed": "d2", "dotted": "d3", "dash-dot": "d4"}
_LEAST, _MOST = math.log(sys.float_info.min), math.log(sys.float_info.max) - 1e-9  # of an axis, as logarithms


@dataclass(frozen=True)
class Scale:
    """Places of values along one axis: `low` is at `begin` px, `high` at `end` px."""

    low: float
    high: float
    log: bool
    begin: float
    end: float

    def at(self, value: float) -> float:
        """Return the place of a value, px; beyond the axis it may be infinite."""
        if math.isinf(value) or (self.log and value <= 0):
            return math.inf if (value > 0) == (self.end > self.begin) else -math.inf
        low, high, mine = (math.log(v) if self.log else v for v in (self.low, self.high, value))
        return self.begin + (self.end - self.begin) * (mine - low) / (high - low)

    def held(self, value: float) -> float:
        """Return the place of a value; of one beyond the axis, the end of the axis."""
        return max(min(self.begin, self.end), min(max(self.begin, self.end), self.at(value)))

    def holds(self, value: float) -> bool:
        """Return whether a value is on the axis."""
        low, high = sorted((self.begin, self.end))
        return not math.isnan(value) and low - 0.05 <= self.at(value) <= high + 0.05


def scale(axis: Axis, values: Iterable[float], begin: float, end: float, pad: float = 0.0) -> Scale:
    """Return the scale of an axis for these values and its ticks; without set ends, `pad` px at both ends are free."""
    if axis.ends:
        return Scale(*axis.ends, axis.log, begin, end)
    known = [v for v in (*values, *(at for at, _ in axis.ticks)) if has_place(v, axis)]
    low, high = (min(known), max(known)) if known else (1.0, 10.0)
    if low == high:
        low, high = (low / 2, high * 2) if axis.log else (low - 1, high + 1)
    if axis.log:
        low, high = math.log(low), math.log(high)
    more = (high - low) * pad / max(1.0, abs(end - begin) - 2 * pad)
    low, high = low - more, high + more
    if axis.log:
        low, high = (math.exp(max(_LEAST, min(_MOST, one))) for one in (low, high))
    return Scale(low, high, axis.log, begin, end)


def has_place(value: float, axis: Axis) -> bool:
    """Return whether an axis has a place for a value."""
    return math.isfinite(value) and (value > 0 or not axis.log)


def x_values(panel: Panel) -> list[float]:
    """Return the values that the x axis must show."""
    values = [note.x for note in panel.notes]
    stacks: dict[float, float] = {}
    for one in panel.series:
        values += [*one.x, *(x for x, _ in one.dots)]
        values += [*one.low, *one.high] if one.kind in ("rows", "across", "stack") else []
        values += [0.0] if one.kind in ("across", "stack") else []
        for x, y in zip(one.x, one.y, strict=True) if one.kind == "stack" else ():
            stacks[y] = stacks.get(y, 0.0) + x
    return [*values, *stacks.values()]


def y_values(panel: Panel) -> list[float]:
    """Return the values that the y axis must show, with 0 where lengths are read."""
    values = [*(note.y for note in panel.notes), *(level.y for level in panel.levels)]
    for one in panel.series:
        values += [*one.y, *(y for _, y in one.dots)]
        values += [*one.low, *one.high] if one.kind in ("points", "band") else []
    has_zero = not panel.y.log and not panel.y.ends and min(values, default=0.0) >= 0
    return [*values, 0.0] if has_zero else values


def clipped(points: Sequence[Spot], x: Scale, y: Scale) -> list[list[Spot]]:
    """Return a line in values as pieces in px, each inside both axes."""
    pieces: list[list[Spot]] = []
    for one, other in itertools.pairwise([(x.at(a), y.at(b)) for a, b in points]):
        part = _clip(one, other, x, y)
        if part and pieces and pieces[-1][-1] == part[0]:
            pieces[-1].append(part[1])
        elif part:
            pieces.append(list(part))
    return pieces


def _clip(one: Spot, other: Spot, x: Scale, y: Scale) -> tuple[Spot, Spot] | None:
    if not all(map(math.isfinite, (*one, *other))):
        return None
    begin, end = 0.0, 1.0
    for a, b, axis in zip(one, other, (x, y), strict=True):
        low, high = sorted((axis.begin, axis.end))
        if a != b:
            first, last = sorted(((low - a) / (b - a), (high - a) / (b - a)))
            begin, end = max(begin, first), min(end, last)
        elif not low - 0.05 <= a <= high + 0.05:
            return None
    if begin >= end:
        return None
    entry, leave = ((one[0] + t * (other[0] - one[0]), one[1] + t * (other[1] - one[1])) for t in (begin, end))
    return one if begin == 0 else entry, other if end == 1 else leave


def fitting_ticks(
    axis: Axis, place: Scale, half: Callable[[str], float], gap: float = 0.0, low: float = -math.inf,
    high: float = math.inf,
) -> list[tuple[float, str]]:  # fmt: skip
    """Return all ticks, or those at powers of ten, or every second, third, …: the first choice that has room.

    Args:
        half: returns half of the room of a text along the axis, px; all must be between `low` and `high` px.
        gap: least distance between two texts, px.
    """

    def is_free(ticks: Sequence[tuple[float, str]]) -> bool:
        edges = sorted((at - half(text), at + half(text)) for at, text in ticks)
        apart = all(right + gap <= left for (_, right), (left, _) in itertools.pairwise(edges))
        return apart and all(left >= low and right <= high for left, right in edges)

    ticks = sorted((place.at(v), text, v) for v, text in axis.ticks if place.holds(v))
    every = [(at, text) for at, text, _ in ticks]
    tens = [(at, text) for at, text, value in ticks if value > 0 and abs(math.log10(value) % 1) < 1e-9]
    best = tens if 1 < len(tens) < len(every) else every
    choices = [every, every[:-1], every[1:], every[1:-1], best]
    choices += [best[first::step] for step in range(2, len(best) + 1) for first in range(step)]
    return next(filter(is_free, choices), [])


def value_text(value: float, axis: Axis) -> str:
    """Return a value with its unit; on an axis of words or bytes, the text of a tick at that value."""
    for tick, text in axis.ticks if axis.unit in ("", "B") else ():
        if math.isclose(tick, value, rel_tol=1e-9):
            return text
    if axis.unit == "B":
        return units.bytes_text(value)
    if axis.unit == "%":
        return f"{value:.3g} %"
    return units.si_text(value, axis.unit) if axis.unit else f"{value:.4g}"


class PanelPlace(NamedTuple):
    """The position of a panel, and the sizes of its texts, px."""

    left: float
    right: float
    width: float
    top: float
    narrow: bool  # names are shortened
    size: float  # of labels
    small: float  # of ticks


def panel_place(left: float, width: float, top: float) -> PanelPlace:
    """Return the place of a panel of this width."""
    narrow = width < NARROW
    return PanelPlace(left, left + width, width, top, narrow, 12.5 if narrow else 12.0, 12.5 if narrow else 11.5)


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


class LegendEntry(NamedTuple):
    """An entry of a legend: a series with its look, or a grey band."""

    name: str
    look: Look | None
    kind: str


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


def draw_head(sheet: Sheet, place: PanelPlace, panel: Panel, quantity: str, across: Scale) -> float:
    """Draw everything above a panel: title, quantity, regions, labels of marks; return where it ends, px."""
    top = _titles(sheet, place, panel, quantity)
    top = regions(sheet, place, [one for one in panel.regions if one.place == "top"], across, top)
    return _mark_labels(sheet, place, panel.marks, across, top)


def _titles(sheet: Sheet, place: PanelPlace, panel: Panel, quantity: str) -> float:
    y, x, size = place.top, place.left, 12.5
    lines = [(line, True, "") for line in wrap(panel.title, size, place.width, 3, bold=True) if line]
    if quantity:
        bold = not panel.title
        soft = [(line, bold, "" if bold else "soft") for line in wrap(quantity, size, place.width, 3, bold)]
        used = text_width(lines[0][0], size, True) + 10 if len(lines) == 1 else place.width
        if len(soft) == 1 and used + text_width(quantity, size) <= place.width:
            sheet.text(Text(x + used, y + 12, quantity, size, "soft"))
        else:
            lines += soft
    for text, bold, kind in lines:
        y += 16
        sheet.text(Text(x, y - 4, text, size, kind, bold=bold))
    return y + 4 * bool(lines)


def x_axis(sheet: Sheet, place: PanelPlace, axis: Axis, across: Scale, y: float) -> float:
    """Draw the horizontal axis at a height with its ticks and title; return where it ends, px."""
    ticks = ticks_along(axis, place, across)
    marks = "".join(f"M{px(at)} {px(y)}v4" for at, _ in ticks)
    sheet.path("axis", open_line([(across.begin, y), (across.end, y)]) + marks)
    sheet.text(*(Text(at, y + 7 + place.small, text, place.small, "soft", "middle") for at, text in ticks))
    bottom = y + 10 + place.small if ticks else y + 2
    for line in wrap(axis.title, place.small, place.width, 2) if axis.title else ():
        half = text_width(line, place.small) / 2
        middle = max(place.left + half, min(place.right - half, (across.begin + across.end) / 2))
        sheet.text(Text(middle, bottom + place.small + 2, line, place.small, "soft", "middle"))
        bottom += place.small + 4
    return bottom


def ticks_along(axis: Axis, place: PanelPlace, across: Scale) -> list[tuple[float, str]]:
    """Return the ticks of a horizontal axis for which there is room."""
    return fitting_ticks(axis, across, lambda text: text_width(text, place.small) / 2, 6, place.left, place.right)


def half_of_last(axis: Axis, place: PanelPlace) -> float:
    """Return the room at the right for half of the last tick."""
    half = max((text_width(text, place.small) / 2 for _, text in axis.ticks[-1:]), default=0.0)
    return min(0.1 * place.width, half) + 2


def draw_bands(sheet: Sheet, panel: Panel, across: Scale, spans: Sequence[tuple[float, float]]) -> None:
    """Draw the grey bands of a panel between these heights."""
    for band in panel.bands:
        begin, end = across.held(band.begin), across.held(band.end)
        for top, bottom in spans if end > begin else ():
            sheet.rect("edge", Box(begin, top, end, bottom), band.label)


def draw_marks(sheet: Sheet, panel: Panel, across: Scale, spans: Sequence[tuple[float, float]]) -> None:
    """Draw the lines across a panel between these heights."""
    for mark in panel.marks:
        if across.holds(mark.at):
            x = across.at(mark.at)
            lines = [open_line([(x, top), (x, bottom)]) for top, bottom in spans]
            sheet.path("axis" if mark.dash == "solid" else "at", "".join(lines), mark.label)


def legend_entries(panel: Panel, looks: Sequence[Look], names: Collection[str]) -> list[LegendEntry]:
    """Return the entries of the series with these names, and of labelled bands."""
    named = zip(panel.series, looks, strict=True)
    entries = [LegendEntry(one.name, look, one.kind) for one, look in named if one.name and one.name in names]
    return entries + [LegendEntry(band.label, None, "band") for band in panel.bands if band.label]


def legend(sheet: Sheet, place: PanelPlace, entries: Sequence[LegendEntry], left: float, top: float) -> float:
    """Write a legend in as many lines as needed; return where it ends, px."""
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
    middle, look, kind = x + _SWATCH / 2, entry.look, entry.kind
    if look is None:
        sheet.rect("edge", Box(x, y - 5, x + _SWATCH, y + 5))
        return
    with sheet.group(look.colour):
        if kind in ("bars", "across", "stack"):
            sheet.rect("o" if look.open else "b", Box(middle - 6, y - 5, middle + 6, y + 5))
        if kind in ("curve", "line", "band"):
            sheet.path(f"l {look.dash}".rstrip(), open_line([(x, y), (x + _SWATCH, y)]))
        if kind in ("curve", "points", "rows"):
            sheet.mark("o" if look.open else "m", look.shape, (middle, y))


def regions(sheet: Sheet, place: PanelPlace, shown: Sequence[Span], across: Scale, top: float) -> float:
    """Write texts over parts of x from `top` on, shorter where room is short; return where they end, px."""
    edge, bottom = place.left, top
    for region in sorted(shown, key=lambda one: one.begin):
        edge = max(edge, across.begin) if region.place == "bottom" else edge
        begin, end = across.held(region.begin), across.held(region.end)
        for texts in _region_texts(region, place.size, end - begin) if end > begin else ():
            half = max(text_width(text, place.size, bold) for text, bold in texts) / 2
            middle = max(edge + half, min(place.right - half, (begin + end) / 2))
            if middle - half >= begin - 20 and middle + half <= min(place.right, end + 20):
                break
        else:
            continue
        title = region.label.replace("\n", "; ") * (len(texts) <= region.label.count("\n"))
        for i, (text, bold) in enumerate(texts):
            y = top + place.size * (1 + PITCH * i)
            sheet.text(Text(middle, y, text, place.size, "" if bold else "soft", "middle", bold, title=title))
        edge = middle + half + 6
        bottom = max(bottom, top + place.size * PITCH * len(texts) + 4)
    return bottom


def _region_texts(region: Span, size: float, room: float) -> Iterable[list[tuple[str, bool]]]:
    """Return shorter and shorter texts: all lines, wrapped, the first line, its first word."""
    several = "\n" in region.label
    lines = [(line, several and not n) for n, line in enumerate(region.label.split("\n")) if line.strip()]
    if not lines:
        return
    yield lines
    if region.place == "top":
        wrapped = [(part, bold) for line, bold in lines for part in wrap(line, size, room + 8, 2, bold)]
        if not any(part.endswith("…") for part, _ in wrapped):
            yield wrapped
    yield lines[:1]
    yield [(lines[0][0].split()[0].rstrip(":,"), lines[0][1])]


def _mark_labels(sheet: Sheet, place: PanelPlace, marks: Sequence[Mark], across: Scale, top: float) -> float:
    """Write the names of lines across, above them, in at most three rows; return where they end, px."""
    shown = sorted((mark for mark in marks if mark.label and across.holds(mark.at)), key=lambda mark: mark.at)
    names = [cut(mark.label, place.small, place.width / 2) for mark in shown]
    for rows in (1, 2, 3) if shown else ():
        groups = [range(row, len(shown), rows) for row in range(rows)]
        sizes = [[text_width(names[i], place.small) for i in group] for group in groups]
        if all(sum(mine) + 8 * (len(mine) - 1) <= place.width for mine in sizes if mine):
            break
    else:
        return top
    for row, (group, mine) in enumerate(zip(groups, sizes, strict=True)):
        wanted = [across.at(shown[i].at) for i in group]
        y = top + place.small * (1 + PITCH * row)
        for i, size, x, at in zip(group, mine, spread(wanted, mine, place.left, place.right, 8), wanted, strict=True):
            title = shown[i].label * (names[i] != shown[i].label)
            sheet.text(Text(x, y, names[i], place.small, "soft", "middle", title=title))
            if abs(x - at) > size / 2:
                sheet.field.hairlines.append(((x, y + 3), (at, top + place.small * PITCH * rows + 2)))
    return top + place.small * PITCH * rows + 2
