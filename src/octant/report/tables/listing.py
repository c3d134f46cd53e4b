"""Tables of the runs of a store and of the suites that come with Octant."""

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from octant import suites
from octant.report.tables.layout import aligned, fill, table_rows
from octant.report.tables.word_filter import select_entries
from octant.store import Listed

LEAST_PREFIX = len("20261121-214530-123")
"""Minimum length of an id in a table: the time at which the run began, to the millisecond."""


def short_ids(ids: Iterable[str]) -> Mapping[str, str]:
    """Return the shortest unique prefix of each id that has at least `LEAST_PREFIX` characters."""
    ordered = sorted(ids)
    common = [0, *(len(os.path.commonprefix(pair)) for pair in pairwise(ordered)), 0]
    return {
        one: one[: max(LEAST_PREFIX, 1 + before, 1 + after)]
        for one, before, after in zip(ordered, common, common[1:], strict=False)
    }


def select_runs(rows: Sequence[Listed], words: Sequence[str]) -> list[Listed]:
    """Return the runs whose id, title, machine, study or benchmark contain all words.

    Raises:
        Refusal: there is none; the message names the nearest words.
    """

    def searched(row: Listed) -> str:
        return " ".join((row.id, row.title, row.machine, row.study, row.benchmark))

    return select_entries(rows, words, searched, "run", "octant runs")


def as_text(rows: Sequence[Listed], shown: Sequence[Listed] | None = None) -> str:
    """Return a table for the terminal.

    Args:
        rows: all runs of the store, so that the shown prefixes are unique; those that cannot be read are excluded.
        shown: the rows of the table; default: all that can be read.
    """
    short = short_ids(row.id for row in rows)
    runs = [row for row in rows if not row.refused] if shown is None else shown
    if not runs:
        return "The store is empty. Start with: octant evaluate --quick"
    return "\n".join(aligned(table_rows("tables/runs", "rows", runs=runs, short=short), right=(2,)))


def as_json(runs: Sequence[Listed]) -> str:
    """Return the same rows as JSON."""
    rows = [
        {
            **{name: getattr(run, name) for name in ("id", "title", "started", "machine", "points", "failures")},
            "complete": run.left == 0,
            "imported": run.who.startswith("import "),
            "folder": run.folder,
        }
        for run in runs
    ]
    return json.dumps(rows, indent=2)


def suites_text() -> str:
    """Return a table of the suites, with the errors of unreadable files and the reasons of absent workloads."""
    return fill("tables/suites", "table", found=suites.entries(), absent=suites.absent)


def suites_json() -> str:
    """Return the suites as JSON; one that cannot be read has `name`, `file`, `line` and `error`."""
    found = suites.entries()
    rows = [
        {"name": name, "title": suite.title, "requests": len(suite.requests), "absent": suites.absent(suite, name)}
        for name, suite in found.working.items()
    ]
    return json.dumps([*rows, *(one.as_data() for one in found.broken.values())], indent=2, ensure_ascii=False)
