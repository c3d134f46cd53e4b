"""The suites that come with Octant, for `octant evaluate --list`."""

import json

from rich.markup import escape
from rich.table import Table

from octant import suites
from octant.report.terminal import render


def suites_text() -> str:
    """A table of the suites. One whose file cannot be read has its error, workloads that are absent the reason."""
    table = Table(box=None, pad_edge=False)
    for name in ("suite", "requests", "title"):
        table.add_column(name, overflow="fold", justify="right" if name == "requests" else "left")
    found = suites.entries()
    for name, suite in found.working.items():
        table.add_row(name, str(len(suite.requests)), escape(suite.title))
        for why in suites.absent(suite, name).values():
            table.add_row("", "", escape(f"{why}; its requests are left out"))
    for name, one in found.broken.items():
        table.add_row(name, "", escape(f"cannot be read here ({one.reason})"))
    return render(table)


def suites_json() -> str:
    """The same, for programs; a suite that cannot be read has `name`, `file`, `line` and `error`."""
    found = suites.entries()
    rows = [
        {
            "name": name,
            "title": suite.title,
            "requests": len(suite.requests),
            "absent": suites.absent(suite, name),
        }
        for name, suite in found.working.items()
    ]
    return json.dumps([*rows, *(one.as_data() for one in found.broken.values())], indent=2, ensure_ascii=False)
