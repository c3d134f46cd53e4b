"""The noise test of a run: what its measurements of lost time observed on all usable hardware threads."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING

import numpy as np

from octant import stats
from octant.analysis.causes import causes_by_hardware_thread, causes_of_points
from octant.analysis.lost import timed_ranks

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from octant.analysis.causes import Causes
    from octant.analysis.figures import Figure
    from octant.analysis.summary import Summary
    from octant.record import Point


@dataclass(frozen=True)
class NoiseTest:
    """Observations of the launches that measured lost time on all usable hardware threads at once."""

    launches: int
    seconds: float  # timed on each hardware thread
    causes: Causes  # of the lost time of all hardware threads
    by_hardware_thread: Mapping[int, Causes]  # by number
    excess: float  # share of the samples' time above the undisturbed time; contains changes of the clock
    clock_hz: float | None = None  # median; `None`: not observed
    clock_change: float = 0.0  # relative change of the clock in the second half of the readings; 0: none detected
    other_load: float | None = None  # hardware threads of the node that other processes used; `None`: not recorded

    @property
    def worst(self) -> int:
        """The number of the hardware thread that lost most of its time."""
        return max(self.by_hardware_thread, key=lambda number: self.by_hardware_thread[number].lost)


def noise_test(summary: Summary) -> NoiseTest | None:
    """Return the noise test of a run; `None` if it has none.

    Launches count if they passed their checks, ran on this machine, and occupied each usable hardware thread with one
    thread.
    """
    usable = {cpu.os for cpu in summary.run.machine.topology.usable()}
    figures = [figure for figure in summary.figures if figure.metric.of_lost_time and not figure.link]
    used = [figure for figure in figures if any(_occupies(point, usable) for point in figure.points)]
    points = [point for figure in used for point in figure.points if point.passed and _occupies(point, usable)]
    causes, by_place = causes_of_points(points), causes_by_hardware_thread(points)
    if causes is None or {number for _, number in by_place} != usable:
        return None
    clocks = _clocks_hz(points)
    return NoiseTest(
        launches=len(points),
        seconds=sum(_wall_s(point) for point in points),
        causes=causes,
        by_hardware_thread={number: found for (_, number), found in by_place.items()},
        excess=_excess(used, points),
        clock_hz=float(np.median(clocks)) if clocks else None,
        clock_change=stats.drift(clocks),
        other_load=_other_load(points),
    )


def _occupies(point: Point, usable: set[int]) -> bool:
    """Return whether the threads of a point occupy each of these hardware threads of one host, one thread each."""
    masks = [mask for given in point.given for mask in given.thread_masks]
    one_host = len({given.host for given in point.given}) == 1
    return one_host and not point.share_cores and sorted(masks) == [(number,) for number in sorted(usable)]


def _wall_s(point: Point) -> float:
    """Return the mean time of the bursts of a thread."""
    walls = [ns for one in timed_ranks(point) for ns in one.wall_ns]
    return float(np.mean(walls)) * 1e-9 if walls else 0.0


def _excess(figures: Sequence[Figure], points: Sequence[Point]) -> float:
    """Return the mean over launches of the lost share in samples."""
    counted = {id(point) for point in points}
    shares = [one.value.middle for figure in figures for one in figure.launches if id(one.point) in counted]
    return float(np.mean(shares)) if shares else 0.0


def _clocks_hz(points: Sequence[Point]) -> list[float]:
    """Return the median clock of all cores after each burst, in the order of the launches."""
    found: list[float] = []
    for point in sorted(points, key=lambda one: one.process.started):
        bursts = zip_longest(*(head.clock_hz for head in point.heads if head.name == "step"))
        found += [float(np.median([hz for hz in burst if hz])) for burst in bursts if any(burst)]
    return found


def _other_load(points: Sequence[Point]) -> float | None:
    """Return how many hardware threads of the node other processes used on average; `None` if it is not recorded."""
    looks = [point.noise.get("during", {}) for point in points]
    known = [one for one in looks if one.get("time_s", 0.0) > 0 and "node_own_cpu_s" in one and "node_busy_s" in one]
    elapsed_s = sum(one["time_s"] for one in known)
    busy_s = sum(one["node_busy_s"] - one["node_own_cpu_s"] for one in known)
    return max(0.0, busy_s / elapsed_s) if known else None
