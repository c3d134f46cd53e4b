"""Two machines row by row: a table for the terminal, and JSON."""

import json
from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from octant.analysis.appendix import ComparisonRow, Entry, KnownMachine
from octant.report.terminal import render
from octant.units import counted


def as_text(rows: Sequence[ComparisonRow], here: KnownMachine, there: KnownMachine) -> str:
    """The table, then the runs that measured something, and the commands for what is empty."""
    runs = {entry.run: None for row in rows for entry in (row.here, row.there) if entry and entry.run}
    marks = {run: f"[{number}]" for number, run in enumerate(runs, 1)}
    head = Text(f"{here.name} compared with {there.title}", style="bold")
    parts: list[RenderableType] = [head, Text(), _table(rows, here, there, marks)]
    if marks:
        parts += [Text(), _runs(marks)]
    notes = dict.fromkeys(
        f"{row.spec.name}: {row.spec.note}" for row in rows if row.spec.note and row.here and row.there
    )
    parts += [Text(f"Note: {note}.") for note in notes]
    if unknown := [row for row in rows if row.command or row.reason]:
        parts += [
            Text(),
            Text(f"Not known here, with what measures it ({counted(len(unknown), 'row')})"),
            _how(unknown),
        ]
    return render(Group(*parts))


def _table(rows: Sequence[ComparisonRow], here: KnownMachine, there: KnownMachine, marks: dict[str, str]) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("", no_wrap=True)
    table.add_column(here.name, overflow="fold", ratio=1)
    table.add_column(there.name, overflow="fold", ratio=1)
    group = ""
    for row in rows:
        if row.spec.group != group:
            group = row.spec.group
            table.add_row(Text(group, style="bold"), "", "")
        table.add_row(f"  {row.spec.name}", _cell(row.here, marks), _cell(row.there, marks))
    return table


def _cell(entry: Entry | None, marks: dict[str, str]) -> Text:
    if entry is None:
        return Text("")
    return Text(entry.text + " (limited)" * entry.limited + (f" {marks[entry.run]}" if entry.run else ""))


def _runs(marks: dict[str, str]) -> Table:
    grid = Table.grid(padding=(0, 2))
    for run, mark in marks.items():
        grid.add_row(mark, f"measured by run {run}")
    return grid


def _how(rows: Sequence[ComparisonRow]) -> RenderableType:
    """One line for each command, after the rows that it fills."""
    wanted: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        wanted.setdefault((row.command, row.reason), []).append(f"{row.spec.name} ({row.spec.group.lower()})")
    lines: list[RenderableType] = []
    for (command, reason), names in wanted.items():
        lines.append(Padding(Text(", ".join(names) + (f": {reason}" if reason else "")), (0, 0, 0, 2)))
        lines += [Text(f"     {command}", no_wrap=True, overflow="ignore")] * bool(command)
    return Group(*lines)


def as_json(rows: Sequence[ComparisonRow], here: KnownMachine, there: KnownMachine) -> str:
    """The same, for programs: numbers in the unit of their row, and the run of each that was measured."""
    listed = [
        {
            "group": row.spec.group,
            "name": row.spec.name,
            "unit": row.spec.unit,
            "here": _entry(row.here),
            "there": _entry(row.there),
            "command": row.command,
            "reason": row.reason,
        }
        for row in rows
    ]
    sides = {side: {"name": one.name, "title": one.title} for side, one in (("here", here), ("there", there))}
    return json.dumps({**sides, "rows": listed}, indent=2)


def _entry(entry: Entry | None) -> dict[str, object] | None:
    if entry is None:
        return None
    return {
        "text": entry.text,
        "value": entry.value,
        "source": entry.source,
        "run": entry.run or None,
        "limited": entry.limited,
    }
