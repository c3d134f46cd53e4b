"""Panels of rows: names at the left, marks or bars on one axis, columns of words at the right.

Where there is little room, a row's name and its words stand above its marks.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from octant.report.charts.layout import scale as scales
from octant.report.charts.layout.fonts import cut, text_width, wrap
from octant.report.charts.layout.frame import LegendEntry, PanelPlace, legend, titles, x_axis
from octant.report.charts.layout.labels import Box, Text
from octant.report.charts.layout.scale import value_text
from octant.report.charts.layout.series import arrow, point_title
from octant.report.charts.layout.svg import Sheet, dots, open_line
from octant.report.charts.layout.words import half_of_last, mark_labels, regions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from octant.report.charts.layout.looks import Look
    from octant.report.charts.layout.scale import Scale
    from octant.report.charts.picture import ChartSeries, Column, Panel

_LANE = 13.0
_GAP = 16.0
_WORDS_NARROW, _WORDS_WIDE = 0.4, 0.72
"""Above these shares of the width, names and columns stand over the marks of their rows."""
_KINDS = {"": "soft", "soft": "soft", "ink": "", "good": "good", "limited": "limited", "wrong": "wrong"}


@dataclass(frozen=True)
class _Row:
    """A row: its words, and where its lanes lie."""

    at: float
    name: tuple[str, ...]
    words: tuple[tuple[Text, ...], ...]  # lines of words under the name; x only
    head: float  # px above its lanes
    height: float  # px of its lanes
    top: float


@dataclass(frozen=True)
class _Layout:
    place: PanelPlace
    panel: Panel
    left: float
    right: float
    columns: tuple[float, ...]  # where each column begins; none: words stand under the names
    names: float  # room of names, px

    @property
    def over(self) -> bool:
        """Whether names and words stand over the marks of their rows."""
        return self.names == self.place.width


def draw_rows(sheet: Sheet, place: PanelPlace, panel: Panel, looks: Sequence[Look]) -> float:
    """Draws a panel of rows; gives where it ends, px."""
    layout = _layout(place, panel)
    across = scales.scale(panel.x, scales.x_values(panel), layout.left, layout.right, 0 if _from_zero(panel) else 8)
    top = titles(sheet, place, panel, "" if panel.title else panel.x.title)
    top = regions(sheet, place, [r for r in panel.regions if r.place == "top"], across, top)
    top = mark_labels(sheet, place, panel.marks, across, top)
    top = _column_titles(sheet, layout, top)
    rows = _rows(layout, len(_lanes(panel)), top + 2)
    bottom = rows[-1].top + rows[-1].head + rows[-1].height if rows else top + 20
    _ground(sheet, layout, across, rows, top + 2, bottom)
    axis = replace(panel.x, title=panel.x.title if panel.title else "")
    bottom = x_axis(sheet, place, axis, across, bottom) if axis.ticks or axis.title else bottom
    for row in rows:
        _words(sheet, layout, row)
    for lane, pairs in enumerate(_lanes(panel)):
        _draw_lane(sheet, layout, across, rows, lane, [(one, looks[i]) for i, one in pairs])
    _notes(sheet, layout, across, rows)
    return legend(sheet, place, _entries(panel, looks), place.left if place.narrow else layout.left, bottom + 6)


def _from_zero(panel: Panel) -> bool:
    return any(one.kind in ("across", "stack") for one in panel.series)


def _lanes(panel: Panel) -> list[list[tuple[int, ChartSeries]]]:
    """Series that share a lane of each row: all stacks; strokes and the series before them; others have one each."""
    lanes: list[list[tuple[int, ChartSeries]]] = []
    for number, one in enumerate(panel.series):
        stacked = one.kind == "stack" and number and panel.series[number - 1].kind == "stack"
        if lanes and (stacked or one.marker == "tick"):
            lanes[-1].append((number, one))
        else:
            lanes.append([(number, one)])
    return lanes or [[]]


def _layout(place: PanelPlace, panel: Panel) -> _Layout:
    size = place.size
    names = [" ".join(text.split()) for _, text in panel.y.ticks]
    widest = max((text_width(name, size) for name in names), default=0.0)
    columns = [_column_width(column, size) for column in panel.columns]
    beyond = sum(columns) + _GAP * len(columns)
    wide = min(widest, place.width * 0.34)
    if wide + beyond > (_WORDS_NARROW if place.narrow else _WORDS_WIDE) * place.width:
        return _Layout(place, panel, place.left + 4, place.right - half_of_last(panel.x, place), (), place.width)
    left = place.left + wide + (14 if wide else 2)
    right = place.right - (beyond if columns else half_of_last(panel.x, place))
    starts, x = [], right + _GAP
    for width in columns:
        starts.append(x)
        x += width + _GAP
    return _Layout(place, panel, left, right, tuple(starts), wide)


def _column_width(column: Column, size: float) -> float:
    title = [text_width(line, size) for line in _title_lines(column, size)]
    return max([*title, *(text_width(text, size, bold=True) for text in column.texts)])


def _title_lines(column: Column, size: float) -> list[str]:
    """The title in one line, or in two where it would widen the column."""
    widest = max((text_width(text, size, bold=True) for text in column.texts), default=0.0)
    for share in (0.0, 0.5, 0.6, 0.75):
        lines = wrap(column.title, size, max(widest, share * text_width(column.title, size)), 2)
        if lines and not any(line.endswith("…") for line in lines):
            return lines
    return [column.title]


def _rows(layout: _Layout, lanes: int, top: float) -> list[_Row]:
    """The rows from the top down."""
    size, found = layout.place.size, []
    for number, (at, text) in enumerate(sorted(layout.panel.y.ticks)):
        words = _under(layout, number)
        name = tuple(wrap(text, size, layout.names, 2, bold=layout.over))
        head = 1.25 * size * (len(name) + len(words)) + 6 if layout.over else 0.0
        inner = _LANE * lanes + 8
        height = inner if layout.over else max(1.25 * size * len(name) + 8, inner, 30 if layout.columns else 0)
        found.append(_Row(at, name, words, head, height, top))
        top += head + height
    return found


def _under(layout: _Layout, number: int) -> tuple[tuple[Text, ...], ...]:
    """The columns and notes of a row as lines under its name, where they have no room elsewhere."""
    if not layout.over:
        return ()
    place, lines = layout.place, list[list[Text]]()
    words = [_cell(column, number) for column in layout.panel.columns]
    at = sorted(layout.panel.y.ticks)[number][0]
    words += [(note.text, "soft") for note in layout.panel.notes if note.y == at]
    x = math.inf
    for text, kind in words:
        if not text:
            continue
        whole = cut(text, place.size, place.width - 4)
        wide = text_width(whole, place.size)
        if x + wide > place.right:
            x = place.left
            lines.append([])
        lines[-1].append(Text(x, 0, whole, place.size, kind))
        x += wide + 12
    return tuple(map(tuple, lines))


def _cell(column: Column, number: int) -> tuple[str, str]:
    """A cell of a column where no title stands above it, and its class; a verdict needs no title."""
    text = column.texts[number] if number < len(column.texts) else ""
    tone = column.roles[number] if number < len(column.roles) else ""
    return f"{column.title} {text}" * bool(text) if tone in ("", "ink") else text, _KINDS[tone]


def _words(sheet: Sheet, layout: _Layout, row: _Row) -> None:
    place, size = layout.place, layout.place.size
    if row.head:
        y = row.top + 4
        for line in row.name:
            y += 1.25 * size
            sheet.text(Text(place.left, y - 2, line, size, bold=True))
        for words in row.words:
            y += 1.25 * size
            sheet.text(*(text.at(text.x, y - 2) for text in words))
        return
    middle = row.top + row.height / 2
    for i, line in enumerate(row.name):
        y = middle + size * (0.36 + 1.2 * (i - (len(row.name) - 1) / 2))
        sheet.text(Text(place.left, y, line, size))
    number = sorted(layout.panel.y.ticks).index((row.at, next(t for at, t in layout.panel.y.ticks if at == row.at)))
    for column, x in zip(layout.panel.columns, layout.columns, strict=True):
        if number < len(column.texts) and column.texts[number]:
            role = column.roles[number] if number < len(column.roles) else ""
            sheet.text(Text(x, middle + 0.36 * size, column.texts[number], size, _KINDS[role], bold=bool(role)))


def _column_titles(sheet: Sheet, layout: _Layout, top: float) -> float:
    if not layout.columns:
        return top
    size = layout.place.size
    lines = [_title_lines(column, size) for column in layout.panel.columns]
    most = max(map(len, lines))
    for mine, x in zip(lines, layout.columns, strict=True):
        for i, line in enumerate(mine):
            sheet.text(Text(x, top + 10 + 1.2 * size * (i + most - len(mine)), line, size, "soft"))
    return top + 2 + 1.2 * size * most


def _ground(sheet: Sheet, layout: _Layout, across: Scale, rows: Sequence[_Row], top: float, bottom: float) -> None:
    """Bands, a grid at the ticks, lines between rows, and marks across."""
    panel, place = layout.panel, layout.place
    for band in panel.bands:
        begin, end = across.held(band.begin), across.held(band.end)
        if end > begin:
            for row in rows:
                sheet.rect("edge", Box(begin, row.top + row.head, end, row.top + row.head + row.height), band.label)
    grid = []
    if any(len(one.x) > 0 and one.kind != "stack" for one in panel.series):
        ticks = [at for at, _ in scales.ticks_along(panel.x, across, place.small, place.left, place.right)]
        for row in rows:
            y = row.top + row.head
            grid += [open_line([(x, y), (x, y + row.height)]) for x in ticks] if row.head else []
        if not any(row.head for row in rows):
            grid += [open_line([(x, top), (x, bottom)]) for x in ticks]
        if len(rows) > 1 and not _from_zero(panel):
            grid += [open_line([(place.left, row.top), (place.right, row.top)]) for row in rows]
    sheet.path("grid", "".join(grid))
    for mark in panel.marks:
        if across.holds(mark.at):
            x = across.at(mark.at)
            lines = [open_line([(x, row.top + row.head), (x, row.top + row.head + row.height)]) for row in rows]
            sheet.path("axis" if mark.dash == "solid" else "at", "".join(lines), mark.label)


def _lane_middle(row: _Row, lane: int, lanes: int) -> float:
    pitch = min(_LANE, row.height / lanes)
    return row.top + row.head + row.height / 2 + pitch * (lane - (lanes - 1) / 2)


def _draw_lane(
    sheet: Sheet,
    layout: _Layout,
    across: Scale,
    rows: Sequence[_Row],
    lane: int,
    mine: Sequence[tuple[ChartSeries, Look]],
) -> None:
    panel, size = layout.panel, layout.place.size
    heights = {row.at: _lane_middle(row, lane, len(_lanes(panel))) for row in rows}
    reached: dict[float, float] = {}
    for one, look in mine:
        with sheet.group(look.colour):
            spots = [(across.at(x), heights[y]) for x, y in one.dots if y in heights and across.holds(x)]
            sheet.path("dots", dots(spots))
            for i, (x, at) in enumerate(zip(one.x, one.y, strict=True)):
                if at not in heights or not math.isfinite(x):
                    continue
                title = point_title(one, i, panel)
                if one.kind == "rows":
                    _mark(sheet, one, look, i, across, heights[at], size, title)
                else:
                    begin = reached.get(at, 0.0) if one.kind == "stack" else 0.0
                    box = _bar(sheet, one, look, i, across, heights[at], begin, title)
                    if one.kind == "stack":
                        value = value_text(x, panel.x) if one.names == "end" else ""
                        _inside(sheet, box, one.labels[i] if i < len(one.labels) else value, size, look)
                    reached[at] = begin + x


def _mark(sheet: Sheet, one: ChartSeries, look: Look, i: int, across: Scale, y: float, size: float, title: str) -> None:
    low = one.low[i] if i < len(one.low) else one.x[i]
    high = one.high[i] if i < len(one.high) else one.x[i]
    begin, end = across.held(low), across.held(high)
    if end > begin:
        sheet.path("v", open_line([(begin, y), (end, y)]))
        sheet.field.add_line([(begin, y), (end, y)])
    for value, x, right in ((low, across.begin, False), (high, across.end, True)):
        beyond = value > across.high if right else value < across.low
        if beyond and math.isfinite(value):
            sheet.path("b", arrow((x, y), right), title)
    if across.holds(one.x[i]):
        is_open = look.open or (i < len(one.open) and one.open[i])
        sheet.mark("o" if is_open else "m", look.shape, (across.at(one.x[i]), y), title)
        if one.names == "points" and i < len(one.labels) and one.labels[i]:
            label = Text(0, 0, one.labels[i], size, "soft")
            sheet.field.place((across.at(one.x[i]), y), [label], Box(across.begin, y - 30, across.end, y + 30))


def _bar(sheet: Sheet, one: ChartSeries, look: Look, i: int, across: Scale, y: float, begin: float, title: str) -> Box:
    half = 8.0 if one.kind == "stack" else 4.5
    left, right = across.held(begin), across.held(begin + one.x[i])
    box = Box(min(left, right), y - half, max(left, right), y + half)
    is_open = look.open or (i < len(one.open) and one.open[i])
    sheet.rect("o" if is_open else "b", box, title)
    sheet.field.marks.append(box)
    if i < len(one.low) and i < len(one.high) and one.high[i] > one.low[i]:
        low, high = across.held(one.low[i]), across.held(one.high[i])
        with sheet.group("ink"):
            sheet.path("level", open_line([(low, y), (high, y)]) + f"M{low:.1f} {y - 3:.1f}v6M{high:.1f} {y - 3:.1f}v6")
        sheet.field.marks.append(Box(low, y - 3, high, y + 3))
    return box


def _inside(sheet: Sheet, box: Box, text: str, size: float, look: Look) -> None:
    """The label or the value of a piece of a bar, where it fits in."""
    if text_width(text, size) + 8 <= box.right - box.left:
        kind = "on" if look.colour.startswith("s") else ""
        middle = (box.left + box.right) / 2
        sheet.text(Text(middle, (box.top + box.bottom) / 2 + 0.36 * size, text, size, kind, "middle"))


def _notes(sheet: Sheet, layout: _Layout, across: Scale, rows: Sequence[_Row]) -> None:
    """Words in rows: right of their place in the first lane where that is free, else near it."""
    size, lanes = layout.place.small, len(_lanes(layout.panel))
    for note in () if layout.over else layout.panel.notes:
        row = next((row for row in rows if row.at == note.y), None)
        if row is None:
            continue
        y, room = row.top + row.head, Box(across.begin, row.top + row.head, across.end, row.top + row.head + row.height)
        beside = Text(across.held(note.x) + 6, _lane_middle(row, 0, lanes) + 0.36 * size, note.text, size, "soft")
        if sheet.field.is_free(beside, room):
            sheet.text(beside)
            continue
        for share, most in ((1.0, 1), (0.6, 2), (0.4, 2), (0.25, 2)):
            lines = wrap(note.text, size, share * (across.end - across.begin), most)
            texts = [Text(0, 0, line, size, "soft") for line in lines]
            if sheet.field.place((across.held(note.x), y + row.height / 2), texts, room):
                break


def _entries(panel: Panel, looks: Sequence[Look]) -> list[LegendEntry]:
    found = []
    named = [one for one in panel.series if one.name and one.names != "none"]
    alone = len(named) == 1 and named[0].kind in ("across", "stack")
    for one, look in zip(panel.series, looks, strict=True):
        if one.name and one.names != "none" and not alone:
            found.append(LegendEntry(one.name, look, one.kind))
    return found + [LegendEntry(band.label, None, "band") for band in panel.bands if band.label]
