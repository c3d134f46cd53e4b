"""From samples to figures: the only place where rates, medians and percentages of a limit are computed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from octant import stats
from octant.workload import Ceilings, Limit, Metric, Workload

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    from octant.machine import Machine
    from octant.record import Lane, Point


BEYOND = 1.05  # a share of the limit that no noise of a good measurement explains


@dataclass(frozen=True)
class Figure:
    """One metric of one point: the median with its interval, all samples behind it, and how far from the limit."""

    metric: Metric
    point: Point
    value: stats.Interval  # base units
    samples: NDArray[np.float64]  # steady-state samples or windows, base units, in time order
    limit: Limit | None
    flags: tuple[str, ...]  # what casts doubt on it: "preempted", "cores shared", "foreign load", …

    @property
    def of_limit(self) -> float | None:
        """Fraction of the limit reached; 1 is as good as the hardware allows."""
        return share_of(self.limit, self.metric, self.value.middle)


def share_of(limit: Limit | None, metric: Metric, value: float) -> float | None:
    """Fraction of the limit that a value reaches; `None` without a limit, or where either is zero."""
    if limit is None or limit.value == 0 or value == 0:
        return None
    return value / limit.value if metric.kind == "rate" else limit.value / value


def figure(
    workload: Workload,
    point: Point,
    machine: Machine | None = None,
    ceilings: Ceilings | None = None,
    metric: str = "",
) -> Figure:
    """The figure of one metric (the headline unless named) of a point.

    Raises:
        KeyError: the workload has no such metric.
        ValueError: the point has no samples.
    """
    chosen = workload.metric(metric)
    samples = values(chosen, point)
    limit = None
    if machine is not None and chosen is workload.metrics[0]:
        limit = workload.limit(machine, ceilings or Ceilings(), point)
    value = stats.median_interval(samples, stats.correlation_time(samples))
    found = Figure(chosen, point, value, samples, limit, doubts(point) + unsteady(samples))
    if (found.of_limit or 0) > BEYOND:
        found = replace(found, flags=(*found.flags, "beyond its limit: what set the limit was disturbed"))
    return found


def values(metric: Metric, point: Point) -> NDArray[np.float64]:
    """The metric of every steady-state sample, or (rates of lanes) of every window of all lanes, in base units."""
    count = metric.count(point) * point.batch
    if point.sampling == "lanes" and metric.kind == "rate":
        return count * _window_rates(point)
    seconds = np.concatenate([_steady(lane, point.warmup) for lane in point.lanes]) * 1e-9
    return count / seconds if metric.kind == "rate" else seconds / count


def _steady(lane: Lane, warmup: int) -> NDArray[np.float64]:
    kept = lane.duration_ns[warmup:] or lane.duration_ns
    return np.asarray(kept, dtype=np.float64)


def _window_rates(point: Point) -> NDArray[np.float64]:
    """Samples per second, summed over lanes, in windows of time during which every lane was at work.

    A sample counts in each window by the fraction of its time that fell into it. Windows are as long as four
    undisturbed samples. Left out are windows in which a lane paused (between bursts) or was switched out by the kernel:
    there the lanes did not work at once, which is what the sum claims. Where fewer than eight windows are left, all
    count, and the doubts say why.
    """
    lanes = [lane for lane in point.lanes if lane.duration_ns]
    warmup = point.warmup if all(len(lane.duration_ns) > point.warmup for lane in lanes) else 0
    starts = [np.asarray(lane.begin_ns[warmup:], dtype=np.float64) for lane in lanes]
    lasts = [np.asarray(lane.duration_ns[warmup:], dtype=np.float64) for lane in lanes]
    if len(lanes) == 1:
        return np.asarray(1e9 / lasts[0])
    begin = max(float(start[0]) for start in starts)
    end = min(float(start[-1] + last[-1]) for start, last in zip(starts, lasts, strict=True))
    edges = np.arange(begin, end, 4 * max(float(np.quantile(last, 0.25)) for last in lasts))
    if len(edges) < 2:
        edges = np.array([begin, max(end, begin + 1)])
    done = np.zeros(len(edges) - 1)
    busy = np.full(len(edges) - 1, np.inf)
    for lane, start, last in zip(lanes, starts, lasts, strict=True):
        # Work and undisturbed time up to each edge: linear inside a sample, flat in the gaps between samples.
        undisturbed = np.array([i not in lane.preempted for i in range(warmup, warmup + len(last))])
        times = np.column_stack([start, start + last]).ravel()
        count = np.column_stack([np.arange(len(start)), np.arange(1, len(start) + 1)]).ravel().astype(np.float64)
        worked = np.concatenate([[0], np.cumsum(last * undisturbed)])
        busy_at = np.column_stack([worked[:-1], worked[1:]]).ravel()
        done += np.diff(np.interp(edges, times, count))
        busy = np.minimum(busy, np.diff(np.interp(edges, times, busy_at)))
    rates = done / (np.diff(edges) * 1e-9)
    together = busy >= 0.8 * np.diff(edges)
    return rates[together] if together.sum() >= 8 else rates


def doubts(point: Point) -> tuple[str, ...]:
    """What casts doubt on a point, in words for people; empty when nothing does."""
    found = []
    samples = sum(len(lane.duration_ns) for lane in point.lanes)
    preempted = sum(len(lane.preempted) for lane in point.lanes)
    if preempted > 0.05 * samples:
        found.append(f"preempted in {100 * preempted / samples:.0f} % of samples")
    if point.share_cores:
        found.append("more threads than hardware threads")
    during = point.noise.get("during", {})
    elapsed = during.get("time_s", 0.0)
    if elapsed > 0:
        if during.get("node_steal_s", 0.0) > 0.05 * elapsed:
            found.append("the hypervisor took CPU time away")
        own = during.get("own_cpu_s", 0.0) * point.ranks
        foreign = during.get("node_busy_s", 0.0) - own
        if foreign > max(0.25 * elapsed, 0.05):
            found.append("other processes were busy")
    if point.mismatches:
        more = f" (and {len(point.mismatches) - 1} more)" if len(point.mismatches) > 1 else ""
        found.append(f"NOT AS ASKED: {point.mismatches[0]}{more}")
    if not point.verdict.passed:
        found.append("WRONG ANSWER")
    if point.build.get("faults_compiled"):
        found.append("fault-injection build")
    return tuple(found)


def unsteady(samples: NDArray[np.float64]) -> tuple[str, ...]:
    """What the samples themselves say against being one steady state, in words for people."""
    found = []
    change = stats.drift(samples)
    if abs(change) > 0.03:
        found.append(f"drifts by {100 * change:+.0f} % from first half to second")
    far = float(stats.outliers(samples).mean())
    if far > 0.05:
        found.append(f"{100 * far:.0f} % outliers")
    return tuple(found)


def ceilings(points: Iterable[Point], machine: Machine, known: Mapping[str, Workload]) -> Ceilings:
    """The best that this run measured: compute rate and memory traffic by hardware threads in use, and the clock."""
    best: dict[str, dict[int, float]] = {"flops": {}, "memory": {}}
    clock_hz = 0.0
    for point in points:
        if not point.verdict.passed or point.workload not in known:
            continue
        clock_hz = max([clock_hz, *(look.get("frequency_hz", 0.0) for look in point.noise.values())])
        raises = known[point.workload].ceiling(machine, point)
        if raises is not None:
            name, metric = raises
            value = figure(known[point.workload], point, metric=metric).value.middle
            threads = point.ranks * point.threads
            best[name][threads] = max(best[name].get(threads, 0.0), value)
    return Ceilings(clock_hz or None, best["flops"], best["memory"])
