"""A fixed quantum of work, over and over: the share of time that the system takes, and in which pieces."""

import numpy as np
from numpy.typing import NDArray

from octant.metric import Metric, custom, per
from octant.record import Point, Samples
from octant.record.sketch import Sketch
from octant.workload import Histogram, Workload

UNDISTURBED = 0.05  # the share of quanta that are quicker than the undisturbed one


def lost_share(_point: Point, samples: Samples) -> float:
    """The share of the time in quanta that was beyond each lane's undisturbed quantum, all lanes together.

    Undisturbed is the 5th percentile. Time in quanta only: what happens between two bursts, where the harness works, is
    not counted. Where a record is too large to keep every quantum, its sketch of all quanta is used.
    """
    quanta = [(sketch.quantile(UNDISTURBED), *sketch.values()) for sketch in _sketches(samples)] or [
        (float(np.quantile(lane, UNDISTURBED)), lane, np.ones(len(lane), dtype=np.int64)) for lane in _lanes(samples)
    ]
    beyond = sum(float((np.maximum(times - quick, 0) * counts).sum()) for quick, times, counts in quanta)
    total = sum(float((times * counts).sum()) for _, times, counts in quanta)
    return beyond / total if total else 0.0


def lost_by_clock(point: Point, _samples: Samples) -> float:
    """The share of the bursts' time that the threads' own CPU clocks lack; not a number in records without them."""
    wall = sum(ns for one in point.taken for ns in one.wall_ns)
    cpu = sum(ns for one in point.taken for ns in one.cpu_ns)
    return max(0.0, 1 - cpu / wall) if wall and cpu else float("nan")


def _sketches(samples: Samples) -> list[Sketch]:
    return [part.sketch for part in samples.reduced if part.name == "step" and part.sketch.count]


def _lanes(samples: Samples) -> list[NDArray[np.float64]]:
    return [series.values for series in samples.series if series.head.name == "step" and len(series.values)]


WORKLOAD = Workload(
    summary="A fixed quantum of work, over and over: time that the operating system takes",
    metrics=(
        Metric(
            "lost", "1", "lower", custom(lost_share),
            note="share of the time beyond the undisturbed quantum", of_lost_time=True,
        ),
        Metric(
            "lost by CPU clock", "1", "lower", custom(lost_by_clock),
            note="share of the time in which threads did not run", of_lost_time=True,
        ),
        Metric("quantum", "s", "lower", per("quanta"), note="the typical quantum"),
    ),
    pictures=(Histogram(title="Time that the system takes", weighs="time"),),
    smoke={"additions": "8000"},
)  # fmt: skip
