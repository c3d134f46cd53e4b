"""The report of a profile in a terminal: the first screen, the costliest calls and sites, or all tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from octant.report import claims
from octant.report.plain import clean_lines
from octant.report.profile.first import first_screen_of
from octant.report.profile.tables import sections
from octant.report.screen.text import screen_lines
from octant.report.tables.section_text import MAX_LINES, sections_lines
from octant.report.terminal import console

if TYPE_CHECKING:
    from rich.text import Text

    from octant.profile.results import Analysis
    from octant.report.screen.first_screen import FirstScreen


def report_text(
    analysis: Analysis, columns: int = 100, first: FirstScreen | None = None, run: str = "last", details: bool = False
) -> str:
    """Return the report in lines of at most `columns` columns; commands to copy keep their length.

    Args:
        first: the first screen, with what is known about the run; `None`: that of the profile alone.
        run: id of the run, for commands.
        details: all tables in full; otherwise at most 40 lines.
    """
    lines = report_lines(analysis, columns, first, run, details)
    return "\n".join(clean_lines(line.plain).replace(claims.NARROW, " ").rstrip() for line in lines)


def report_lines(
    analysis: Analysis, width: int, first: FirstScreen | None = None, run: str = "last", details: bool = False
) -> list[Text]:
    """Return the same as styled lines."""
    lines = [
        part
        for line in screen_lines(first or first_screen_of(analysis), run, width, details)
        for part in _folded(line, width)
    ]
    return [*lines, *sections_lines(sections(analysis), width, details, MAX_LINES - len(lines))]


def _folded(line: Text, width: int) -> list[Text]:
    """Return a line that wide characters make too wide in several lines."""
    if line.cell_len <= width or line.cell_len == len(line.plain):
        return [line]
    return list(line.wrap(console(width), width, overflow="fold"))
