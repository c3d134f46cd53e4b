"""Tables below the first screen, which terminals and pages show: a title, sentences, and columns of texts."""

from __future__ import annotations

from dataclasses import dataclass

from octant import units

MAX_SHOWN = 12
"""Rows of a table that a page shows without opening."""
MAX_LISTED = 200
"""Rows of a table that a page lists; JSON has all."""


@dataclass(frozen=True)
class SectionColumn:
    """A column of texts, or of numbers, which are aligned right."""

    title: str
    is_number: bool = True
    basis: str = ""  # "inferred", "modelled"; "": that of the table

    @property
    def heading(self) -> str:
        """The title with the basis of the numbers, if it is not that of the table."""
        return f"{self.title} ({self.basis})" if self.basis else self.title


@dataclass(frozen=True)
class Section:
    """A table. Its columns are in the order of importance: a narrow terminal omits the last ones."""

    id: str  # of the element of the page
    title: str
    columns: tuple[SectionColumn, ...]
    rows: tuple[tuple[str, ...], ...]
    text: str = ""  # whole sentences: how to read it
    basis: str = ""  # how its numbers were obtained: "measured", "inferred", "modelled"
    brief: int = 0  # rows that a terminal shows without a request for details; 0: the table is a detail
    brief_columns: int = 0  # columns that it shows then; 0: all
    is_prose: bool = False  # each row is a term and a sentence
    total: int = 0  # rows that exist; 0: those of `rows`
    below: str = ""  # sentences below the rows, which every view shows

    @property
    def omitted(self) -> int:
        """The number of rows that are not listed."""
        return max(0, self.total - len(self.rows))

    @property
    def listed(self) -> str:
        """A sentence about rows that are not listed; "" if all are."""
        if not self.omitted:
            return ""
        return f"{len(self.rows)} of {units.counted(self.total, 'row')} are listed; JSON has all."
