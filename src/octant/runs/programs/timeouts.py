"""Timeouts of the launches of a program: no limit at first, then a multiple of the longest launch of the cell."""

from __future__ import annotations

from collections.abc import Iterable

from octant.record import Point
from octant.request import Launch, comparable_cell

TIMES, LEAST_S = 3.0, 5.0
"""Timeout of later launches of a cell: this multiple of its longest launch, and at least this many seconds more."""
NO_LIMIT_S = 1e9
"""Timeout of a launch without a limit, in seconds."""
_Cell = tuple[str, tuple[tuple[str, str], ...]]


class TimeLimits:
    """The longest launch of each cell so far."""

    def __init__(self) -> None:
        self._slowest_s: dict[_Cell, float] = {}

    def add(self, points: Iterable[Point]) -> None:
        """Add further points of the run."""
        for point in points:
            cell = point.launch.rpartition("-")[0], comparable_cell(point.knobs, point.workload)
            taken_s = point.spent_s.get("measure_s", 0.0)
            self._slowest_s[cell] = max(taken_s, self._slowest_s.get(cell, 0.0))

    def limit_s(self, launch: Launch) -> float:
        """Return the timeout of a launch of one cell, in seconds."""
        cell = launch.request.key, comparable_cell(launch.started_knobs, launch.request.subject.name)
        slowest_s = self._slowest_s.get(cell)
        return NO_LIMIT_S if slowest_s is None else max(TIMES * slowest_s, slowest_s + LEAST_S)
