"""Panels of rows: names at the left, marks or bars on one axis, columns of texts at the right.

Where there is little room, the name of a row and its texts are above its marks.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from octant.report.charts.layout import frame
from octant.report.charts.layout.frame import Look, PanelPlace, Scale, mark_kind, point_title, value_text
from octant.report.charts.layout.labels import Box, Text, cut, text_width, wrap
from octant.report.charts.layout.svg import Sheet, dots, open_line, px
from octant.report.charts.picture import ChartSeries, Column, Panel

Lanes = list[list[tuple[ChartSeries, Look]]]

_LANE = 13.0
_GAP = 16.0
_TEXTS_NARROW, _TEXTS_WIDE = 0.4, 0.72
"""Beyond these shares of the width, names and columns are above the marks of their rows."""
_KINDS = {"": "soft", "soft": "soft", "ink": "", "good": "good", "limited": "limited", "wrong": "wrong"}


class _Row(NamedTuple):
    """A row: its texts and the heights of its parts, px."""

    number: int
    at: float
    name: list[str]
    lines: list[list[Text]]  # under the name; x only
    top: float
    span: tuple[float, float]  # of its lanes
    lanes: list[float]  # the middle of each


class _Layout(NamedTuple):
    """The parts of a panel of rows from left to right, px."""

    sheet: Sheet
    place: PanelPlace
    panel: Panel
    ticks: list[tuple[float, str]]  # the names of the rows from the top down
    lanes: Lanes
    left: float
    right: float
    columns: list[float]  # where each column begins
    names: float  # room of names
    is_stacked: bool = False  # names and texts are above the marks of their rows


def draw_rows(sheet: Sheet, place: PanelPlace, panel: Panel, looks: Sequence[Look]) -> float:
    """Draw a panel of rows; return where it ends, px."""
    layout = _layout(sheet, place, panel, looks)
    from_zero = any(one.kind in ("across", "stack") for one in panel.series)
    across = frame.scale(panel.x, frame.x_values(panel), layout.left, layout.right, 0 if from_zero else 8)
    top = frame.draw_head(sheet, place, panel, "" if panel.title else panel.x.title, across)
    top = _column_titles(layout, top)
    rows = _rows(layout, top + 2)
    bottom = rows[-1].span[1] if rows else top + 20
    spans = [row.span for row in rows]
    frame.draw_bands(sheet, panel, across, spans)
    _draw_grid(layout, across, rows, from_zero, (top + 2, bottom))
    frame.draw_marks(sheet, panel, across, spans)
    title = panel.x.title if panel.title else ""
    if panel.x.ticks or title:
        bottom = frame.x_axis(sheet, place, replace(panel.x, title=title), across, bottom)
    for row in rows:
        _write_row(layout, row)
    for number in range(len(layout.lanes)):
        _draw_lane(layout, across, rows, number)
    _write_notes(layout, across, rows)
    named = [one for one in panel.series if one.name and one.names != "none"]
    alone = len(named) == 1 and named[0].kind in ("across", "stack")
    entries = frame.legend_entries(panel, looks, set() if alone else {one.name for one in named})
    return frame.legend(sheet, place, entries, place.left if place.narrow else layout.left, bottom + 6)


def _lanes(panel: Panel, looks: Sequence[Look]) -> Lanes:
    """Return series by lane: all stacks share one, a stroke shares that of the series before it."""
    lanes: Lanes = []
    before = ""
    for one, look in zip(panel.series, looks, strict=True):
        if lanes and (one.marker == "tick" or one.kind == before == "stack"):
            lanes[-1].append((one, look))
        else:
            lanes.append([(one, look)])
        before = one.kind
    return lanes or [[]]


def _layout(sheet: Sheet, place: PanelPlace, panel: Panel, looks: Sequence[Look]) -> _Layout:
    size, lanes, rows = place.size, _lanes(panel, looks), sorted(panel.y.ticks)
    half = frame.half_of_last(panel.x, place)
    widest = max((text_width(" ".join(text.split()), size) for _, text in rows), default=0.0)
    widths = []
    for column in panel.columns:
        title = [text_width(line, size) for line in _title_lines(column, size)]
        widths.append(max([*title, *(text_width(text, size, bold=True) for text in column.texts)]))
    beyond = sum(widths) + _GAP * len(widths)
    names = min(widest, place.width * 0.34)
    if names + beyond > (_TEXTS_NARROW if place.narrow else _TEXTS_WIDE) * place.width:
        return _Layout(sheet, place, panel, rows, lanes, place.left + 4, place.right - half, [], place.width, True)
    left, right = place.left + names + (14 if names else 2), place.right - (beyond if widths else half)
    columns = [right + _GAP + sum(widths[:i]) + _GAP * i for i in range(len(widths))]
    return _Layout(sheet, place, panel, rows, lanes, left, right, columns, names)


def _title_lines(column: Column, size: float) -> list[str]:
    """Return the title in one line, or in two where it would widen the column."""
    widest = max((text_width(text, size, bold=True) for text in column.texts), default=0.0)
    for share in (0.0, 0.5, 0.6, 0.75):
        lines = wrap(column.title, size, max(widest, share * text_width(column.title, size)), 2)
        if lines and not any(line.endswith("…") for line in lines):
            return lines
    return [column.title]


def _rows(layout: _Layout, top: float) -> list[_Row]:
    size, stacked, count, rows = layout.place.size, layout.is_stacked, len(layout.lanes), list[_Row]()
    for number, (at, text) in enumerate(layout.ticks):
        lines = _lines_under(layout, number) if stacked else []
        name = wrap(text, size, layout.names, 2, bold=stacked)
        begin = top + (1.25 * size * (len(name) + len(lines)) + 6 if stacked else 0.0)
        inner = _LANE * count + 8
        height = inner if stacked else max(1.25 * size * len(name) + 8, inner, 30 if layout.columns else 0)
        middle, pitch = begin + height / 2, min(_LANE, height / count)
        lanes = [middle + pitch * (lane - (count - 1) / 2) for lane in range(count)]
        rows.append(_Row(number, at, name, lines, top, (begin, begin + height), lanes))
        top = begin + height
    return rows


def _lines_under(layout: _Layout, number: int) -> list[list[Text]]:
    """Return the columns and notes of a row as lines under its name."""
    place, lines, x = layout.place, list[list[Text]](), math.inf
    texts = [_cell(column, number, with_title=True) for column in layout.panel.columns]
    texts += [(note.text, "soft") for note in layout.panel.notes if note.y == layout.ticks[number][0]]
    for text, tone in ((cut(text, place.size, place.width - 4), tone) for text, tone in texts if text):
        wide = text_width(text, place.size)
        if x + wide > place.right:
            x = place.left
            lines.append([])
        lines[-1].append(Text(x, 0, text, place.size, _KINDS[tone]))
        x += wide + 12
    return lines


def _cell(column: Column, number: int, with_title: bool = False) -> tuple[str, str]:
    """Return the text of a cell and its tone; a verdict needs no title."""
    text = column.texts[number] if number < len(column.texts) else ""
    tone = column.roles[number] if number < len(column.roles) else ""
    return f"{column.title} {text}" if text and with_title and tone in ("", "ink") else text, tone


def _write_row(layout: _Layout, row: _Row) -> None:
    """Write the name of a row and its texts: above its lanes, or next to them."""
    sheet, place, size = layout.sheet, layout.place, layout.place.size
    if layout.is_stacked:
        y = row.top + 2
        for i, line in enumerate(row.name, 1):
            sheet.text(Text(place.left, y + 1.25 * size * i, line, size, bold=True))
        for i, texts in enumerate(row.lines, len(row.name) + 1):
            sheet.text(*(replace(text, y=y + 1.25 * size * i) for text in texts))
        return
    middle = (row.top + row.span[1]) / 2
    for i, line in enumerate(row.name):
        sheet.text(Text(place.left, middle + size * (0.36 + 1.2 * (i - (len(row.name) - 1) / 2)), line, size))
    for column, x in zip(layout.panel.columns, layout.columns, strict=True):
        text, tone = _cell(column, row.number)
        sheet.text(Text(x, middle + 0.36 * size, text, size, _KINDS[tone], bold=bool(tone)))


def _column_titles(layout: _Layout, top: float) -> float:
    if not layout.columns:
        return top
    size = layout.place.size
    titles = [_title_lines(column, size) for column in layout.panel.columns]
    most = max(map(len, titles))
    for lines, x in zip(titles, layout.columns, strict=True):
        for i, line in enumerate(lines, most - len(lines)):
            layout.sheet.text(Text(x, top + 10 + 1.2 * size * i, line, size, "soft"))
    return top + 2 + 1.2 * size * most


def _draw_grid(
    layout: _Layout, across: Scale, rows: Sequence[_Row], from_zero: bool, whole: tuple[float, float]
) -> None:
    """Draw a grid at the ticks, and lines between rows."""
    panel, place, lines = layout.panel, layout.place, []
    if any(one.x and one.kind != "stack" for one in panel.series):
        ticks = [at for at, _ in frame.ticks_along(panel.x, place, across)]
        spans = [row.span for row in rows if layout.is_stacked] or [whole]
        lines = [[(x, top), (x, bottom)] for top, bottom in spans for x in ticks]
        if len(rows) > 1 and not from_zero:
            lines += [[(place.left, row.top), (place.right, row.top)] for row in rows]
    layout.sheet.path("grid", "".join(map(open_line, lines)))


def _draw_lane(layout: _Layout, across: Scale, rows: Sequence[_Row], number: int) -> None:
    heights = {row.at: row.lanes[number] for row in rows}
    reached: dict[float, float] = {}
    for one, look in layout.lanes[number]:
        with layout.sheet.group(look.colour):
            spots = [(across.at(x), heights[y]) for x, y in one.dots if y in heights and across.holds(x)]
            layout.sheet.path("dots", dots(spots))
            for i, (x, at) in enumerate(zip(one.x, one.y, strict=True)):
                if at not in heights or not math.isfinite(x):
                    continue
                if one.kind == "rows":
                    _draw_mark(layout, one, look, i, across, heights[at])
                else:
                    begin = reached.get(at, 0.0) if one.kind == "stack" else 0.0
                    _draw_bar(layout, one, look, i, across, heights[at], begin)
                    reached[at] = begin + x


def _draw_mark(layout: _Layout, one: ChartSeries, look: Look, i: int, across: Scale, y: float) -> None:
    """Draw a mark with its interval and its label; what is beyond the axis has an arrow."""
    sheet, title, at = layout.sheet, point_title(one, i, layout.panel), (across.at(one.x[i]), y)
    low, high = (side[i] if i < len(side) else one.x[i] for side in (one.low, one.high))
    begin, end = across.held(low), across.held(high)
    if end > begin:
        sheet.lines("v", [(begin, y), (end, y)])
    if low < across.low and math.isfinite(low):
        sheet.path("b", f"M{px(across.begin)} {px(y)}l6 -3.5v7z", title)
    if high > across.high and math.isfinite(high):
        sheet.path("b", f"M{px(across.end)} {px(y)}l-6 -3.5v7z", title)
    if across.holds(one.x[i]):
        sheet.mark(mark_kind(one, look, i), look.shape, at, title)
        if one.names == "points" and i < len(one.labels) and one.labels[i]:
            label = Text(0, 0, one.labels[i], layout.place.size, "soft")
            sheet.field.place(at, [label], Box(across.begin, y - 30, across.end, y + 30))


def _draw_bar(layout: _Layout, one: ChartSeries, look: Look, i: int, across: Scale, y: float, begin: float) -> None:
    """Draw a bar with its interval; a piece of a stack has its label or its value inside where there is room."""
    sheet, stacked, size = layout.sheet, one.kind == "stack", layout.place.size
    half = 8.0 if stacked else 4.5
    left, right = sorted((across.held(begin), across.held(begin + one.x[i])))
    box = Box(left, y - half, right, y + half)
    sheet.rect("o" if mark_kind(one, look, i) == "o" else "b", box, point_title(one, i, layout.panel))
    sheet.field.marks.append(box)
    if i < len(one.low) and i < len(one.high) and one.high[i] > one.low[i]:
        low, high = across.held(one.low[i]), across.held(one.high[i])
        with sheet.group("ink"):
            sheet.path("level", open_line([(low, y), (high, y)]) + f"M{low:.1f} {y - 3:.1f}v6M{high:.1f} {y - 3:.1f}v6")
        sheet.field.marks.append(Box(low, y - 3, high, y + 3))
    value = value_text(one.x[i], layout.panel.x) if one.names == "end" else ""
    text = one.labels[i] if i < len(one.labels) else value
    if stacked and text_width(text, size) + 8 <= box.right - box.left:
        kind = "on" if look.colour.startswith("s") else ""
        sheet.text(Text(box.middle[0], y + 0.36 * size, text, size, kind, "middle"))


def _write_notes(layout: _Layout, across: Scale, rows: Sequence[_Row]) -> None:
    """Write texts in rows: right of their place in the first lane where that is free, else near it."""
    field, size = layout.sheet.field, layout.place.small
    by_place = {row.at: row for row in rows}
    for note in () if layout.is_stacked else layout.panel.notes:
        if (row := by_place.get(note.y)) is None:
            continue
        top, bottom = row.span
        room, x = Box(across.begin, top, across.end, bottom), across.held(note.x)
        preferred = Text(x + 6, row.lanes[0] + 0.36 * size, note.text, size, "soft")
        if field.is_free(preferred, room):
            layout.sheet.text(preferred)
            continue
        for share, most in ((1.0, 1), (0.6, 2), (0.4, 2), (0.25, 2)):
            lines = wrap(note.text, size, share * (across.end - across.begin), most)
            texts = [Text(0, 0, line, size, "soft") for line in lines]
            if field.place((x, (top + bottom) / 2), texts, room):
                break
