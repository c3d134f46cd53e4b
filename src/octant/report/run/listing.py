"""The runs of a store, one per row."""

import json
from collections.abc import Sequence

from octant.store import Listed
from octant.units import counted


def as_text(runs: Sequence[Listed]) -> str:
    """A table for the terminal; padded here, since thousands of rows take a table of rich's seconds."""
    if not runs:
        return "The store is empty; `octant evaluate` makes a first run."
    rows = [("run", "machine", "points", "state", "asked")]
    for run in runs:
        state = f"{counted(run.left, 'launch')} left" if run.left else "complete"
        state = "imported" if run.who.startswith("import ") else state
        failed = f", {run.failures} failed" if run.failures else ""
        rows.append((run.id, run.machine, str(run.points), state + failed, run.title))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        f"{name:{widths[0]}}  {on:{widths[1]}}  {points:>{widths[2]}}  {state:{widths[3]}}  {asked}".rstrip()
        for name, on, points, state, asked in rows
    )


def as_json(runs: Sequence[Listed]) -> str:
    """The same rows, for programs."""
    rows = [
        {
            "id": run.id,
            "title": run.title,
            "started": run.started,
            "machine": run.machine,
            "points": run.points,
            "failures": run.failures,
            "complete": run.left == 0,
            "imported": run.who.startswith("import "),
            "folder": run.folder,
        }
        for run in runs
    ]
    return json.dumps(rows, indent=2)
