"""The page of a history: verdict, picture and table."""

import math
from dataclasses import replace
from pathlib import Path

from octant.analysis.history import FigureHistory
from octant.report.charts.picture import Axis, ChartSeries, Mark, Panel, Picture, even_ticks, si_ticks, thin, with_unit
from octant.report.history import statements, text
from octant.report.page import html
from octant.stats.grades import GradeName

MAX_DATES = 6
"""Dates on the axis."""
MAX_MARKS = 8
"""Changes that are marked in the picture; the table has all."""


def picture(history: FigureHistory) -> Picture:
    """Return the picture: the values of the counted runs with their intervals, and the median of each level."""
    rows = history.sessions
    at = tuple(float(number) for number in range(len(rows)))
    values = [row.figure.value.stated for row in rows if row.figure.value]
    middle, low, high = (tuple(getattr(one, part) for one in values) for part in ("middle", "low", "high"))
    names = tuple(f"{row.date}: {row.value}" for row in statements.rows(history) if not row.remark.startswith("not "))
    points = ChartSeries("runs", "points", at, middle, low, high, names, names="none")
    medians = [
        ChartSeries("median of the level", "line", (begin - 0.4, end - 0.6), (level, level), role="ink", names="none")
        for begin, end, level in statements.levels(history)
    ]
    dates = thin([(number, row.begun.strftime("%m-%d")) for number, row in zip(at, rows, strict=True)], MAX_DATES)
    panel = Panel(
        Axis("start of the run (evenly spaced)", False, tuple(dates), ends=(-0.5, max(len(rows) - 0.5, 0.5))),
        _value_axis(history, min(low, default=0.0), max(high, default=1.0)),
        (points, *medians), tuple(_marks(history)),
    )  # fmt: skip
    table = [
        (row.date, row.value, row.interval, row.launches, row.run, "; ".join(row.changes), row.remark)
        for row in statements.rows(history)
    ]
    return Picture(
        "history", "Values of the runs",
        "Each mark is a run with its 95 % interval. A horizontal line is the median of the runs between two steps. "
        "Dotted lines are changes of the machine or of the software, solid lines are confirmed steps. "
        "The axis does not begin at 0.",
        (panel,), ("Date", "Value", "95 % interval", "Launches", "Run", "Changed since the row before", "Remark"),
        tuple(table), label=" ".join(statements.verdict(history)),
    )  # fmt: skip


def _value_axis(history: FigureHistory, low: float, high: float) -> Axis:
    """Return the axis of the values, which does not begin at 0, so that small steps are visible."""
    pad = (high - low) / 10 or abs(high) / 10 or 1.0
    step = even_ticks(high - low + 2 * pad, str)[1][0]
    first, last = math.floor((low - pad) / step), math.ceil((high + pad) / step)
    unit = history.metric.unit
    ticks = [(step * n, si_ticks(unit)(step * n)) for n in range(first, last + 1)]
    return replace(with_unit(history.metric.name, False, ticks, unit), ends=(step * first, step * last))


def _marks(history: FigureHistory) -> list[Mark]:
    steps = {one.first for one in history.search.steps}
    found = [Mark(first - 0.5, "step", "solid") for first in sorted(steps)]
    changed: dict[int, list[str]] = {}
    number = 0
    for row in history.rows:
        changed.setdefault(number, []).extend(what for what, _, _ in row.changes)
        number += row.session is not None
    places = [(place, what) for place, what in changed.items() if what and 0 < place < number and place not in steps]
    return found + [Mark(place - 0.5, what[0]) for place, what in places[-MAX_MARKS:]]


def render(history: FigureHistory, machine: str) -> str:
    """Return the page of a history; equal histories give equal texts."""
    drawn = [picture(history)] if history.sessions else []
    name = f"history-{history.rows[-1].run.id}"
    search = history.search
    grade: GradeName = "limited" if search.is_correlated or not search.is_enough or search.suspicion else "reliable"
    return html.render(
        "history.html.jinja",
        {
            "run": name,
            "document": text.document(history, range(len(history.rows)), machine),
            "exports": html.exports(drawn, name),
        },
        history=history, machine=machine, verdict=statements.verdict(history), claim=statements.claim(history),
        hint=statements.next_step(history), pictures=drawn, rows=statements.rows(history)[::-1], grade=grade,
    )  # fmt: skip


def write(history: FigureHistory, machine: str, path: Path) -> Path:
    """Write the page of a history and return its path.

    Raises:
        Refusal: the file cannot be written.
    """
    return html.save(render(history, machine), path)
