"""Pictures in characters: bars one below the other, and curves on a grid."""

import math
from collections.abc import Iterable, Sequence

from rich.text import Text

from octant.report.charts.layout.frame import Scale, has_place, scale, value_text, x_values
from octant.report.charts.picture import Axis, ChartSeries, Panel, Picture

HEIGHT = 14  # lines of a grid
LETTERS = "abcdefghijklmnopqrstuvwxyz"
FILLS = "█▓▒░#=+-"
SHADES = "·░▒▓█"
_EIGHTHS = " ▏▎▍▌▋▊▉█"


def picture_lines(picture: Picture, width: int = 100) -> list[Text]:
    """Return the picture as styled lines of at most `width` columns, its title first."""
    lines = [Text(), Text(picture.title[:width], style="bold")]
    for panel in picture.panels:
        title = panel.title or ("" if panel.y.down else panel.y.title)
        regions = [one.label.replace("\n", ": ") for one in panel.regions if one.place == "top" and one.label]
        texts = [*regions, *(level.label for level in panel.levels), *(note.text for note in panel.notes)]
        body = [line.rstrip() for line in (*_body(panel, width), *_legend(texts, width))]
        lines += [Text(line) for line in ([title[:width]] if title else []) + body]
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
    return _histogram(panel, width) if kinds == {"bars"} else _grid(panel, width)


def bar(share: float, cells: int) -> str:
    """Return a bar of `cells` characters, full at 1."""
    eighths = round(max(0.0, min(1.0, share)) * 8 * cells)
    text = "█" * (eighths // 8) + (_EIGHTHS[eighths % 8] if eighths % 8 else "")
    return f"{text:<{cells}}"


def _across(panel: Panel, width: int) -> list[str]:
    """Return a line per bar, or per stack of bars."""
    stacks = panel.series[0].kind == "stack"
    signs = [FILLS[n % len(FILLS)] if stacks else LETTERS[n % 26] for n in range(len(panel.series))]
    labels = {place: " ".join(text.split()) for place, text in panel.y.ticks}
    values = [[(x, y) for x, y in zip(one.x, one.y, strict=True) if math.isfinite(x)] for one in panel.series]
    lengths = {place: [sum(x for x, y in mine if y == place) for mine in values] for place in labels}
    most = max(sum(parts) if stacks else max(parts) for parts in lengths.values()) or 1.0
    wide = min(max(map(len, labels.values())), width // 3)
    cells = max(8, width - wide - 16)
    lines = []
    for place, label in labels.items():
        heads = [f"{head:<{wide}}" for head in (label[:wide], *[""] * len(signs))]
        bars = list(zip(heads, signs, lengths[place], strict=False))
        if stacks:
            drawn = "".join(sign * round(x / most * cells) for _, sign, x in bars)
            lines.append(f"{heads[0]} {drawn[:cells]:<{cells}} {_short(sum(lengths[place]), panel.x)}")
        else:
            lines += [f"{head} {sign} {bar(x / most, cells - 2)} {_short(x, panel.x)}" for head, sign, x in bars]
    return [*lines, *_names(signs, panel, width)]


def _rows(panel: Panel, width: int) -> list[str]:
    """Return a line per row and series: launches, interval and mark between marks across; then its columns."""
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
    axis = f"{'':{wide}}   {_between(_short(across.low, panel.x), _short(across.high, panel.x), columns)}"
    return [*lines, axis[:width], *_names(LETTERS, panel, width)]


def _track(series: ChartSeries, place: float, panel: Panel, across: Scale, columns: int) -> str:
    """Return one row of a series: `│` marks, `─` interval, `·` launches, `●` or `○` values, `<` and `>` beyond."""
    track = [" "] * columns
    mine = [i for i, y in enumerate(series.y) if y == place and math.isfinite(series.x[i])]
    for mark in (mark for mark in panel.marks if across.holds(mark.at)):
        track[round(across.at(mark.at))] = "│"
    for i in mine:
        if i < len(series.low) and i < len(series.high):
            begin, end = (round(across.held(value)) for value in (series.low[i], series.high[i]))
            track[begin : end + 1] = "─" * (end + 1 - begin)
    for x, y in series.dots:
        if y == place and across.holds(x):
            track[round(across.at(x))] = "·"
    for i in mine:
        x, is_open = series.x[i], series.role == "published" or (i < len(series.open) and series.open[i])
        sign = "|" if series.marker == "tick" else "○" if is_open else "●"
        track[round(across.held(x))] = "<" if x < across.low else ">" if x > across.high else sign
    return "".join(track).rstrip()


def _histogram(panel: Panel, width: int) -> list[str]:
    """Return a line per part of x of each series; its length is the value or its logarithm, as the axis."""
    lines = []
    length = math.log1p if panel.y.log else float
    for series in (one for one in panel.series if one.x):
        values = [value if math.isfinite(value) and value > 0 else 0.0 for value in series.y]
        size = math.ceil(len(values) / HEIGHT)
        counts = [(series.x[i], sum(values[i : i + size])) for i in range(0, len(values), size)]
        most = length(max(count for _, count in counts))
        lines.append(series.name)
        for x, count in counts:
            drawn = bar(length(count) / most if most else 0.0, max(8, width - 24))
            lines.append(f"{_short(x, panel.x):>10}  {drawn} {count:.3g}")
    return lines


def _cells(panel: Panel, width: int) -> list[str]:
    """Return a square of two characters per cell, the greatest y at the top; without room, a sentence."""
    cells = next(one for one in panel.series if one.kind == "cells")
    shades = dict(zip(zip(cells.x, cells.y, strict=True), cells.shades, strict=True))
    across, down = sorted({x for x, _ in shades}), sorted({y for _, y in shades}, reverse=True)
    heads = [_short(y, panel.y) for y in down]
    ends = {one.x[0] for one in panel.series if one.kind == "line" and one.x[0] == one.x[-1]}  # of groups
    left = max(map(len, heads))
    if left + 1 + 2 * len(across) + len(ends) > width:
        return [f"{len(shades)} cells, too many for {width} columns"]
    signs = {at: 2 * SHADES[round(shade * (len(SHADES) - 1))] for at, shade in shades.items()}
    rows = ["".join(("│" if x - 0.5 in ends else "") + signs.get((x, y), "  ") for x in across) for y in down]
    axis = f"{'':{left}} {_between(_short(across[0], panel.x), _short(across[-1], panel.x), len(rows[0]))}"
    lines = []
    for y, head, row in zip(down, heads, rows, strict=True):
        lines += [f"{head:>{left}} {row}", *[f"{'':{left}} {'─' * len(row)}"] * (y - 0.5 in ends)]
    return [*lines, axis[:width], *_legend([cells.name], width)]


def _grid(panel: Panel, width: int) -> list[str]:
    """Return letters on a grid, those of the first series on top, with the ends of the axes."""
    points = [
        [(x, y) for x, y in zip(one.x, one.y, strict=True) if has_place(x, panel.x) and has_place(y, panel.y)]
        for one in panel.series
    ]
    every = [point for series in points for point in series]
    if not every:
        return ["nothing to draw"]
    ends_x, ends_y = ((min(values), max(values)) for values in zip(*every, strict=True))
    left = max(len(_short(y, panel.y)) for y in ends_y)
    columns = max(20, width - left - 2)
    rows = [[" "] * columns for _ in range(HEIGHT)]
    signs = ["·" if one.kind == "line" else LETTERS[number % 26] for number, one in enumerate(panel.series)]
    for sign, series in reversed(list(zip(signs, points, strict=True))):
        for x, y in series:
            row = round(_share(y, ends_y, panel.y) * (HEIGHT - 1))
            rows[HEIGHT - 1 - row][round(_share(x, ends_x, panel.x) * (columns - 1))] = sign
    heads = [_short(ends_y[1], panel.y), *[""] * (HEIGHT - 2), _short(ends_y[0], panel.y)]
    lines = [f"{head:>{left}} │{''.join(row)}" for head, row in zip(heads, rows, strict=True)]
    first, last = (_short(x, panel.x) for x in ends_x)
    room = columns - len(first) - len(last)
    axis = [f"{'':{left}} └{'─' * columns}"[:width], f"{'':{left}}  {first}{panel.x.title[: room - 2]:^{room}}{last}"]
    return [*lines, *axis, *_names(signs, panel, width)]


def _between(first: str, last: str, columns: int) -> str:
    return f"{first}{'':{max(1, columns - len(first) - len(last))}}{last}"


def _short(value: float, axis: Axis) -> str:
    """Return a value as its axis writes it, as far as a line has room for it."""
    return value_text(value, axis)[:14]


def _share(value: float, ends: tuple[float, float], axis: Axis) -> float:
    low, high, at = (math.log(v) if axis.log else v for v in (*ends, value))
    return (at - low) / (high - low) if high > low else 0.5


def _names(signs: Iterable[str], panel: Panel, width: int) -> list[str]:
    return _legend([f"{sign} {one.name}" for sign, one in zip(signs, panel.series, strict=False)], width)


def _legend(entries: Sequence[str], width: int) -> list[str]:
    lines: list[str] = []
    for entry in entries:
        if lines and len(lines[-1]) + len(entry) + 4 <= width:
            lines[-1] += f"    {entry}"
        else:
            lines.append(f"  {entry}"[:width])
    return lines
