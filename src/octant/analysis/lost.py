"""Lost time of points: the share of their bursts in which threads that had work did not run, and what it cost."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from octant.metric import Rate, Seconds
from octant.program import is_program
from octant.record import known_count
from octant.stats.caveats import Caveat, Grade, caveat, graded
from octant.stats.lost import LostShares, caveats_about_lost_time, lost_time
from octant.units import counted, si_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from octant.metric import Metric
    from octant.record import Point, Samples, Taken
    from octant.record.sketch import Sketch

DISAGREEING = 0.05  # two shares of lost time may differ by so much
OTHERS = 8
"""Other tasks that a CPU of a program has at most, for the bound of its run-queue wait. The scheduler is fair."""
SLICE_S = 0.004
"""For which one of them runs before the next: 3 ms by default since Linux 2.6.32, rounded up to a tick of 250 Hz."""


def lost_time_of(point: Point) -> LostShares | None:
    """What the system took of a point's bursts; `None` where its record does not say it.

    Of lanes that work alone the CPU time that they lack counts, and the share is that of all lanes together. Of ranks
    that work together the one that lost most counts: by the CPU time that it lacks where ranks use their CPU while they
    wait for each other, else by run-queue wait or throttling, whichever is greater, as for threads of a library. A
    quota's throttling is shared by the threads of all ranks in its group.
    """
    ranks = timed_ranks(point)
    if ranks and is_program(point.workload):
        return _lost_time_of_program(point, ranks)
    by_clock = cpu_time_counts(point)
    alone = by_clock and point.pace == "chunks"
    if not ranks or not (by_clock or any(one.wait_ns or one.throttled_group for one in ranks)):
        return None
    whole = _column(ns for one in ranks for ns in one.wall_ns)
    cpu = _column(ns for one in ranks for ns in one.cpu_ns) if by_clock else None
    wait = _column(ns for one in ranks for ns in one.wait_ns or (0,) * len(one.wall_ns))
    threads = known_count(point.threads) * len(ranks)
    at_work = float(whole.mean()) * threads
    throttled = _throttled_share(point, ranks, alone) * at_work
    stolen = sum(_stolen_share(point, one) for one in ranks) / len(ranks) * at_work
    crowd = oversubscription(point)
    crowded = 1 - crowd.cpus / crowd.threads if crowd else 0.0
    return lost_time(whole, cpu, wait, throttled, stolen, threads, by_clock and not alone, crowded)


def _lost_time_of_program(point: Point, ranks: Sequence[Taken]) -> LostShares | None:
    """Lost time of a user's program, whose whole run is one burst; `None` where the record has none of its causes.

    A program may wait as it likes, so that CPU time that it lacks is no loss by itself. What its quota and the
    hypervisor took is a share of the time of the threads that were seen busy; if none was seen, of one for each rank.
    What it lost on the run queue is not measured, and no part of it: `queue_bound` has the most that it can be.
    """
    if not any(one.throttled_group or one.stolen_ns is not None for one in ranks):
        return None
    whole = _column(ns for one in ranks for ns in one.wall_ns)
    threads = _threads_at_work(point, ranks)
    at_work = float(whole.mean()) * threads
    steal = sum(_stolen_share(point, one) for one in ranks) / len(ranks)
    throttled = _throttled_share(point, ranks, False, threads / len(ranks))
    found = lost_time(whole, None, 0.0 * whole, throttled * at_work, steal * at_work, threads)
    if steal <= found.share:
        return found
    return replace(
        found,
        share=steal,
        by_thread=tuple(max(share, steal) for share in found.by_thread),
        cause="the hypervisor" if steal >= 2 * found.share else found.cause,
    )


def _threads_at_work(point: Point, ranks: Sequence[Taken]) -> int:
    """The busy threads of a program, at most one for each hardware thread, at least one for each rank."""
    cpus = {(given.host, cpu) for given in point.given for mask in given.thread_masks for cpu in mask}
    seen = min(sum(len(given.cpus) for given in point.given), len(cpus))  # some may have run one after the other
    return max(len(ranks), seen)


def queue_bound(point: Point) -> float | None:
    """The most that a program can have lost on the run queue, as a share of its busy threads' time, 0 to 1.

    It is the least of four bounds: the share of its time in which any task waited for a CPU; the CPU time that its
    threads lack; `OTHERS` times the CPU time that it used, since a fair scheduler gives as much to each task that wants
    to run; and what its context switches explain: `OTHERS` slices for a thread that was preempted, one for a thread
    that wakes up. A program that sleeps therefore has a small bound on a busy machine. `None` where the record lacks
    pressure-stall information or CPU times, and of kernels.
    """
    pressure, ranks = cpu_pressure(point), timed_ranks(point)
    known = {one.name: one.value for one in point.results if one.bound is None}
    used = [known[name] for name in ("user time", "system time") if name in known]
    if pressure is None or not ranks or not used or not is_program(point.workload):
        return None
    whole_s = sum(ns for one in ranks for ns in one.wall_ns) * 1e-9
    at_work_s = whole_s / len(ranks) * _threads_at_work(point, ranks)
    bounds = [pressure, 1 - sum(used) / at_work_s, OTHERS * sum(used) / at_work_s]
    preempted, woken = (known.get(f"{kind} context switches") for kind in ("involuntary", "voluntary"))
    if preempted is not None and woken is not None:
        bounds.append((OTHERS * preempted + woken) * SLICE_S / at_work_s)
    return max(0.0, min(bounds))


def cpu_pressure(point: Point) -> float | None:
    """The share of the time of a program in which at least one task waited for a CPU, 0 to 1; of ranks the greatest.

    It is the `some` line of the kernel's pressure-stall information, of the program's control group or of the system;
    `None` where the record does not have it.
    """
    during = point.noise.get("during", {})
    stalled_s, elapsed_s = during.get("stalled_cpu_s"), during.get("time_s", 0.0)
    return None if stalled_s is None or elapsed_s <= 0 else min(1.0, max(0.0, stalled_s / elapsed_s))


def cpu_time_counts(point: Point) -> bool:
    """Whether the CPU time that a lane or rank lacks is lost: it never waits without using its CPU."""
    ranks = timed_ranks(point)
    if not ranks or not all(one.cpu_ns for one in ranks):
        return False
    nobody_waits = all(len(group) == 1 for group in point.groups or (tuple(range(known_count(point.ranks))),))
    return point.pace == "chunks" or (not point.blocks and (nobody_waits or point.process.waits == "polls"))


class Oversubscription(NamedTuple):
    """More threads than the hardware threads that they may use, on one host."""

    threads: int
    cpus: int

    @property
    def text(self) -> str:
        """`4 threads on 2 hardware threads: oversubscribed`."""
        return f"{self.threads} threads on {counted(self.cpus, 'hardware thread')}: oversubscribed"


def oversubscription(point: Point) -> Oversubscription | None:
    """Of the host whose hardware threads have most threads each; `None` where no thread has to share."""
    if not point.share_cores:
        return None
    working = {rank for group in point.groups for rank in group} or set(range(known_count(point.ranks)))
    threads: dict[str, int] = {}
    cpus: dict[str, set[int]] = {}
    for rank, given in enumerate(point.given):
        if rank in working:
            threads[given.host] = threads.get(given.host, 0) + len(given.thread_masks)
            cpus.setdefault(given.host, set()).update(cpu for mask in given.thread_masks for cpu in mask)
    found = [Oversubscription(threads[host], len(cpus[host])) for host in threads if cpus[host]]
    worst = max(found, key=lambda one: one.threads / one.cpus, default=None)
    return worst if worst and worst.threads > worst.cpus else None


def timed_ranks(point: Point) -> list[Taken]:
    """What the system took of each rank that has wall time in every lane."""
    return [one for one in point.taken if one.wall_ns and min(one.wall_ns) > 0]


def _column(nanoseconds: Iterable[int]) -> NDArray[np.float64]:
    """Seconds, of each lane all bursts together."""
    return np.asarray(list(nanoseconds), np.float64)[:, None] * 1e-9


def _throttled_share(point: Point, ranks: Sequence[Taken], alone: bool, threads: float | None = None) -> float:
    """Of the time of the threads that share a quota; over several groups the mean of lanes, else the greatest.

    Args:
        threads: of each rank; `None`: as many as its shape says.
    """
    each = threads or known_count(point.threads)
    groups: dict[tuple[str, str], list[Taken]] = {}
    for one in ranks:
        host = point.given[one.rank].host if one.rank < len(point.given) else ""
        groups.setdefault((host, one.throttled_group), []).append(one)
    shares, members = [], []
    for (_, group), those in groups.items():
        # Every rank reads the same file: the longest of these readings, over the time of all their threads.
        time = float(np.mean([ns for one in those for ns in one.wall_ns])) * each * len(those)
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


def caveats_about_lost(point: Point, metric: Metric, value: float, times: Sketch) -> tuple[Caveat, ...]:
    """What lost time says against one launch's value of a metric; where it is limited, with both values.

    Args:
        value: of the launch, base units.
        times: of the samples of the step.
    """
    lost, queued = lost_time_of(point), _queue_caveat(point, metric)
    if lost is None or metric.of_system:
        return queued
    if metric.of_lost_time:
        return _disagreement(value, lost)
    found = tuple(_with_both_values(one, metric, value, times) for one in caveats_about_lost_time(lost))
    found += () if any(one.kind == "lost time" for one in found) else queued
    if point.share_cores:  # its own threads take the time from each other, as was asked
        found = tuple(replace(one, grade=min(one.grade, Grade.LIMITED)) for one in found)
    return (*found, *_unexplained(point, metric, lost, times))


def _queue_caveat(point: Point, metric: Metric) -> tuple[Caveat, ...]:
    """What a program may have lost on the run queue; a bound never makes a figure unusable."""
    bound = 0.0 if metric.of_system else queue_bound(point) or 0.0
    text = f"up to {100 * bound:.0f} % of the time may have been lost to other work on the same CPUs"
    return tuple(replace(one, grade=min(one.grade, Grade.LIMITED)) for one in graded("lost time", bound, text))


def _disagreement(share: float, lost: LostShares) -> tuple[Caveat, ...]:
    """Between a share of lost time that a workload found by itself and that of the threads' own clocks.

    A slower clock and a busy sibling core lengthen samples, and take no CPU time.
    """
    if abs(share - lost.share) <= DISAGREEING:
        return ()
    shares = f"{100 * share:.0f} % of the time was lost, {100 * lost.share:.0f} % by the threads' own clocks"
    return (caveat("sources disagree", shares, abs(share - lost.share)),)


def _unexplained(point: Point, metric: Metric, lost: LostShares, times: Sketch) -> tuple[Caveat, ...]:
    """That samples took longer than the lost time explains, where the CPU time of the ranks does not say what was lost.

    What one rank loses delays every other, so the losses of all ranks together explain the samples. The ranks must lack
    as much of CPU time as is not explained, as far as the record has it: steps may take different times by themselves.
    """
    sustained = sustained_share(metric, times)
    if cpu_time_counts(point) or point.blocks or not sustained:
        return ()
    walls_ns = sum(ns for one in timed_ranks(point) for ns in one.wall_ns)
    middles, counts = times.values()
    in_samples = min(1.0, float(middles @ counts) / point.coalesced / walls_ns)
    missing = in_samples * (1 - sustained) - min(1.0, sum(lost.by_thread))
    idle = _idle_share(point)
    if idle is not None:
        missing = min(missing, idle - float(np.mean(lost.by_thread)))
    if missing <= DISAGREEING:
        return ()
    text = (
        f"more time was lost than the {100 * lost.share:.0f} % that is explained: a sample takes {1 / sustained:.1f} "
        "times the median on average"
    )
    if idle is not None:
        text += f", and the ranks used {100 * (1 - idle):.0f} % of the CPU time"
    return (caveat("unexplained loss", text, missing),)


def _idle_share(point: Point) -> float | None:
    """The share of the time of its threads in which the ranks of one host did not run, by the CPU time of processes."""
    during = point.noise.get("during", {})
    elapsed_s, used_s = during.get("time_s", 0.0), during.get("node_own_cpu_s")
    if used_s is None or elapsed_s <= 0:
        return None
    host = point.given[0].host if point.given else ""
    ranks = sum(given.host == host for given in point.given) or known_count(point.ranks)
    return max(0.0, 1 - used_s / (elapsed_s * ranks * known_count(point.threads)))


def cpu_time_of_chunk(point: Point, samples: Samples) -> float | None:
    """Seconds of CPU time that a chunk took on average, with what the harness did between samples.

    `None` where the record does not hold the CPU time of lanes that work alone.
    """
    cpu_ns = {(one.rank, thread): ns for one in point.taken for thread, ns in enumerate(one.cpu_ns)}
    lanes = [
        (series.head, len(series.values))
        for series in samples.series
        if (series.head.name, series.head.role) == ("step", point.first_role)
    ]
    chunks = sum(count * point.batch_of(head.group, head.role) for head, count in lanes)
    used_ns = sum(cpu_ns.get((head.rank, head.thread), 0) for head, _ in lanes)
    return used_ns * 1e-9 / chunks if point.pace == "chunks" and chunks and used_ns else None


def slowed_by_loss(point: Point, metric: Metric, value: float, cpu_s: float | None) -> float | None:
    """How many times worse a launch's value is than if each chunk had taken its CPU time alone; `None`: not known.

    Args:
        value: of the launch, base units.
        cpu_s: of a chunk, as `cpu_time_of_chunk`.
    """
    counts = {name: point.count(name) for work in point.work for name in work.counts}
    alone = None if cpu_s is None else metric.at(cpu_s, counts, point.parts)
    if not alone or not value:
        return None
    return alone / value if metric.better == "higher" else value / alone


def _with_both_values(one: Caveat, metric: Metric, value: float, times: Sketch) -> Caveat:
    share = sustained_share(metric, times)
    if one.kind != "lost time" or one.grade != Grade.LIMITED or not share:
        return one
    sustained = value * share if metric.better == "higher" else value / share
    both = f"undisturbed {si_text(value, metric.unit)}, sustained {si_text(sustained, metric.unit)}"
    return replace(one, text=f"{one.text}, in one launch: {both}")
