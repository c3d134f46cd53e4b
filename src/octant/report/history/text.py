"""Histories for the terminal and for programs."""

import json
import sys
import textwrap
from collections.abc import Sequence
from typing import TextIO

from rich.text import Text

from octant import units
from octant.analysis.history import FigureHistory, HistoryRow, SeriesOfPoints, words_of
from octant.report.claims import figure_texts
from octant.report.export.tidy import number
from octant.report.history import statements
from octant.report.plain import clean
from octant.report.tables import text
from octant.report.tables.layout import aligned
from octant.stats.steps import Shift

_HEADINGS = ["date", "value", "95 % interval", "launches", "run"]


def show(history: FigureHistory, shown: Sequence[int], machine: str, file: TextIO | None = None) -> None:
    """Print a history: the rows, then the verdict.

    Args:
        shown: indices of the rows that are printed.
    """
    text.put(lambda width: lines(history, shown, machine, width), file or sys.stdout)


def lines(history: FigureHistory, shown: Sequence[int], machine: str, width: int = 100) -> list[Text]:
    """Return a history as styled lines; the table is as wide as its longest cells."""
    cells = statements.rows(history)
    rows = [[row.date, row.value, row.interval, row.launches, row.run] for row in (cells[n] for n in shown)]
    table = aligned([_HEADINGS, *rows], right=(1, 3)) if rows else []
    runs = units.counted(len(history.rows), "run")
    page = [Text.assemble((clean(history.name), "bold"), f", {history.metric.name}: {runs} of ", clean(machine))]
    page += [Text(line, style="dim") for line in table[:1]]
    for line, place in zip(table[1:], shown, strict=True):
        page.append(Text(line, style="" if history.rows[place].session is not None else "dim"))
        changes = statements.change_texts(history.rows[place].changes)
        page += [Text(f"    changed: {one}", style="dim") for one in changes]
        page += [Text(f"    {cells[place].remark}", style="yellow")] if cells[place].remark else []
    if left := len(history.rows) - len(rows):
        page.append(Text(f"{units.counted(left, 'earlier run')} not shown", style="dim"))
    page.append(Text())
    for sentence in statements.verdict(history):
        page += _wrap(sentence, width, "bold")
    page += _wrap(statements.claim(history), width, "dim")
    if hint := statements.next_step(history):
        page.append(Text(hint))
    return page


def _wrap(words: str, width: int, style: str = "") -> list[Text]:
    return [Text(line, style=style) for line in textwrap.wrap(words, width, break_on_hyphens=False)]


def show_list(series: Sequence[SeriesOfPoints], machine: str) -> None:
    """Print the figures of a machine that were measured in several runs: the words that select each.

    Figures of a single run are listed only if no figure has several runs.
    """
    table = [one for one in series if one.in_table]
    several = [one for one in table if len(one.points) > 1]
    rows = [
        [str(len(one.points)), f"octant history {words_of(one, series)}", max(one.points)] for one in several or table
    ]
    page = [Text(f"Figures of {clean(machine)}", style="bold")]
    page += [Text(line) for line in aligned([["runs", "command", "newest run"], *rows], right=(0,))] if rows else []
    further = (
        (len(table) - len(rows), "figure", "measured in one run"),
        (len(series) - len(table), "point", "of curves"),
    )
    page += [
        Text(f"{units.counted(number, noun)} {what} not listed; select by name", style="dim")
        for number, noun, what in further
        if number
    ]
    text.put(lambda _width: page, sys.stdout)


def list_json(series: Sequence[SeriesOfPoints], machine: str) -> str:
    """Return the figures that have a history as JSON."""
    figures = [
        {
            "name": words_of(one, series),
            "id": one.id,
            "workload": one.identity.subject,
            "knobs": dict(one.attributes),
            "runs": sorted(one.points),
            "in_table": one.in_table,
        }
        for one in series
    ]
    return json.dumps({"machine": machine, "figures": figures}, indent=2, ensure_ascii=False)


def as_json(history: FigureHistory, shown: Sequence[int], machine: str) -> str:
    """Return the history as JSON."""
    return json.dumps(document(history, shown, machine), indent=2, ensure_ascii=False, allow_nan=False)


def document(history: FigureHistory, shown: Sequence[int], machine: str) -> dict[str, object]:
    """Return the history as an object of JSON types."""
    search, sessions = history.search, history.sessions
    suspicion = search.suspicion
    return {
        "figure": history.name,
        "metric": history.metric.name,
        "unit": history.metric.unit,
        "machine": machine,
        "rows": [_row(history.rows[place]) for place in shown],
        "sessions": search.sessions,
        "steps": [
            {
                "run": sessions[one.first].run.id,
                "confirmed_by": sessions[one.confirmed].run.id,
                "direction": one.direction,
                "p": one.p,
                **_shift(one.shift),
                "changes": statements.changed_at(history, one),
            }
            for one in search.steps
        ],
        "possible_step": {
            "run": sessions[suspicion.first].run.id,
            "direction": suspicion.direction,
            **_shift(suspicion.shift),
            "changes": statements.changed_at(history, suspicion),
        }
        if suspicion
        else None,
        "steps_are": "differences of logarithms of speed" if history.is_logarithmic else "differences of values",
        "correlation": search.correlation,
        "false_alarms": None if search.is_correlated or not search.is_enough else 0.05,
        "verdict": statements.verdict(history),
    }


def _shift(shift: Shift) -> dict[str, float | None]:
    return {"low": shift.low, "size": shift.middle, "high": shift.high}


def _row(row: HistoryRow) -> dict[str, object]:
    value = row.figure.value.stated if row.figure.value else None
    ends = value if value and value.is_interval else None
    return {
        "run": row.run.id,
        "date": row.begun.isoformat(timespec="seconds"),
        "value": number(value.middle) if value else None,
        "low": number(ends.low) if ends else None,
        "high": number(ends.high) if ends else None,
        "interval": figure_texts(row.figure).claim,
        "launches": row.figure.valid_count,
        "session": row.session,
        "why_not_counted": row.why_not,
        "changes": [{"what": what, "before": before, "after": after} for what, before, after in row.changes],
    }
