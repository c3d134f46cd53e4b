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
    correlation = stats.correlation_time(samples)
    value = stats.median_interval(samples, correlation)
    flags = doubts(point) + _together(chosen, point) + unsteady(samples, correlation)
    found = Figure(chosen, point, value, samples, limit, flags)
    if (found.of_limit or 0) > BEYOND:
        found = replace(found, flags=(*found.flags, "beyond its limit: what set the limit was disturbed"))
    return found


def values(metric: Metric, point: Point) -> NDArray[np.float64]:
    """The metric of every steady-state sample, or (rates of lanes) of every window of all lanes, in base units."""
    count = metric.count(point) * point.batch
    if point.sampling == "lanes" and metric.kind == "rate" and sum(bool(lane.duration_ns) for lane in point.lanes) > 1:
        return count * _windows(point)[0]
    seconds = _in_time_order([_steady(lane, point.warmup) for lane in point.lanes]) * 1e-9
    return count / seconds if metric.kind == "rate" else seconds / count


def _in_time_order(lanes: list[NDArray[np.float64]]) -> NDArray[np.float64]:
    """The samples of all lanes, by their place in their lane: lanes of several hosts share no clock."""
    places = np.concatenate([(np.arange(len(lane)) + 0.5) / len(lane) for lane in lanes])
    ordered: NDArray[np.float64] = np.concatenate(lanes)[np.argsort(places, kind="stable")]
    return ordered


def _steady(lane: Lane, warmup: int) -> NDArray[np.float64]:
    kept = lane.duration_ns[warmup:] or lane.duration_ns
    return np.asarray(kept, dtype=np.float64)


@dataclass(frozen=True)
class _Track:
    """One lane's samples after the warm-up, in ns."""

    start: NDArray[np.float64]
    last: NDArray[np.float64]
    disturbed: NDArray[np.bool_]  # the lane was switched out, or took far longer than it usually does

    def through(self, edges: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_]]:
        """Between edges: samples done, ns at work, and whether that was nearly all the time, undisturbed.

        Work goes on evenly inside a sample and rests in the gaps between samples.
        """
        times = np.column_stack([self.start, self.start + self.last]).ravel()
        numbers = np.arange(len(self.start))
        counts = np.column_stack([numbers, numbers + 1]).ravel().astype(np.float64)
        lost = np.concatenate([[0], np.cumsum(np.where(self.disturbed, self.last, 0))])
        spent = np.concatenate([[0], np.cumsum(self.last)])
        lost_at, spent_at = (np.column_stack([total[:-1], total[1:]]).ravel() for total in (lost, spent))
        width = np.diff(edges)
        done, at_work, wasted = (np.diff(np.interp(edges, times, x)) for x in (counts, spent_at, lost_at))
        return done, at_work, (at_work >= 0.8 * width) & (wasted <= 0.001 * width)


def _track(lane: Lane, warmup: int) -> _Track:
    skipped = warmup if len(lane.duration_ns) > warmup else 0
    last = np.asarray(lane.duration_ns[skipped:], dtype=np.float64)
    flagged = np.isin(np.arange(skipped, skipped + len(last)), list(lane.preempted))
    start = np.asarray(lane.begin_ns[skipped:], dtype=np.float64)
    usual = np.quantile(last, 0.25)
    # A switch of some microseconds is nothing to a sample of some milliseconds: it counts where it cost time.
    return _Track(start, last, (flagged & (last > 1.05 * usual)) | (last > 4 * usual))


def _windows(point: Point) -> tuple[NDArray[np.float64], float]:
    """Samples per second at work, summed over lanes, in windows of time, and the share of windows that could be used.

    Only windows count in which every lane was at work undisturbed: beside a thread that was switched out, the others
    run alone, which is another experiment. Windows are as long as four undisturbed samples, shorter where the machine
    left too few of that length; where it left none at all, all windows count.
    """
    tracks = [_track(lane, point.warmup) for lane in point.lanes if lane.duration_ns]
    begin = max(float(track.start[0]) for track in tracks)
    end = min(float(track.start[-1] + track.last[-1]) for track in tracks)
    typical = max(float(np.quantile(track.last, 0.25)) for track in tracks)
    rates, whole = np.zeros(0), np.zeros(0, dtype=bool)
    for length in (4, 2, 1):
        edges = np.arange(begin, end, length * typical)
        if len(edges) < 2:
            edges = np.array([begin, max(end, begin + 1)])
        parts = [track.through(edges) for track in tracks]
        whole = np.logical_and.reduce([part[2] for part in parts])
        # The harness's own work between two bursts is in nobody's rate, as it is not in that of one lane.
        rates = sum((done[whole] / (spent[whole] * 1e-9) for done, spent, _ in parts), np.zeros(int(whole.sum())))
        if whole.sum() >= 10:
            break
    if not whole.any():
        rates = sum((part[0] for part in parts), np.zeros(len(edges) - 1)) / (np.diff(edges) * 1e-9)
    return rates, float(whole.mean())


def _together(metric: Metric, point: Point) -> tuple[str, ...]:
    """What is to be said if threads were rarely at work at the same time."""
    if point.sampling != "lanes" or metric.kind != "rate" or len(point.lanes) < 2:
        return ()
    share = _windows(point)[1]
    if share == 0:
        return ("threads were never all at work undisturbed at once",)
    return (f"threads were all at work at once in {100 * share:.0f} % of the time",) if share < 0.5 else ()


def doubts(point: Point) -> tuple[str, ...]:
    """What casts doubt on a point, in words for people; empty when nothing does."""
    found = []
    samples = sum(len(lane.duration_ns) for lane in point.lanes)
    preempted = sum(_cut_short(lane) for lane in point.lanes)
    if preempted > 0.05 * samples:
        found.append(f"preempted in {100 * preempted / samples:.0f} % of samples")
    if point.share_cores:
        found.append("more threads than hardware threads")
    during = point.noise.get("during", {})
    elapsed = during.get("time_s", 0.0)
    if elapsed > 0:
        if during.get("node_steal_s", 0.0) > 0.05 * elapsed:
            found.append("the hypervisor took CPU time away")
        own = during.get("node_own_cpu_s", during.get("own_cpu_s", 0.0) * point.ranks)
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


def _cut_short(lane: Lane) -> int:
    """Samples that saw a switch, without those as quick as the samples that saw none, where there are enough of these.

    Into samples of tens of milliseconds some daemon always falls, for microseconds.
    """
    last = np.asarray(lane.duration_ns, dtype=np.float64)
    hit = np.isin(np.arange(len(last)), list(lane.preempted))
    harmless = last <= 1.05 * np.median(last[~hit]) if (~hit).sum() >= 6 else np.zeros(len(last), dtype=bool)
    return int((hit & ~harmless).sum())


def unsteady(samples: NDArray[np.float64], correlation: float = 1.0) -> tuple[str, ...]:
    """What the samples themselves say against being one steady state, in words for people."""
    found = []
    if len(samples) < 6:
        found.append(f"only {len(samples)} samples: the interval is their range")
    elif len(samples) < 6 * correlation:
        alike = f"{len(samples)} samples that swing so slowly tell no more than {len(samples) / correlation:.0f}"
        found.append(f"{alike}: the interval is their range")
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
