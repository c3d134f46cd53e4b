"""Pictures in characters: bars one under the other, and curves on a grid."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from rich.text import Text

from octant.report.charts.layout.scale import has_place, scale, value_text, x_values

if TYPE_CHECKING:
    from collections.abc import Sequence

    from octant.report.charts.layout.scale import Scale
    from octant.report.charts.picture import Axis, ChartSeries, Panel, Picture

HEIGHT = 14  # lines of a grid
LETTERS = "abcdefghijklmnopqrstuvwxyz"
FILLS = "█▓▒░#=+-"
SHADES = "·░▒▓█"
_EIGHTHS = " ▏▎▍▌▋▊▉█"


def picture_lines(picture: Picture, width: int = 100) -> list[Text]:
    """The picture as styled lines of at most `width` columns, its title first."""
    lines = [Text(), Text(picture.title[:width], style="bold")]
    for panel in picture.panels:
        title = panel.title or ("" if panel.y.down else panel.y.title)
        lines += [Text(title[:width])] * bool(title)
        lines += [Text(line.rstrip()) for line in (*_body(panel, width), *_words(panel, width))]
    return lines


def _body(panel: Panel, width: int) -> list[str]:
    kinds = {series.kind for series in panel.series}
    if not any(series.x for series in panel.series):
        return ["nothing to draw"]
    if kinds <= {"across", "stack"}:
        return _across(panel, width)
    if panel.y.down:
        return _rows(panel, width)
    if "cells" in kinds:
        return _cells(panel, width)
    return _outline(panel, width) if kinds == {"bars"} else _grid(panel, width)


def bar(share: float, cells: int) -> str:
    """A bar of `cells` characters, full at 1."""
    eighths = round(max(0.0, min(1.0, share)) * 8 * cells)
    text = "█" * (eighths // 8) + (_EIGHTHS[eighths % 8] if eighths % 8 else "")
    return f"{text:<{cells}}"


def _across(panel: Panel, width: int) -> list[str]:
    """A line for each bar, or for each stack of bars."""
    stacks = panel.series[0].kind == "stack"
    signs = [FILLS[n % len(FILLS)] if stacks else LETTERS[n % 26] for n in range(len(panel.series))]
    labels = {place: " ".join(text.split()) for place, text in panel.y.ticks}
    lengths = {place: [_length(series, place) for series in panel.series] for place in labels}
    most = max(sum(parts) if stacks else max(parts) for parts in lengths.values()) or 1.0
    wide = min(max(map(len, labels.values())), width // 3)
    cells = max(8, width - wide - 16)
    lines = []
    for place, label in labels.items():
        if stacks:
            drawn = "".join(sign * round(x / most * cells) for sign, x in zip(signs, lengths[place], strict=True))
            lines.append(f"{label[:wide]:<{wide}} {drawn[:cells]:<{cells}} {_short(sum(lengths[place]), panel.x)}")
            continue
        heads = [label[:wide], *[""] * len(signs)]
        for head, sign, x in zip(heads, signs, lengths[place], strict=False):
            lines.append(f"{head:<{wide}} {sign} {bar(x / most, cells - 2)} {_short(x, panel.x)}")
    names = [f"{sign} {series.name}" for sign, series in zip(signs, panel.series, strict=True)]
    return [*lines, *_legend(names, width)]


def _rows(panel: Panel, width: int) -> list[str]:
    """A line for each row and series: launches, the interval and the mark between marks across; then its columns."""
    ticks = [(place, " ".join(text.split())) for place, text in sorted(panel.y.ticks)]
    cells = [" · ".join(filter(None, (f"{c.title} {c.texts[n]}" for c in panel.columns))) for n in range(len(ticks))]
    wide = min(max((len(text) for _, text in ticks), default=0), width // 3)
    columns = max(20, width - wide - 3)
    across = scale(panel.x, x_values(panel), 0, columns - 1)
    lines = []
    for (place, label), words in zip(ticks, cells, strict=True):
        head = label[:wide]
        for number, one in enumerate(panel.series):
            if place in one.y:
                lines.append(f"{head:<{wide}} {LETTERS[number % 26]} {_track(one, place, panel, across, columns)}")
                head = ""
        lines += [f"{head:<{wide}} {words}"[:width]] * bool(words or head)
    ends = [_short(value, panel.x) for value in (across.low, across.high)]
    axis = f"{'':{wide}}   {ends[0]}{'':{max(1, columns - len(ends[0]) - len(ends[1]))}}{ends[1]}"
    names = [f"{LETTERS[number % 26]} {one.name}" for number, one in enumerate(panel.series)]
    return [*lines, axis[:width], *_legend(names, width)]


def _track(series: ChartSeries, place: float, panel: Panel, across: Scale, columns: int) -> str:
    """One row of a series: `│` marks, `─` the interval, `·` launches, `●` or `○` the values, `<` and `>` beyond."""
    track = [" "] * columns
    for mark in panel.marks:
        if across.holds(mark.at):
            track[round(across.at(mark.at))] = "│"
    mine = [i for i, y in enumerate(series.y) if y == place and math.isfinite(series.x[i])]
    for i in mine:
        if i < len(series.low) and i < len(series.high):
            begin, end = (round(across.held(value)) for value in (series.low[i], series.high[i]))
            track[begin : end + 1] = "─" * (end + 1 - begin)
    for x, y in series.dots:
        if y == place and across.holds(x):
            track[round(across.at(x))] = "·"
    for i in mine:
        is_open = series.role == "published" or (i < len(series.open) and series.open[i])
        sign = "|" if series.marker == "tick" else "○" if is_open else "●"
        beyond = "<" if series.x[i] < across.low else ">" if series.x[i] > across.high else sign
        track[round(across.held(series.x[i]))] = beyond
    return "".join(track).rstrip()


def _words(panel: Panel, width: int) -> list[str]:
    """What is written in the picture: stretches, plateaus, notes."""
    stretches = [": ".join(region.lines) for region in panel.regions if region.place == "top" and region.lines]
    words = [*stretches, *(level.label for level in panel.levels), *(note.text for note in panel.notes)]
    return _legend(words, width)


def _length(series: ChartSeries, place: float) -> float:
    return sum(x for x, y in zip(series.x, series.y, strict=True) if y == place and math.isfinite(x))


def _outline(panel: Panel, width: int) -> list[str]:
    """A histogram of each series: a line for each stretch of x, its length the value or its logarithm, as its axis."""
    lines = []
    length = math.log1p if panel.y.log else float
    for series in (one for one in panel.series if one.x):
        lines.append(series.name)
        values = [value if math.isfinite(value) and value > 0 else 0.0 for value in series.y]
        size = math.ceil(len(series.x) / HEIGHT)
        stretches = [range(from_, min(from_ + size, len(series.x))) for from_ in range(0, len(series.x), size)]
        counts = [sum(values[i] for i in stretch) for stretch in stretches]
        most = length(max(counts))
        cells = max(8, width - 24)
        for stretch, count in zip(stretches, counts, strict=True):
            line = bar(length(count) / most if most else 0.0, cells)
            lines.append(f"{_short(series.x[stretch[0]], panel.x):>10}  {line} {count:.3g}")
    return lines


def _cells(panel: Panel, width: int) -> list[str]:
    """A square of two characters for each cell, the greatest y at the top; where there is no room, only words."""
    cells = next(one for one in panel.series if one.kind == "cells")
    shades = dict(zip(zip(cells.x, cells.y, strict=True), cells.shades, strict=True))
    across, down = sorted({x for x, _ in shades}), sorted({y for _, y in shades}, reverse=True)
    heads = [_short(y, panel.y) for y in down]
    ends = {one.x[0] for one in panel.series if one.kind == "line" and one.x[0] == one.x[-1]}  # of groups
    left = max(map(len, heads))
    if left + 1 + 2 * len(across) + len(ends) > width:
        return [f"{len(shades)} cells, too many for {width} columns"]
    signs = {(x, y): 2 * SHADES[round(shade * (len(SHADES) - 1))] for (x, y), shade in shades.items()}
    rows = ["".join(("│" if x - 0.5 in ends else "") + signs.get((x, y), "  ") for x in across) for y in down]
    first, last = (_short(x, panel.x) for x in (across[0], across[-1]))
    axis = f"{'':{left}} {first}{'':{max(1, len(rows[0]) - len(first) - len(last))}}{last}"
    lines = []
    for y, head, row in zip(down, heads, rows, strict=True):
        lines += [f"{head:>{left}} {row}", *[f"{'':{left}} {'─' * len(row)}"] * (y - 0.5 in ends)]
    return [*lines, axis[:width], *_legend([cells.name], width)]


def _grid(panel: Panel, width: int) -> list[str]:
    """Letters on a grid, those of the series drawn first on top; the axes have their ends in words."""
    points = [
        [(x, y) for x, y in zip(one.x, one.y, strict=True) if has_place(x, panel.x) and has_place(y, panel.y)]
        for one in panel.series
    ]
    every = [point for some in points for point in some]
    if not every:
        return ["nothing to draw"]
    ends_x, ends_y = ((min(v), max(v)) for v in ([x for x, _ in every], [y for _, y in every]))
    left = max(len(_short(y, panel.y)) for y in ends_y)
    columns = max(20, width - left - 2)
    rows = [[" "] * columns for _ in range(HEIGHT)]
    for number in reversed(range(len(points))):
        for x, y in points[number]:
            column = round(_share(x, ends_x, panel.x) * (columns - 1))
            row = round(_share(y, ends_y, panel.y) * (HEIGHT - 1))
            rows[HEIGHT - 1 - row][column] = _letter(number, panel.series)
    heads = [""] * HEIGHT
    heads[0], heads[-1] = _short(ends_y[1], panel.y), _short(ends_y[0], panel.y)
    lines = [f"{head:>{left}} │{''.join(row)}" for head, row in zip(heads, rows, strict=True)]
    first, last = (_short(x, panel.x) for x in ends_x)
    below = f"{panel.x.title[: columns - len(first) - len(last) - 2]:^{columns - len(first) - len(last)}}"
    legend = [f"{_letter(number, panel.series)} {one.name}" for number, one in enumerate(panel.series)]
    axis = [f"{'':{left}} └{'─' * columns}"[:width], f"{'':{left}}  {first}{below}{last}"]
    return [*lines, *axis, *_legend(legend, width)]


def _letter(number: int, series: Sequence[ChartSeries]) -> str:
    return "·" if series[number].kind == "line" else LETTERS[number % 26]


def _short(value: float, axis: Axis) -> str:
    """A value as its axis writes it, as far as a line has room for it."""
    return value_text(value, axis)[:14]


def _share(value: float, ends: tuple[float, float], axis: Axis) -> float:
    low, high, at = (math.log(v) if axis.log else v for v in (*ends, value))
    return (at - low) / (high - low) if high > low else 0.5


def _legend(entries: Sequence[str], width: int) -> list[str]:
    lines: list[str] = []
    for entry in entries:
        if lines and len(lines[-1]) + len(entry) + 4 <= width:
            lines[-1] += f"    {entry}"
        else:
            lines.append(f"  {entry}"[:width])
    return lines
