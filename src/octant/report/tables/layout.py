"""Tables and texts of the terminal: columns through rich, sentences from Jinja2 templates."""

import functools
import json
import math
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from jinja2 import Environment

from octant import units
from octant.report.plain import clean
from octant.report.sentences import text_environment


def text_table(columns: Sequence[str], rows: Iterable[Sequence[object]], title: str = "") -> str:
    """Return a table of plain cells as a text for standard output; a table without headings has no header row.

    Args:
        columns: the headings; `>` in front aligns the cells right, `=` left, and both keep each cell on one line;
            `~` keeps words of up to ten characters whole.
        rows: the cells, texts of rich or others; a shorter row is filled up.
    """
    from rich.table import Table  # noqa: PLC0415 - loaded only when a table is printed
    from rich.text import Text  # noqa: PLC0415

    from octant.report.terminal import render  # noqa: PLC0415

    lines = [[cell if isinstance(cell, Text) else Text(str(cell)) for cell in row] for row in rows]
    names = [column.lstrip(">=~") for column in columns]
    table = Table(title=title or None, title_justify="left", box=None, pad_edge=False, show_header=any(names))
    for number, (column, name) in enumerate(zip(columns, names, strict=True)):
        whole = column[:1] in (">", "=")
        cells = [name, *(line[number].plain for line in lines if number < len(line))]
        # rich cuts cells that do not fit, unless their width is the least width of the column
        parts = [part for cell in cells for part in (cell.splitlines() if whole else cell.split())]
        longest = max(map(len, parts), default=0)
        least = longest if whole else min(longest, 10) if column.startswith("~") else None
        right = "right" if column.startswith(">") else "left"
        table.add_column(Text(name), justify=right, no_wrap=whole, min_width=least, overflow="fold")  # type: ignore[arg-type]
    for line in lines:
        table.add_row(*line)
    return render(table)


def tabbed_table(text: str) -> str:
    """Return the table of lines whose cells are separated by tabs, the headings first; the filter `table` of templates.

    Headings may begin with `>` or `=`, as in `text_table`. The text ends with a line end, as the lines of a template.
    """
    first, *lines = text.strip("\n").split("\n")
    columns = first.split("\t")
    return text_table(columns, [line.split("\t", len(columns) - 1) for line in lines]) + "\n"


def aligned(rows: Sequence[Sequence[str]], right: Collection[int] = ()) -> list[str]:
    """Return rows padded to columns two spaces apart; a row of one cell is a heading, and is not padded.

    This is much faster than a table of rich, which takes seconds for thousands of rows.

    Args:
        right: numbers of the columns that are aligned right.
    """
    widths = [max(map(len, column)) for column in zip(*(row for row in rows if len(row) > 1), strict=True)]
    return [
        row[0] if len(row) == 1 else "  ".join(
            cell.rjust(width) if number in right else cell.ljust(width)
            for number, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]  # fmt: skip


def fill(template: str, part: str = "", **values: Any) -> str:
    """Return a text from a template of `octant.report`, without blank lines at its ends.

    Args:
        template: folder and name: `network/failures` is `network/templates/failures.jinja`.
        part: a macro of the template, which gets the values as its arguments; otherwise, the whole template.
    """
    folder, _, name = template.partition("/")
    found = _templates(folder).get_template(f"{name}.jinja")
    text = str(getattr(found.module, part)(**values)) if part else found.render(values)
    return text.strip("\n")


def table_rows(template: str, part: str, **values: Any) -> tuple[tuple[str, ...], ...]:
    """Return the lines of a macro, divided at tabs, as the rows of a table."""
    return tuple(tuple(line.split("\t")) for line in fill(template, part, **values).split("\n") if line)


@functools.cache  # templates are compiled once
def _templates(folder: str) -> Environment:
    templates = text_environment(f"octant.report.{folder}")
    templates.filters |= {
        "percent": units.percent_text, "rate": rate_text, "time": time_text, "table": tabbed_table, "clean": clean,
        "json": functools.partial(json.dumps, ensure_ascii=False),
    }  # fmt: skip
    templates.tests["finite"] = math.isfinite
    return templates


def rate_text(value: float, unit: str, digits: int = 3) -> str:
    """Return a rate: `12.3 GB/s`, or `no limit` if it is infinite."""
    return "no limit" if math.isinf(value) else units.si_text(value, unit, digits)


def time_text(value: float) -> str:
    """Return a time: `133 µs`, or `never` for something that does not end."""
    return "never" if math.isinf(value) else units.si_text(value, "s")
