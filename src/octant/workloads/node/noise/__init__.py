"""A fixed quantum of work, over and over: the share of time that the system takes, and in which pieces."""

import numpy as np
from numpy.typing import NDArray

from octant.metric import Interruptions, Metric, derived, interrupted, per, result
from octant.record import Point, Reduced, Samples, Series
from octant.workload import LostTime, Workload
from octant.workloads.node.noise.step import step

UNDISTURBED = 0.05  # the share of quanta that are quicker than the undisturbed one
PAUSE_NS = 10_000  # the harness takes less between two quanta: two readings of clocks, and at times a page fault


def beyond_the_quick_quantum(_point: Point, samples: Samples) -> list[Interruptions]:
    """The time of each quantum beyond the lane's undisturbed one, with the pause before it, as one interruption.

    Undisturbed is the 5th percentile. A pause is what a gap between two quanta of a burst lasts beyond the median gap,
    if this is more than `PAUSE_NS`; the time of a burst before its first quantum and after its last is one gap. What
    happens between two bursts, where the harness works, is not counted, and in records that do not say where bursts
    begin, no pause is. Where a record is too large to keep every quantum, its sketches of all quanta and gaps are used.
    """
    kept = [part for part in samples.reduced if part.name == "step" and part.sketch.count and part.ranks]
    if kept:
        return [_of_sketches(part) for part in kept]
    return [_of_lane(lane) for lane in samples.series if lane.head.name == "step" and len(lane.values)]


def _of_lane(lane: Series) -> Interruptions:
    quanta, pauses = lane.values, np.zeros(len(lane.values))
    if lane.bursts and lane.gap_ns is not None:
        gaps = lane.gap_ns.copy()
        ends = [*(first for first, _ in lane.bursts[1:]), len(quanta)]
        for (first, wall_ns), end in zip(lane.bursts, ends, strict=True):
            gaps[first] = wall_ns - quanta[first:end].sum() - gaps[first + 1 : end].sum()
        pauses = _pauses(gaps, float(np.median(gaps)))
    lost = np.maximum(quanta - np.quantile(quanta, UNDISTURBED), 0) + pauses
    whole_ns = float(quanta.sum() + pauses.sum())
    return Interruptions(lane.head.rank, lane.head.thread, lost, np.ones(len(lost), dtype=np.int64), whole_ns)


def _of_sketches(part: Reduced) -> Interruptions:
    quanta, counts = part.sketch.values()
    lost = np.maximum(quanta - part.sketch.quantile(UNDISTURBED), 0)
    whole_ns = float(quanta @ counts)
    if part.gaps is not None and part.gaps.count:
        gaps, gap_counts = part.gaps.values()
        pauses = _pauses(gaps, part.gaps.quantile(0.5))
        lost, counts = np.concatenate([lost, pauses]), np.concatenate([counts, gap_counts])
        whole_ns += float(pauses @ gap_counts)
    return Interruptions(part.ranks[0].rank, 0, lost, counts, whole_ns)


def _pauses(gaps: NDArray[np.float64], usual_ns: float) -> NDArray[np.float64]:
    beyond: NDArray[np.float64] = gaps - usual_ns
    return np.where(beyond > PAUSE_NS, beyond, 0.0)


def off_the_cpu(point: Point, _samples: Samples) -> list[Interruptions]:
    """What each thread's own CPU clock lacks of its bursts, in one piece; nothing in records without these clocks."""
    return [
        Interruptions(one.rank, thread, np.array([max(0.0, wall - cpu)]), np.ones(1, dtype=np.int64), wall)
        for one in point.taken
        if one.cpu_ns
        for thread, (wall, cpu) in enumerate(zip(one.wall_ns, one.cpu_ns, strict=True))
    ]


def moves_a_second(moves: float, quanta: float, quantum_s: float) -> float:
    """Of one thread, in the time of its quanta."""
    return moves / (quanta * quantum_s)


WORKLOAD = Workload(
    summary="A fixed quantum of work, over and over: time that the operating system takes",
    metrics=(
        Metric(
            "lost", "1", "lower", interrupted(beyond_the_quick_quantum),
            note="share of the time beyond the undisturbed quantum", of_lost_time=True,
        ),
        Metric(
            "lost by CPU clock", "1", "lower", interrupted(off_the_cpu),
            note="share of the time in which threads did not run", of_lost_time=True,
        ),
        Metric("quantum", "s", "lower", per("quanta"), note="the typical quantum"),
        Metric(
            "moves", "move/s", "lower",
            derived(moves_a_second, result("moves to another hardware thread"), result("quanta"), per("quanta")),
            note="of a thread to another hardware thread, seen after each quantum", of_system=True,
        ),
    ),
    pictures=(LostTime("Noise"),),
    step=step,
    smoke={"additions": "8000"},
)  # fmt: skip
