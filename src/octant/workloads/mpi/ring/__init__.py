"""Rings: each rank exchanges messages with both neighbours, in rank order and random orders (HPC Challenge)."""

import math
from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray

from octant.machine import Machine
from octant.metric import Metric, custom
from octant.record import Point, Samples
from octant.step import Scaling
from octant.units import parse_bytes
from octant.workload import Curve, Traffic, Workload
from octant.workloads.mpi.ring.step import step

_OF_HPCC = {"order": "random", "bytes": "2000000", "loops": "1", "buffers": "hot"}
"""Knobs of HPC Challenge's ring bandwidth, which the model predicts without a run (no computation)."""

Statistic = Callable[[NDArray[np.float64]], float]


def _message_seconds(statistic: Statistic) -> Callable[[Point, Samples], float]:
    """Return the time of a message: half an exchange of the slowest rank; geometric mean over rings."""

    def of(point: Point, samples: Samples) -> float:
        logs = [
            math.log(statistic(ns) / (2 * int(point.knobs["loops"])) * 1e-9)
            for group in {one.head.group for one in samples.series}
            for ns in _by_ring(point, samples, group)
        ]
        return math.exp(sum(logs) / len(logs)) if logs else math.nan

    return of


def _by_ring(point: Point, samples: Samples, group: int) -> Iterable[NDArray[np.float64]]:
    """Return the times of the slowest rank for each ring, ns; empty if the record contains no samples."""
    of = [one for one in samples.series if one.head.group == group]
    steps = [one.values[point.warmup :] for one in of if one.head.name == "step"]
    rings = next((one.values[point.warmup :] for one in of if one.head.name == "reading/ring"), None)
    if not steps or rings is None or any(len(one) != len(rings) for one in steps):
        return []
    slowest = np.max(steps, axis=0)
    return [slowest[rings == ring] for ring in np.unique(rings)]


def _median(ns: NDArray[np.float64]) -> float:
    return float(np.median(ns))


def _least(ns: NDArray[np.float64]) -> float:
    return float(ns.min())


def _bandwidth(statistic: Statistic) -> Callable[[Point, Samples], float]:
    def of(point: Point, samples: Samples) -> float:
        seconds = _message_seconds(statistic)(point, samples)
        sent = point.count("bytes_sent") / max(1, point.count("messages"))
        return sent / seconds if sent else math.nan

    return of


def _traffic(_machine: Machine, point: Point) -> Traffic:
    """Return the traffic of half an exchange: half of each of the two messages."""
    order = point.knobs["order"]
    half = point.count("bytes_sent") / max(1, point.count("messages")) / 2
    cached = point.knobs.get("buffers", "hot") != "rotating"
    text = f"{order} rings, both neighbours at once"
    return Traffic(f"{order}-ring", half, description=text, may_be_cached=cached, parts=2)


WORKLOAD = Workload(
    summary="Exchange with both neighbours in ordered or random rings",
    metrics=(
        Metric(
            "time", "s", "lower", custom(_message_seconds(_median)),
            note="one message: half an exchange of the slowest rank; geometric mean of the medians of rings",
        ),
        Metric("bandwidth", "B/s", "higher", custom(_bandwidth(_median)), note="each rank, one direction"),
        Metric(
            "HPCC time", "s", "lower", custom(_message_seconds(_least)),
            note="from the shortest time of each ring (as HPCC, for one method; HPCC takes the faster of two)",
        ),
        Metric("HPCC bandwidth", "B/s", "higher", custom(_bandwidth(_least)), note="one direction, from HPCC time"),
    ),
    pictures=(Curve("bytes", each=("order", "method", "buffers")),),
    traffic=_traffic,
    step=step,
    scaling=Scaling("random-ring", "random ring, a rank", "bytes", read=parse_bytes, apart=(_OF_HPCC,)),
    smoke={"bytes": "8,1000", "order": "ordered,random", "rings": "3", "buffers": "hot,rotating,zero"},
    alone=("method",),
)  # fmt: skip
