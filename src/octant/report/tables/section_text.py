"""Sections in a terminal: columns that fit, and brief tables for the lines that remain."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from rich.cells import cell_len, set_cell_size
from rich.table import Table
from rich.text import Text

from octant.report.plain import clean
from octant.report.screen.sections import Section, SectionColumn
from octant.report.screen.text import wrapped
from octant.report.terminal import table_lines

MAX_LINES = 40
"""Lines of a first screen with brief tables; a narrow terminal may need more for the first screen alone."""
MAX_NAME = 44
"""Columns of a text in a row of a terminal; longer ones are shortened in the middle."""
LEAST_NAME, USUAL_NAME = 14, 28
"""Columns of a text in a narrow terminal, and for which a wide one omits columns after the first four."""
LEAST_COLUMNS = 4
LEAST_ROWS = 3
"""Rows of a brief table in a terminal; with less room, it is omitted."""
_BETWEEN = 2  # columns between cells


def sections_lines(
    sections: Sequence[Section], width: int, details: bool = False, room: int | None = None
) -> list[Text]:
    """Return the sections in lines of at most `width` columns: brief tables, or all in full with `details`.

    Args:
        room: lines for brief tables; a table that has no room for `LEAST_ROWS` is omitted.
    """
    found: list[Text] = []
    for one in sections:
        if details:
            found += [Text(), *_section_lines(one, len(one.rows), width, details)] if one.rows or one.text else []
            continue
        rows = min(one.brief, len(one.rows))
        if not one.brief or (not rows and not one.text):
            continue
        lines = _section_lines(one, rows, width, details)
        over = 0 if room is None else max(0, len(found) + 1 + len(lines) - room)
        if over and rows - over < LEAST_ROWS:
            continue
        found += [Text(), *(_section_lines(one, rows - over, width, details) if over else lines)]
    return found


def _section_lines(one: Section, rows: int, width: int, details: bool) -> list[Text]:
    count = f", {rows} of {max(one.total, len(one.rows))}" if rows < max(one.total, len(one.rows)) else ""
    title = f"{one.title}{count}" + (f" ({one.basis})" if one.basis and one.rows else "")
    found = wrapped(title, width, "bold", 2)
    if one.text and (details or not one.rows):
        found += wrapped(one.text, width, "dim")
    if one.is_prose:
        return [*found, *(line for what, text in one.rows for line in wrapped(f"{what}: {text}", width, "", 2))]
    most = one.brief_columns if one.brief_columns and not details else len(one.columns)
    found += _rows_lines(one.columns[:most], [row[:most] for row in one.rows[:rows]], width) if rows else []
    return found + (wrapped(one.below, width, "dim") if one.below else [])


def _rows_lines(columns: Sequence[SectionColumn], rows: Sequence[Sequence[str]], width: int) -> list[Text]:
    """Return a line per row; columns that have no room are omitted from the right, and texts are shortened."""
    cells = [[clean(cell) for cell in row] for row in rows]
    heads = [_heading_lines(column, max(cell_len(row[i]) for row in cells)) for i, column in enumerate(columns)]
    wide = [
        max(*(cell_len(line) for line in head), *(cell_len(row[i]) for row in cells)) for i, head in enumerate(heads)
    ]
    kept, least = len(columns), list[int]()
    for floor, fewest in ((USUAL_NAME, LEAST_COLUMNS), (LEAST_NAME, 1)):
        least = [size if c.is_number else min(size, floor) for c, size in zip(columns, wide, strict=True)]
        while kept > fewest and sum(least[:kept]) + _BETWEEN * (kept - 1) > width:
            kept -= 1
    wide = [size if column.is_number else min(size, MAX_NAME) for column, size in zip(columns, wide, strict=True)]
    if kept == 1:
        wide[0] = min(wide[0], width)
    while (over := sum(wide[:kept]) + _BETWEEN * (kept - 1) - width) > 0:
        longest = max(range(kept), key=lambda i: wide[i] - least[i])
        if wide[longest] <= least[longest]:
            break
        wide[longest] -= min(over, wide[longest] - least[longest])
    return _drawn(columns[:kept], heads, cells, wide, width)


def _heading_lines(column: SectionColumn, width: int) -> list[str]:
    """Return the heading in lines as wide as the cells, or as its longest word."""
    words = column.heading.split()
    return textwrap.wrap(column.heading, max(width, *map(len, words)), break_on_hyphens=False) if words else [""]


def _drawn(
    columns: Sequence[SectionColumn], heads: Sequence[Sequence[str]], cells: Sequence[Sequence[str]],
    wide: Sequence[int], width: int,
) -> list[Text]:  # fmt: skip
    table = Table(box=None, pad_edge=False, padding=(0, _BETWEEN, 0, 0), header_style="dim")
    most = max(len(head) for head in heads[: len(columns)])
    for i, column in enumerate(columns):
        right = "right" if column.is_number else "left"
        lines = [shortened(line, wide[i]) for line in heads[i]]
        head = Text("\n".join([""] * (most - len(lines)) + lines))
        table.add_column(head, justify=right, no_wrap=True, min_width=wide[i])  # type: ignore[arg-type]
    for row in cells:
        table.add_row(*(Text(shortened(row[i], wide[i])) for i in range(len(columns))))
    return table_lines(table, width)


def shortened(text: str, most: int) -> str:
    """Return a text of at most `most` columns of a terminal; of a longer one, its middle is replaced by `…`."""
    if cell_len(text) <= most:
        return text
    end = max(0, (most - 1) // 2)
    tail = text[len(text) - end :] if end else ""
    while cell_len(tail) > end:
        tail = tail[1:]
    return f"{set_cell_size(text, max(0, most - 1 - cell_len(tail))).rstrip()}…{tail}"
