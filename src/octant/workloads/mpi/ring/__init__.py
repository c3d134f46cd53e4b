"""Rings: every rank exchanges with both neighbours, in the order of the ranks and in random orders (HPC Challenge)."""

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
"""The ring of HPC Challenge's bandwidth, of which no run is needed: nothing is computed."""

Statistic = Callable[[NDArray[np.float64]], float]


def _message_seconds(statistic: Statistic) -> Callable[[Point, Samples], float]:
    """Of a message: half an exchange of the slowest rank, each ring's by `statistic`, rings averaged geometrically."""

    def of(point: Point, samples: Samples) -> float:
        logs = [
            math.log(statistic(ns) / (2 * int(point.knobs["loops"])) * 1e-9)
            for group in {one.head.group for one in samples.series}
            for ns in _by_ring(point, samples, group)
        ]
        return math.exp(sum(logs) / len(logs)) if logs else math.nan

    return of


def _by_ring(point: Point, samples: Samples, group: int) -> Iterable[NDArray[np.float64]]:
    """Times of the slowest rank, ns, for each ring that was measured; nothing where the record keeps no samples."""
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
    """In the time of a message, half an exchange, half of each of the two messages is carried."""
    order = point.knobs["order"]
    half = point.count("bytes_sent") / max(1, point.count("messages")) / 2
    cached = point.knobs.get("buffers", "hot") != "rotating"
    text = f"{order} rings, both neighbours at once"
    return Traffic(f"{order}-ring", half, description=text, may_be_cached=cached, parts=2)


WORKLOAD = Workload(
    summary="An exchange with both neighbours in ordered or random rings",
    metrics=(
        Metric(
            "time", "s", "lower", custom(_message_seconds(_median)),
            note="of a message: half an exchange of the slowest rank; median of each ring, their geometric mean",
        ),
        Metric("bandwidth", "B/s", "higher", custom(_bandwidth(_median)), note="of each rank one way"),
        Metric(
            "HPCC time", "s", "lower", custom(_message_seconds(_least)),
            note="with the least time of each ring, as HPCC; of one method, where HPCC takes the better of two",
        ),
        Metric("HPCC bandwidth", "B/s", "higher", custom(_bandwidth(_least)), note="one way, in that time"),
    ),
    pictures=(Curve("bytes", each=("order", "method", "buffers")),),
    traffic=_traffic,
    step=step,
    scaling=Scaling("random-ring", "random ring, a rank", "bytes", read=parse_bytes, apart=(_OF_HPCC,)),
    smoke={"bytes": "8,1000", "order": "ordered,random", "rings": "3", "buffers": "hot,rotating,zero"},
    alone=("method",),
)  # fmt: skip
