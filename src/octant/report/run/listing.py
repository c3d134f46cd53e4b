"""The runs of a store, one a row."""

import json
from collections.abc import Sequence

from rich.table import Table

from octant.report.terminal import rendered
from octant.store import StoredRun


def as_text(runs: Sequence[StoredRun]) -> str:
    """A table for the terminal."""
    if not runs:
        return "The store is empty; `octant evaluate` makes a first run."
    table = Table(box=None, pad_edge=False)
    for column in ("run", "asked", "machine", "points", "state"):
        table.add_column(column, justify="right" if column == "points" else "left", overflow="fold")
    for run in runs:
        state = "complete" if run.complete else f"{len(run.left())} launches left"
        failed = f", {len(run.failures)} failed" if run.failures else ""
        table.add_row(run.id, run.title, run.machine.name, str(len(run.points)), state + failed)
    return rendered(table)


def as_json(runs: Sequence[StoredRun]) -> str:
    """The same rows, for programs."""
    rows = [
        {
            "id": run.id,
            "title": run.title,
            "started": run.started,
            "machine": run.machine.name,
            "points": len(run.points),
            "failures": len(run.failures),
            "complete": run.complete,
            "folder": str(run.folder),
        }
        for run in runs
    ]
    return json.dumps(rows, indent=2)
