"""The statements and the rows of a history, as data for the page and the terminal."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from octant import units
from octant.analysis.history import FigureHistory, HistoryRow
from octant.program import is_program
from octant.report.claims import figure_texts
from octant.report.plain import clean
from octant.report.sentences import Sentences
from octant.runs.programs.command_text import run_line
from octant.stats.steps import LEAST_SESSIONS
from octant.stats.verdicts import percent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from octant.analysis.conditions import Difference
    from octant.stats.steps import LevelChange, Shift, Suspicion

MAX_CHANGES = 3
"""Changed conditions that are printed in one row or sentence; the others are counted."""
_TEXTS = Sentences("octant.report.history", "history")


@dataclass(frozen=True)
class RowTexts:
    """The cells of a row."""

    date: str
    value: str
    interval: str
    launches: str
    run: str
    changes: tuple[str, ...]
    remark: str  # step, or reason why the row is not counted


def verdict(history: FigureHistory) -> list[str]:
    """Return the verdict: each step, or that there is none, or why there is no statement."""
    search, sessions = history.search, history.sessions
    if not search.is_enough:
        further = len(history.rows) - len(sessions)
        return [_TEXTS.line("too_few", len(sessions), LEAST_SESSIONS, further)]
    texts = [
        _TEXTS.line(
            "confirmed", one.direction, shift_text(history, one.shift), _date(row), row.run.id,
            changed_at(history, one), by=sessions[one.confirmed].run.id,
        )
        for one in search.steps
        for row in (sessions[one.first],)
    ]  # fmt: skip
    if search.suspicion:
        one, row = search.suspicion, sessions[search.suspicion.first]
        shift = shift_text(history, one.shift)
        texts.append(_TEXTS.line("possible", one.direction, shift, _date(row), row.run.id, changed_at(history, one)))
    return texts or [_TEXTS.line("quiet", len(sessions), len(search.rejected))]


def next_step(history: FigureHistory) -> str:
    """Return how to confirm a possible step; "": there is none."""
    if not history.search.suspicion:
        return ""
    newest = history.rows[-1]
    request = newest.run.request_of(newest.figure.point.launch)
    if is_program(newest.figure.workload.name) and request:
        return _TEXTS.line("confirm_program", run_line(request))
    return _TEXTS.line("confirm", history.name)


def claim(history: FigureHistory) -> str:
    """Return the guaranteed rate of false alarms with its assumption, or why there is none."""
    search = history.search
    if not search.is_enough:
        return ""
    return _TEXTS.line("claim", search.is_correlated, units.fixed_text(search.correlation, 1), search.sessions)


def shift_text(history: FigureHistory, shift: Shift) -> str:
    """Return the size of a step: `8.1 % (95 % interval 6.9 % to 9.4 %)`."""
    ends = (shift.low, shift.middle, shift.high)
    if shift.low is not None and shift.high is not None and shift.middle < 0:
        ends = (shift.high, shift.middle, shift.low)  # the smaller change first
    low, middle, high = ("" if end is None else _size(history, end, shift.middle < 0) for end in ends)
    return _TEXTS.line("size", low, middle, high, "")


def _size(history: FigureHistory, end: float, is_slower: bool) -> str:
    if not history.is_logarithmic:
        return units.si_text(-end if is_slower else end, history.metric.unit)
    change = -math.expm1(end) if is_slower else math.expm1(end)
    return f"{'−' * (change < 0)}{percent(abs(change))}"


def changed_at(history: FigureHistory, step: LevelChange | Suspicion) -> list[str]:
    """Return what changed between the last session before a step and the first one after it."""
    first = history.sessions[step.first]
    before = history.sessions[step.first - 1] if step.first else None
    rows = history.rows[history.rows.index(before) + 1 if before else 0 : history.rows.index(first) + 1]
    return change_texts([one for row in rows for one in row.changes])


def change_texts(changes: Sequence[Difference], most: int = MAX_CHANGES) -> list[str]:
    """Return `kernel 6.1 → 6.12` for each change, and the number of further ones."""
    texts = [clean(f"{what} {before} → {after}") for what, before, after in changes]
    more = len(texts) - most
    return [*texts[:most], *([f"and {units.counted(more, 'further change')}"] if more > 0 else [])]


def rows(history: FigureHistory) -> list[RowTexts]:
    """Return the cells of all rows, oldest first."""
    return [_row(history, row) for row in history.rows]


def _row(history: FigureHistory, row: HistoryRow) -> RowTexts:
    texts = figure_texts(row.figure)
    remarks = [f"not counted: {row.why_not}"] if row.why_not else []
    for one in history.search.steps:
        remarks += [f"STEP: {one.direction}"] * (row.session == one.first)
        remarks += ["confirms the step"] * (row.session == one.confirmed)
    if history.search.suspicion and row.session == history.search.suspicion.first:
        remarks.append(f"possible step: {history.search.suspicion.direction}")
    remarks += ["does not confirm a possible step"] * (row.session in history.search.rejected)
    value = f"{texts.number} {texts.unit}".strip() if row.figure.value else "no value"
    return RowTexts(
        _date(row), value, texts.ends if row.figure.value else "", row.figure.count_text,
        row.run.id, tuple(change_texts(row.changes, len(row.changes))), "; ".join(remarks),
    )  # fmt: skip


def _date(row: HistoryRow) -> str:
    return row.begun.strftime("%Y-%m-%d %H:%M")


def levels(history: FigureHistory) -> list[tuple[int, int, float]]:
    """Return the sessions of each level, from first to one after the last, and the median of their values."""
    edges = [0, *(one.first for one in history.search.steps), len(history.sessions)]
    found = []
    for begin, end in pairwise(edges):
        values = sorted(row.figure.value.middle for row in history.sessions[begin:end] if row.figure.value)
        if values:
            found.append((begin, end, (values[(len(values) - 1) // 2] + values[len(values) // 2]) / 2))
    return found
