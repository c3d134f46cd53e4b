"""Lost time of measurements: the share of their bursts in which ready threads did not run, and its cost."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from octant.metric import Rate, Seconds
from octant.program import is_program
from octant.record import THREADS_OF_PROCESS, known_count
from octant.stats.caveats import Caveat, Grade, caveat, graded
from octant.stats.lost import LostShares, caveats_about_lost_time, lost_time
from octant.units import counted, si_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from octant.metric import Metric
    from octant.record import Point, RankTimes, Samples
    from octant.record.sketch import Sketch

DISAGREEING = 0.05  # allowed difference of two shares of lost time
OTHERS = 8
"""Assumed maximum number of other tasks per CPU of a program, for the bound of its run-queue wait."""
SLICE_S = 0.004
"""Time slice of such a task: 3 ms by default since Linux 2.6.32, rounded up to a tick of 250 Hz."""


def lost_time_of(point: Point) -> LostShares | None:
    """Return the lost time of the bursts of a measurement; `None` if it is not recorded.

    For lanes that work alone, missing CPU time counts, as a share over all lanes. For ranks that work together, the
    rank that lost most counts: by missing CPU time if ranks poll while they wait, else by the greater of run-queue wait
    and throttling. Throttling by a quota is shared by the threads of all ranks in its group.
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


def _lost_time_of_program(point: Point, ranks: Sequence[RankTimes]) -> LostShares | None:
    """Return the lost time of a user's program, whose whole run is one burst; `None` if it is not recorded.

    A program may wait, so missing CPU time is no loss by itself. Throttling and stolen time are shares of the time of
    the busy threads, or of one thread per rank if none was detected. Run-queue wait is not measured and not included;
    `queue_bound` returns an upper bound.
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


def _threads_at_work(point: Point, ranks: Sequence[RankTimes]) -> int:
    """Return the busy threads of a program: at least one per rank, at most one per hardware thread."""
    cpus = {(given.host, cpu) for given in point.given for mask in given.thread_masks for cpu in mask}
    seen = min(sum(len(given.cpus) for given in point.given), len(cpus))  # some may have run consecutively
    return max(len(ranks), seen)


def queue_bound(point: Point) -> float | None:
    """Return an upper bound of the run-queue time of a program, as a share of its busy threads' time.

    It is the least of four bounds: the share of time in which any task waited for a CPU; the missing CPU time of its
    threads; `OTHERS` times its CPU time, since a fair scheduler gives as much to each ready task; and its context
    switches: `OTHERS` slices per preemption and one per wake-up. A program that sleeps therefore has a small bound on a
    busy machine. `None` for kernels, and without recorded pressure-stall information or CPU times.
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
    """Return the share of time in which at least one task of a program waited for a CPU; the greatest of ranks.

    It is the `some` line of the kernel's pressure-stall information, of the program's control group or of the system;
    `None` if it is not recorded.
    """
    during = point.noise.get("during", {})
    stalled_s, elapsed_s = during.get("stalled_cpu_s"), during.get("time_s", 0.0)
    return None if stalled_s is None or elapsed_s <= 0 else min(1.0, max(0.0, stalled_s / elapsed_s))


def cpu_time_counts(point: Point) -> bool:
    """Return whether missing CPU time of a lane or rank is lost time: it never waits without using its CPU."""
    ranks = timed_ranks(point)
    if not ranks or not all(one.cpu_ns for one in ranks):
        return False
    no_rank_waits = all(len(group) == 1 for group in point.groups or (tuple(range(known_count(point.ranks))),))
    return point.pace == "chunks" or (not point.blocks and (no_rank_waits or point.process.waits == "polls"))


class Oversubscription(NamedTuple):
    """More threads than the hardware threads that they may use, on one host."""

    threads: int
    cpus: int

    @property
    def counts_text(self) -> str:
        """`4 threads on 2 hardware threads`."""
        return f"{self.threads} threads on {counted(self.cpus, 'hardware thread')}"

    @property
    def text(self) -> str:
        """`4 threads on 2 hardware threads: oversubscribed`."""
        return f"{self.counts_text}: oversubscribed"


def oversubscription(point: Point) -> Oversubscription | None:
    """Return the worst oversubscription of a launch by its own threads; `None` if there is none.

    Threads share hardware threads if there are more of them with a mask, or a part of it, than it has hardware threads,
    also if other hardware threads are free.
    """
    if not point.share_cores:
        return None
    working = {rank for group in point.groups for rank in group} or set(range(known_count(point.ranks)))
    masks: dict[str, list[frozenset[int]]] = {}
    for rank, given in enumerate(point.given):
        if rank in working:
            masks.setdefault(given.host, []).extend(map(frozenset, given.thread_masks))
    found = [
        Oversubscription(sum(mask <= cpus for mask in of_host), len(cpus))
        for of_host in masks.values()
        for cpus in {*of_host, frozenset().union(*of_host)}
        if cpus
    ]
    worst = max(found, key=lambda one: (one.threads / one.cpus, one.threads), default=None)
    return worst if worst and worst.threads > worst.cpus else None


def _oversubscription_of_program(point: Point) -> Oversubscription | None:
    """Return the oversubscription by ranks and threads of a program that are busy at the same time.

    Busy threads of one process count, and ranks; processes of a script may have run consecutively.
    """
    note = point.notes.get(THREADS_OF_PROCESS, "")
    of_process = int(note) if note.isascii() and note.isdigit() else 1
    found = []
    for host in {given.host for given in point.given}:
        ranks = [given for given in point.given if given.host == host]
        cpus = {cpu for given in ranks for mask in given.thread_masks for cpu in mask}
        threads = min(sum(len(given.cpus) for given in ranks), len(ranks) * max(1, of_process))
        found += [Oversubscription(threads, len(cpus))] if threads > len(cpus) > 0 else []
    return max(found, key=lambda one: one.threads / one.cpus, default=None)


def worst_oversubscription(points: Iterable[Point]) -> Oversubscription | None:
    """Return the largest oversubscription of any launch, by threads per hardware thread; `None`: there is none."""
    found = (crowd for point in points if (crowd := oversubscription(point)))
    return max(found, key=lambda one: one.threads / one.cpus, default=None)


def timed_ranks(point: Point) -> list[RankTimes]:
    """Return the readings of each rank that has wall time in every lane."""
    return [one for one in point.taken if one.wall_ns and min(one.wall_ns) > 0]


def _column(nanoseconds: Iterable[int]) -> NDArray[np.float64]:
    """Return seconds, all bursts of a lane together, as one column."""
    return np.asarray(list(nanoseconds), np.float64)[:, None] * 1e-9


def _throttled_share(point: Point, ranks: Sequence[RankTimes], alone: bool, threads: float | None = None) -> float:
    """Return the throttled share of the time of threads under a quota: mean of lanes, else the greatest group.

    Args:
        threads: of each rank; `None`: as in its shape.
    """
    each = threads or known_count(point.threads)
    groups: dict[tuple[str, str], list[RankTimes]] = {}
    for one in ranks:
        host = point.given[one.rank].host if one.rank < len(point.given) else ""
        groups.setdefault((host, one.throttled_group), []).append(one)
    shares, members = [], []
    for (_, group), those in groups.items():
        # Every rank reads the same file: the greatest reading counts, over the time of all threads.
        time = float(np.mean([ns for one in those for ns in one.wall_ns])) * each * len(those)
        shares.append(min(1.0, max(one.throttled_ns for one in those) / time) if group else 0.0)
        members.append(len(those))
    return float(np.average(shares, weights=members)) if alone else max(shares)


def _stolen_share(point: Point, taken: RankTimes) -> float:
    """Return the stolen share of the time of the CPUs that a rank's threads may use."""
    masks = point.given[taken.rank].thread_masks if taken.rank < len(point.given) else ()
    cpus = len({cpu for mask in masks for cpu in mask}) or 1
    return (taken.stolen_ns or 0) / (taken.elapsed_ns * cpus) if taken.elapsed_ns else 0.0


def sustained_share(metric: Metric, times: Sketch) -> float | None:
    """Return the sustained value as a share of the undisturbed one: median over mean time of all samples.

    It multiplies a rate and divides a time. `None` without samples, or if the metric is no median of step times.

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
    """Return the caveats about lost time for one launch's value; a limited one states both values.

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
    if point.share_cores:  # its own threads share hardware threads, as requested
        found = tuple(replace(one, grade=min(one.grade, Grade.LIMITED)) for one in found)
    return (*found, *_unexplained(point, metric, lost, times))


def _queue_caveat(point: Point, metric: Metric) -> tuple[Caveat, ...]:
    """Return the caveat about run-queue time of a program; an upper bound never makes a figure unusable."""
    bound = 0.0 if metric.of_system else queue_bound(point) or 0.0
    crowd = _oversubscription_of_program(point)
    cause = f"oversubscription ({crowd.counts_text})" if crowd else "other work on the same CPUs"
    text = f"up to {100 * bound:.0f} % of the time may have been lost to {cause}"
    caveats = graded("lost time", bound, text)
    return tuple(replace(one, grade=min(one.grade, Grade.LIMITED), is_upper_bound=True) for one in caveats)


def _disagreement(share: float, lost: LostShares) -> tuple[Caveat, ...]:
    """Return the caveat that lost time in samples disagrees with the CPU clocks of the threads.

    A slower clock and a busy SMT sibling lengthen samples without taking CPU time.
    """
    if abs(share - lost.share) <= DISAGREEING:
        return ()
    shares = f"the samples show {100 * share:.0f} % lost time, the CPU clocks of the threads {100 * lost.share:.0f} %"
    return (caveat("inconsistent lost-time sources", shares, abs(share - lost.share)),)


def _unexplained(point: Point, metric: Metric, lost: LostShares, times: Sketch) -> tuple[Caveat, ...]:
    """Return the caveat that samples took longer than the recorded lost time explains.

    A loss of one rank delays all others, so the losses of all ranks together explain the samples. If CPU times are
    recorded, as much of them must be missing as is not explained, since steps may differ in length by themselves.
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
        f"samples take {1 / sustained:.1f} times the median on average, but the recorded lost time is only "
        f"{100 * lost.share:.0f} %"
    )
    if idle is not None:
        text += f"; the ranks used {100 * (1 - idle):.0f} % of the CPU time"
    return (caveat("unexplained lost time", text, missing),)


def _idle_share(point: Point) -> float | None:
    """Return the share of time in which the ranks of one host did not run, by the CPU time of processes."""
    during = point.noise.get("during", {})
    elapsed_s, used_s = during.get("time_s", 0.0), during.get("node_own_cpu_s")
    if used_s is None or elapsed_s <= 0:
        return None
    host = point.given[0].host if point.given else ""
    ranks = sum(given.host == host for given in point.given) or known_count(point.ranks)
    return max(0.0, 1 - used_s / (elapsed_s * ranks * known_count(point.threads)))


def cpu_time_of_chunk(point: Point, samples: Samples) -> float | None:
    """Return the mean CPU time of a chunk in seconds, including the harness between samples.

    `None` if the CPU time of lanes that work alone is not recorded.
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
    """Return the slowdown of a value relative to chunks that take only their CPU time; `None`: not known.

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
