"""Rich renderables as text: colours and box characters only where the terminal takes them."""

import io
import os
import re
import sys
from typing import TextIO

from rich.console import Console, RenderableType
from rich.text import Text

LEAST_COLUMNS, MAX_COLUMNS = 40, 500
"""Bounds of the width of tables."""


def console(width: int | None = None) -> Console:
    """Return a console for standard output, or for a text of `width` columns that is printed later."""
    return Console(width=width, highlight=False, soft_wrap=False)


def screen_columns(otherwise: int, file: TextIO | None = None) -> int:
    """Return the columns of the terminal `file` (default: standard output), else those of the variable COLUMNS.

    Args:
        otherwise: where neither is known.
    """
    if (file or sys.stdout).isatty():
        return console().width
    named = os.environ.get("COLUMNS", "")
    return min(max(int(named), LEAST_COLUMNS), MAX_COLUMNS) if re.fullmatch("[0-9]{1,9}", named) else otherwise


def text_width() -> int:
    """Return the columns for running text, by default as many as a table needs."""
    return max(screen_columns(110), 60)


def render(what: RenderableType) -> str:
    """Return the text of a renderable, with colours if standard output is a terminal."""
    coloured = sys.stdout.isatty()
    file = io.StringIO()
    inner = Console(
        file=file,
        force_terminal=coloured,
        color_system="auto" if coloured else None,
        width=screen_columns(100),
        highlight=False,
    )
    inner.print(what, crop=False)  # a line that is to be copied may be longer than the terminal
    return "\n".join(line.rstrip() for line in file.getvalue().splitlines())


def table_lines(table: RenderableType, width: int) -> list[Text]:
    """Return a table as styled lines of at most `width` columns, without spaces at their ends."""
    inner = Console(width=width, highlight=False, color_system=None, file=io.StringIO())
    lines = [Text.assemble(*((one.text, one.style or "") for one in line)) for line in inner.render_lines(table)]
    for line in lines:
        line.rstrip()
    return lines
