"""The suites that come with Octant, for `octant evaluate --list`."""

import json

from octant import suites
from octant.report.tables.layout import text_table


def suites_text() -> str:
    """Return a table of the suites, with the errors of unreadable files and the reasons of absent workloads."""
    rows: list[tuple[object, ...]] = []
    found = suites.entries()
    for name, suite in found.working.items():
        rows.append((name, len(suite.requests), suite.title))
        for why in suites.absent(suite, name).values():
            rows.append(("", "", f"{why}; its requests are excluded"))
    for name, one in found.broken.items():
        rows.append((name, "", f"cannot be read ({one.reason})"))
    return text_table(("=suite", ">requests", "title"), rows)


def suites_json() -> str:
    """Return the same as JSON; a suite that cannot be read has `name`, `file`, `line` and `error`."""
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
