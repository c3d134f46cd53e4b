"""The time limits of the launches of a program: none at first, then a multiple of what a cell took so far."""

from __future__ import annotations

from collections.abc import Iterable

from octant.ask import Launch, comparable_cell
from octant.record import Point

TIMES, LEAST_S = 3.0, 5.0
"""Later launches of a cell get that many times its slowest so far, and at least so many seconds more than it."""
NO_LIMIT_S = 1e9
"""The time limit of a launch that has none."""
_Cell = tuple[str, tuple[tuple[str, str], ...]]


class TimeLimits:
    """What the launches of each cell took, as their points say."""

    def __init__(self) -> None:
        self._slowest_s: dict[_Cell, float] = {}

    def add(self, points: Iterable[Point]) -> None:
        """Take account of further points of the run."""
        for point in points:
            cell = point.launch.rpartition("-")[0], comparable_cell(point.knobs, point.workload)
            taken_s = point.spent_s.get("measure_s", 0.0)
            self._slowest_s[cell] = max(taken_s, self._slowest_s.get(cell, 0.0))

    def limit_s(self, launch: Launch) -> float:
        """Return the time limit of a start of one cell, s."""
        cell = launch.ask.key, comparable_cell(launch.started_knobs, launch.ask.subject.name)
        slowest_s = self._slowest_s.get(cell)
        return NO_LIMIT_S if slowest_s is None else max(TIMES * slowest_s, slowest_s + LEAST_S)
