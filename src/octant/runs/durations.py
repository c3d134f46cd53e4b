"""Estimated durations of launches, from stored runs of the machine for similar cells, otherwise from constants."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import islice
from statistics import median

from octant import units
from octant.failure import Refusal
from octant.machine import Machine
from octant.machine.codec import fingerprint
from octant.record import Point, known_count
from octant.request import EFFORT, Launch, Request, comparable
from octant.runs.cell_costs import declared_cost
from octant.store import Store, StoredRun

BUDGET_S = 0.2
"""Default time budget of a point, as in most kernels."""
START_S, START_RANKS_S = 0.09, 0.25
"""Start-up time of a launch with one process, and with several ranks, if no run has measured it."""
POINT_S, BYTE_S = 0.03, 1e-9
"""Time for initialisation and verification of a point, and for each of its bytes, if no run has measured it."""
MAX_RUNS = 6
"""Maximum number of runs that are evaluated, newest first; reading one takes a fraction of a second."""
_SIZES = ("bytes", "n")
_STEEPEST, _SPARE = 3.0, 0.15  # maximum exponent of work over size, and what the exponent of time may exceed it by
_NEITHER = EFFORT | {*_SIZES, "seed"}
_LEAST_SIZE = 4.0
_LEAST_LAUNCHES = 20  # of a run, because the start times have a resolution of one second
_SHORT = 0.9  # share of the budget; a point that ended earlier had reached its precision


@dataclass(frozen=True)
class PointCost:
    """The duration of one point."""

    knobs: Mapping[str, str]  # normalised, without sizes and effort
    shape: tuple[int, int]  # ranks, threads
    size: float  # of its memory or its problem; 0: it has none
    power: float  # approximate exponent of its work over the size
    budget_s: float
    measured_s: float
    around_s: float  # initialisation and verification

    @property
    def beyond_s(self) -> float:
        """Time beyond the budget, in seconds; a step may be longer than the budget."""
        return self.around_s + max(0.0, self.measured_s - self.budget_s)

    def within_s(self, budget_s: float) -> float:
        """Estimate the measuring time with another budget."""
        enough = self.measured_s < _SHORT * self.budget_s
        return min(self.measured_s, budget_s) if enough else budget_s


@dataclass(frozen=True)
class Durations:
    """Known durations of points; empty for a machine without runs."""

    costs: Mapping[str, Sequence[PointCost]] = field(default_factory=dict)  # by workload
    start_scale: float = 1.0  # measured start-up time over the constants
    runs: int = 0  # number of evaluated runs

    def seconds(self, launch: Launch) -> float:
        """Estimate the duration of a launch, including its start."""
        shape, workload = launch.request.shape, launch.request.subject.workload
        start_s = START_S if shape.ranks == 1 else START_RANKS_S
        threads = launch.started_knobs.get("threads", "1")
        working = shape.ranks, int(threads) if threads.isdigit() else 1
        known = self.costs.get(workload, ())
        return start_s * self.start_scale + sum(
            _cell_s(launch.request, cell, working, known) for cell in launch.cells()
        )

    def slowest_s(self, workload: str, cell: Mapping[str, str], working: tuple[int, int]) -> float | None:
        """Return the time of the slowest point of a cell beyond its budget; `None`: no point is known.

        Args:
            cell: all knobs, including those with default values.
            working: ranks, and threads of each.
        """
        size = _size(cell)
        same = [
            cost.beyond_s
            for cost in self.costs.get(workload, ())
            if cost.size == size
            and cost.shape == working
            and all(comparable(cell.get(name, value)) == value for name, value in cost.knobs.items())
        ]
        return max(same, default=None)

    def add(self, points: Iterable[Point]) -> Durations:
        """Return the durations extended by those of these points."""
        costs = {workload: list(known) for workload, known in self.costs.items()}
        for point in points:
            if point.spent_s:
                costs.setdefault(point.workload, []).append(_cost(point))
        return replace(self, costs=costs)

    @property
    def source(self) -> str:
        """Basis of the estimate, for the user."""
        if not self.runs:
            return "rough estimate without earlier runs"
        return f"estimated from {units.counted(self.runs, 'earlier run')}"


def load_durations(where: Store, machine: Machine, excluded_id: str = "") -> Durations:
    """Read the durations of the newest stored runs of the machine, including those of test builds.

    Args:
        besides: id of a run that is ignored.
    """
    costs: dict[str, list[PointCost]] = {}
    scales: list[float] = []
    used = 0
    for run in islice(_runs(where, machine, excluded_id), MAX_RUNS):
        found = [(point.workload, _cost(point)) for point in run.points if point.spent_s]
        used += bool(found)
        for workload, cost in found:
            costs.setdefault(workload, []).append(cost)
        if scale := _start_scale(run):
            scales.append(scale)
    return Durations(costs, median(scales) if scales else 1.0, used)


def _runs(where: Store, machine: Machine, excluded_id: str) -> Iterable[StoredRun]:
    same = fingerprint(machine)
    for row in reversed(where.list_runs()):
        if row.fingerprint == same and row.points and row.id != excluded_id:
            try:
                yield where.read(row.id)
            except Refusal:  # removed in the meantime
                continue


def _cost(point: Point) -> PointCost:
    spent = point.spent_s
    knobs = {name: comparable(value) for name, value in point.knobs.items() if name not in _NEITHER}
    measured_s = spent.get("measure_s", 0.0)
    shape = known_count(point.ranks), known_count(point.threads)
    return PointCost(
        knobs, shape, _size(point.knobs), _power(point), _budget_s(point.knobs), measured_s,
        sum(spent.values()) - measured_s,
    )  # fmt: skip


def _power(point: Point) -> float:
    """Return the exponent of the counted work: 3 for about n³ (matrix multiplication), 1 for about n (a vector)."""
    size = _size(point.knobs)
    work = max((count / one.lanes for one in point.work for count in one.counts.values()), default=0.0)
    if size < _LEAST_SIZE or work <= size or "bytes" in point.knobs:
        return 1.0
    return min(_STEEPEST, float(math.floor(_SPARE + math.log(work) / math.log(size))))


def _budget_s(knobs: Mapping[str, str]) -> float:
    try:
        return units.parse_seconds(knobs["seconds"])
    except (KeyError, ValueError):  # the default of the kernel
        return BUDGET_S


def _lasting_s(knobs: Mapping[str, str]) -> float:
    try:
        return units.parse_seconds(knobs.get("duration", "0"))
    except ValueError:
        return 0.0


def _size(knobs: Mapping[str, str]) -> float:
    for name in _SIZES:
        try:
            return float(units.parse_bytes(knobs[name]))
        except (KeyError, ValueError):
            continue
    return 0.0


def _start_scale(run: StoredRun) -> float | None:
    """Return the start-up time in a run over the constants; `None`: the run was short or interrupted."""
    if run.imported:
        return None
    spent: dict[tuple[datetime, str], float] = {}  # by process start; a launch may have several
    ranks: dict[tuple[datetime, str], int] = {}
    for point in run.points:
        if point.process.begun:
            start = point.process.begun, point.launch
            spent[start] = spent.get(start, 0.0) + sum(point.spent_s.values())
            ranks[start] = known_count(point.ranks)
    if len(spent) < _LEAST_LAUNCHES or run.failures or run.repeated:
        return None
    first, *_, last = sorted(spent)
    elapsed_s = (last[0] - first[0]).total_seconds()
    others = [start for start in spent if start != last]
    rule_s = sum(START_S if ranks[start] == 1 else START_RANKS_S for start in others)
    scale = (elapsed_s - sum(spent[start] for start in others)) / rule_s
    return scale if 0.2 < scale < 5 else None


def _cell_s(request: Request, cell: Mapping[str, str], working: tuple[int, int], known: Sequence[PointCost]) -> float:
    budget_s, size = _budget_s(cell), _size(cell)
    alike = _most_alike(cell, working, known)
    if not alike:
        found = declared_cost(request, cell)
        beyond_s = found.beyond_s(budget_s) if found else size * BYTE_S * ("bytes" in cell)
        return budget_s + _lasting_s(cell) + POINT_S + beyond_s
    return _nearest(alike, size).within_s(budget_s) + _beyond_s(alike, size)


def _most_alike(cell: Mapping[str, str], working: tuple[int, int], known: Sequence[PointCost]) -> list[PointCost]:
    """Return the points that agree with a cell in most knobs, regardless of the size."""
    asked = {name: comparable(value) for name, value in cell.items() if name not in _NEITHER}

    def agreement(cost: PointCost) -> int:
        return sum(cost.knobs.get(name) == value for name, value in asked.items()) + 2 * (cost.shape == working)

    most = max(map(agreement, known), default=0)
    return [cost for cost in known if agreement(cost) == most]


def _nearest(alike: Sequence[PointCost], size: float) -> PointCost:
    """Return the point with the median time among those of the nearest size."""
    apart = min(abs(_log(cost.size) - _log(size)) for cost in alike)
    near = sorted((c for c in alike if abs(_log(c.size) - _log(size)) == apart), key=lambda cost: cost.measured_s)
    return near[len(near) // 2]


def _beyond_s(alike: Sequence[PointCost], size: float) -> float:
    """Interpolate the time of a size beyond its budget linearly in the logarithms of sizes and times.

    Beyond the largest size, time grows as between the last two sizes, but not faster than the work. If only one size is
    known, time is proportional to the size; a size of 0 has no proportion.
    """
    by_size: dict[float, list[float]] = {}
    for cost in alike:
        by_size.setdefault(cost.size, []).append(cost.beyond_s)
    line = sorted((_log(known), _log(median(taken))) for known, taken in by_size.items())
    at = _log(size)
    below = [one for one in line if one[0] <= at] or line[:1]
    above = [one for one in line if one[0] >= at]
    if below[-1][0] == at or not above:
        (x, y), before = below[-1], below[-2] if len(below) > 1 else None
        slope = (y - before[1]) / (x - before[0]) if before else float(x > 0)
        steepest = max(alike, key=lambda cost: cost.size).power + _SPARE
        return math.exp(y + max(0.0, min(slope, steepest)) * (at - x))
    (x, y), (to_x, to_y) = below[-1], above[0]
    return math.exp(y + (to_y - y) * (at - x) / (to_x - x)) if to_x > x and at >= x else math.exp(to_y)


def _log(value: float) -> float:
    return math.log(max(value, 1e-6))
