"""OS noise: a fixed work quantum, repeated; share and durations of interruptions (FWQ benchmark)."""

import numpy as np
from numpy.typing import NDArray

from octant.metric import Interruptions, Metric, derived, interrupted, per, result
from octant.record import Point, Reduced, Samples, Series
from octant.workload import LostTime, Workload
from octant.workloads.node.noise.step import step

UNDISTURBED = 0.05  # quantile of the quanta that counts as undisturbed
PAUSE_NS = 10_000  # above the time of the harness between two quanta (two clock readings, occasionally a page fault)


def beyond_the_quick_quantum(_point: Point, samples: Samples) -> list[Interruptions]:
    """Return the excess of each quantum over the undisturbed quantum, with the pause before it, as one interruption.

    The undisturbed quantum is the 5th percentile of the lane. A pause is the excess of a gap between two quanta over
    the median gap, if it is more than `PAUSE_NS`. The time of a burst before its first and after its last quantum is
    one gap. Time between bursts is not counted. Records without bursts have no pauses. Records without samples give
    their sketches of quanta and gaps.
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
    """Return the wall time of bursts in which each thread did not run (by its CPU clock), as one interruption."""
    return [
        Interruptions(one.rank, thread, np.array([max(0.0, wall - cpu)]), np.ones(1, dtype=np.int64), wall)
        for one in point.taken
        if one.cpu_ns
        for thread, (wall, cpu) in enumerate(zip(one.wall_ns, one.cpu_ns, strict=True))
    ]


def migrations_per_second(moves: float, quanta: float, quantum_s: float) -> float:
    """Return the migrations of one thread per second of its quanta."""
    return moves / (quanta * quantum_s)


WORKLOAD = Workload(
    summary="OS noise: time taken from a fixed work quantum (FWQ) by the operating system and hypervisor",
    metrics=(
        Metric(
            "lost", "1", "lower", interrupted(beyond_the_quick_quantum),
            note="share of time in excess of the undisturbed quantum", of_lost_time=True,
        ),
        Metric(
            "lost by CPU clock", "1", "lower", interrupted(off_the_cpu),
            note="share of time in which threads did not run", of_lost_time=True,
        ),
        Metric("quantum", "s", "lower", per("quanta"), note="median time of a quantum"),
        Metric(
            "moves", "move/s", "lower",
            derived(migrations_per_second, result("moves to another hardware thread"), result("quanta"), per("quanta")),
            note="migrations of a thread to another hardware thread, checked after each quantum", of_system=True,
        ),
    ),
    pictures=(LostTime("Noise"),),
    step=step,
    aliases={
        "fwq": {},
        "osnoise": {},
        "jitter": {},
    },
    smoke={"additions": "8000"},
)  # fmt: skip
