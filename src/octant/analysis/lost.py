"""Lost time of points: the share of their bursts in which threads that had work did not run, and what it cost."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from octant.metric import Rate, Seconds
from octant.stats.doubts import Doubt, Grade, doubt
from octant.stats.lost import LostTime, doubts_about_lost_time, lost_time
from octant.units import si_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from octant.metric import Metric
    from octant.record import Point, Taken
    from octant.record.sketch import Sketch

DISAGREEING = 0.05  # two shares of lost time may differ by so much


def lost_time_of(point: Point) -> LostTime | None:
    """What the system took of a point's bursts; `None` where its record does not say it.

    Of lanes that work alone the CPU time that they lack counts, and the share is that of all lanes together. Ranks that
    work together, and threads of a library, may wait for each other: run-queue wait or throttling counts, whichever is
    greater, of the rank that lost most. A quota's throttling is shared by the threads of all ranks in its group.
    """
    ranks = timed_ranks(point)
    alone = all(one.cpu_ns for one in ranks)
    if not ranks or not (alone or any(one.wait_ns or one.throttled_group for one in ranks)):
        return None
    whole = _column(ns for one in ranks for ns in one.wall_ns)
    cpu = _column(ns for one in ranks for ns in one.cpu_ns) if alone else None
    wait = _column(ns for one in ranks for ns in one.wait_ns or (0,) * len(one.wall_ns))
    threads = point.threads * len(ranks)
    at_work = float(whole.mean()) * threads
    throttled = _throttled_share(point, ranks, alone) * at_work
    stolen = sum(_stolen_share(point, one) for one in ranks) / len(ranks) * at_work
    return lost_time(whole, cpu, wait, throttled, stolen, threads)


def timed_ranks(point: Point) -> list[Taken]:
    """What the system took of each rank that has wall time in every lane."""
    return [one for one in point.taken if one.wall_ns and min(one.wall_ns) > 0]


def _column(nanoseconds: Iterable[int]) -> NDArray[np.float64]:
    """Seconds, of each lane all bursts together."""
    return np.asarray(list(nanoseconds), np.float64)[:, None] * 1e-9


def _throttled_share(point: Point, ranks: Sequence[Taken], alone: bool) -> float:
    """Of the time of the threads that share a quota; over several groups the mean of lanes, else the greatest."""
    groups: dict[tuple[str, str], list[Taken]] = {}
    for one in ranks:
        host = point.given[one.rank].host if one.rank < len(point.given) else ""
        groups.setdefault((host, one.throttled_group), []).append(one)
    shares, members = [], []
    for (_, group), those in groups.items():
        # Every rank reads the same file: the longest of these readings, over the time of all their threads.
        time = float(np.mean([ns for one in those for ns in one.wall_ns])) * point.threads * len(those)
        shares.append(min(1.0, max(one.throttled_ns for one in those) / time) if group else 0.0)
        members.append(len(those))
    return float(np.average(shares, weights=members)) if alone else max(shares)


def _stolen_share(point: Point, taken: Taken) -> float:
    """Of the time of the CPUs that a rank's threads may use."""
    masks = point.given[taken.rank].thread_masks if taken.rank < len(point.given) else ()
    cpus = len({cpu for mask in masks for cpu in mask}) or 1
    return (taken.stolen_ns or 0) / (taken.elapsed_ns * cpus) if taken.elapsed_ns else 0.0


def sustained_share(metric: Metric, times: Sketch) -> float | None:
    """What remains of the undisturbed value, the median's, over the whole time of all samples.

    It multiplies a rate and divides a time. `None` where the metric is none of the step's median, or without samples.

    Args:
        times: of the samples of the step.
    """
    value = metric.value
    if not isinstance(value, Rate | Seconds) or value.of != "step" or value.over is not None or not times.count:
        return None
    middles, counts = times.values()
    mean = float(middles @ counts) / times.count
    return min(1.0, times.quantile(0.5) / mean) if mean else None


def doubts_about_lost(point: Point, metric: Metric, value: float, times: Sketch) -> tuple[Doubt, ...]:
    """What lost time says against one launch's value of a metric; where it is doubtful, with both values.

    Args:
        value: of the launch, base units.
        times: of the samples of the step.
    """
    lost = lost_time_of(point)
    if lost is None or metric.of_system:
        return ()
    if metric.of_lost_time:
        return _disagreement(value, lost)
    found = tuple(_with_both_values(one, metric, value, times) for one in doubts_about_lost_time(lost))
    if point.share_cores:  # its own threads take the time from each other, as was asked
        found = tuple(replace(one, grade=min(one.grade, Grade.DOUBTFUL)) for one in found)
    return found


def _disagreement(share: float, lost: LostTime) -> tuple[Doubt, ...]:
    """Between a share of lost time that a workload found by itself and that of the threads' own clocks.

    A slower clock and a busy sibling core lengthen samples, and take no CPU time.
    """
    if abs(share - lost.share) <= DISAGREEING:
        return ()
    shares = f"{100 * share:.0f} % of the time was lost, {100 * lost.share:.0f} % by the threads' own clocks"
    return (doubt("sources disagree", shares, abs(share - lost.share)),)


def _with_both_values(one: Doubt, metric: Metric, value: float, times: Sketch) -> Doubt:
    share = sustained_share(metric, times)
    if one.kind != "lost time" or one.grade != Grade.DOUBTFUL or not share:
        return one
    sustained = value * share if metric.better == "higher" else value / share
    both = f"undisturbed {si_text(value, metric.unit)}, sustained {si_text(sustained, metric.unit)}"
    return replace(one, text=f"{one.text}, in one launch: {both}")
