"""Output of other benchmarks as figures. A file a tool, read by the names of its columns; lying here registers it.

Nothing of such a text is trusted: sizes are bounded, names become words of ours, and no part of it is ever started.
docs/import.md has the formats.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import ModuleType

from octant import registry
from octant.failure import Exit, Refusal, suggestion
from octant.foreign._names import named
from octant.foreign._text import Line, lines_of
from octant.registry import Entries
from octant.untrusted import read_text

MOST_BYTES = 4 << 20
"""Of a file that is imported; the longest output of a benchmark known has a tenth of that."""
MOST_ROWS, MOST_VALUES = 10_000, 50_000
"""Of the tables of a file together: each row becomes a point of a run, each value a figure of it."""


@dataclass(frozen=True)
class Value:
    """A number of the file in base units."""

    name: str  # "time", "t_max", "bandwidth"
    value: float  # nan: the tool wrote no number
    unit: str
    line: int  # of the file, from 1
    bound: float | None = None  # of a check: what the tool says it has to be within
    group: int = 0


@dataclass(frozen=True)
class Row:
    """What a file says of one cell."""

    line: int
    knobs: Mapping[str, str]
    values: tuple[Value, ...] = ()
    failed: str = ""  # why there are no figures: "timed out"


@dataclass(frozen=True)
class Table:
    """What a file says of one benchmark at one number of processes."""

    benchmark: str  # in the tool's words
    line: int
    rows: tuple[Row, ...]
    knobs: Mapping[str, str] = field(default_factory=dict)  # of all rows
    ranks: int | None = 1  # `None`: the file does not say it
    threads: int | None = 1  # of each rank; `None`: the file does not say it
    groups: tuple[tuple[int, ...], ...] = ()  # ranks that worked together; empty: all
    alone: bool = False  # each process worked by itself
    verified: bool = True  # the tool says that its results are right, or checks nothing at all


@dataclass(frozen=True)
class Output:
    """What a file says."""

    tool: str  # "IMB"
    version: str  # "2021.11"; "": the file does not say it
    version_line: str  # the line that says it, as it is
    tables: tuple[Table, ...]
    started: str = ""  # ISO 8601, where the tool writes when it ran
    architecture: str = ""
    remarks: tuple[str, ...] = ()  # what was not read, and why

    @property
    def name(self) -> str:
        """`IMB 2021.11`."""
        return f"{self.tool} {self.version}".strip()


def tools() -> list[str]:
    """The tools whose output can be read, in order."""
    return list(entries().working)


def entries() -> Entries[ModuleType]:
    """The tools whose output can be read, and those whose file here cannot be used."""
    return registry.entries(__name__, lambda module: registry.declared(module, "read"))


def read_file(tool: str, path: Path) -> Output:
    """What a file of a tool's output says.

    Raises:
        Refusal: no such tool, or its reader cannot be used; the file cannot be read, is longer than `MOST_BYTES`, holds
            no figures of the tool, more than `MOST_ROWS` or `MOST_VALUES`, or rates that fit no unit.
    """
    entries().check(tool, "import format")
    if tool not in tools():
        lacking = "".join(f", {name} cannot be used here: {one.reason}" for name, one in entries().broken.items())
        known = suggestion(tool, tools())
        raise Refusal(f"cannot import from {tool!r} (no such tool{lacking}); {known}", Exit.WRONG_WORD)
    found = read(tool, read_text(path, f"output of {tool}", MOST_BYTES))
    if not found.tables:
        why = f": {found.remarks[0]}" if found.remarks else ""
        others = ", ".join(one for one in tools() if one != tool)
        raise Refusal(
            f"cannot import {path} (no figures of {tool} in it{why}); give a whole output of {tool}, or another tool: "
            f"{others}",
            Exit.WRONG_WORD,
        )
    rows = [row for table in found.tables for row in table.rows]
    values = sum(len(row.values) for row in rows)
    if len(rows) > MOST_ROWS or values > MOST_VALUES:
        why = f"{len(rows)} rows with {values} values, at most {MOST_ROWS} and {MOST_VALUES}"
        raise Refusal(f"cannot import {path} ({why}); give the output of fewer benchmarks at a time", Exit.WRONG_WORD)
    return found


def read(tool: str, text: str) -> Output:
    """What the text of a tool's output says; without tables where it holds none.

    Raises:
        Refusal: rates that fit no unit.
    """
    lines, torn = lines_of(text)
    found: Output = entries().working[tool].read(lines)
    tables = [_with_figures(table) for table in found.tables]
    remarks = (*found.remarks, *([f"line {torn} has no end, and is not read"] if torn else []))
    return replace(found, tables=tuple(table for table in tables if table.rows), remarks=remarks)


def _with_figures(table: Table) -> Table:
    return replace(table, rows=tuple(row for row in table.rows if row.values or row.failed))


__all__ = ["MOST_BYTES", "Line", "Output", "Row", "Table", "Value", "named", "read", "read_file", "tools"]
