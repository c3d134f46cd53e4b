"""Two machines row by row: a table for the terminal, and JSON."""

import json
from collections.abc import Sequence
from itertools import groupby

from rich.text import Text

from octant.analysis.appendix import ComparisonRow, Entry, KnownMachine
from octant.report.tables.layout import fill, text_table
from octant.report.terminal import render, screen_columns


def as_text(rows: Sequence[ComparisonRow], here: KnownMachine, there: KnownMachine) -> str:
    """Return the table, the runs with measured values, and the commands for missing values."""
    runs = {entry.run: None for row in rows for entry in (row.here, row.there) if entry and entry.run}
    marks = {run: f"[{number}]" for number, run in enumerate(runs, 1)}
    cells: list[tuple[object, ...]] = []
    for group, of_group in groupby(rows, key=lambda row: row.spec.group):
        cells.append((Text(group, style="bold"),))
        cells += [(f"  {row.spec.name}", _cell(row.here, marks), _cell(row.there, marks)) for row in of_group]
    below = text_table(("=", ""), [(mark, f"measured by run {run}") for run, mark in marks.items()]) if marks else ""
    missing: dict[tuple[str, str], list[ComparisonRow]] = {}
    for row in rows:
        if row.command or row.reason:
            missing.setdefault((row.command, row.reason), []).append(row)
    return fill(
        "machine/comparison", "page", title=render(Text(f"{here.name} compared with {there.title}", style="bold")),
        table=text_table(("=", here.name, there.name), cells), below=below, rows=rows, missing=missing,
        width=screen_columns(100),
    ).replace("\n\n\n", "\n\n")  # fmt: skip


def _cell(entry: Entry | None, marks: dict[str, str]) -> str:
    if entry is None:
        return ""
    return entry.text + " (limited)" * entry.limited + (f" {marks[entry.run]}" if entry.run else "")


def as_json(rows: Sequence[ComparisonRow], here: KnownMachine, there: KnownMachine) -> str:
    """Return the rows as JSON: numbers in the unit of their row, and the run of measured values."""
    listed = [
        {
            **{name: getattr(row.spec, name) for name in ("group", "name", "unit")},
            "here": _entry(row.here), "there": _entry(row.there), "command": row.command, "reason": row.reason,
        }
        for row in rows
    ]  # fmt: skip
    sides = {side: {"name": one.name, "title": one.title} for side, one in (("here", here), ("there", there))}
    return json.dumps({**sides, "rows": listed}, indent=2)


def _entry(entry: Entry | None) -> dict[str, object] | None:
    return None if entry is None else {**vars(entry), "run": entry.run or None}
