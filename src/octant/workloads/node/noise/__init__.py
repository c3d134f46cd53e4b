"""A fixed quantum of work, over and over: the share of time that the system takes, and in which pieces."""

import numpy as np
from numpy.typing import NDArray

from octant.metric import Interruptions, Metric, derived, interrupted, per, result
from octant.record import Point, Samples
from octant.workload import LostTime, Workload

UNDISTURBED = 0.05  # the share of quanta that are quicker than the undisturbed one


def beyond_the_quick_quantum(_point: Point, samples: Samples) -> list[Interruptions]:
    """The time of each quantum beyond the lane's undisturbed one, as one interruption.

    Undisturbed is the 5th percentile. Time in quanta only: what happens between two bursts, where the harness works, is
    not counted. Where a record is too large to keep every quantum, its sketch of all quanta is used.
    """
    kept = [part for part in samples.reduced if part.name == "step" and part.sketch.count and part.ranks]
    if kept:
        return [
            _beyond(part.ranks[0].rank, 0, part.sketch.quantile(UNDISTURBED), *part.sketch.values()) for part in kept
        ]
    return [
        _beyond(lane.head.rank, lane.head.thread, float(np.quantile(lane.values, UNDISTURBED)), lane.values)
        for lane in samples.series
        if lane.head.name == "step" and len(lane.values)
    ]


def _beyond(
    rank: int, thread: int, quick: float, quanta: NDArray[np.float64], counts: NDArray[np.int64] | None = None
) -> Interruptions:
    counts = np.ones(len(quanta), dtype=np.int64) if counts is None else counts
    return Interruptions(rank, thread, np.maximum(quanta - quick, 0), counts, float(quanta @ counts))


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
    smoke={"additions": "8000"},
)  # fmt: skip
