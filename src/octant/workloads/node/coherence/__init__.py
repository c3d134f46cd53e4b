"""Cache coherence: transfer of a cache line between hardware threads, false sharing, flush instructions."""

from collections.abc import Mapping

from octant.limit import LINE_TRANSFER, LimitRequest, Provides
from octant.machine import Machine
from octant.metric import Metric, derived, first_of, of_pairs, per, seconds
from octant.record import Point
from octant.workload import Bars, Matrix, Workload
from octant.workloads.node.coherence import pairs
from octant.workloads.node.coherence.step import step


def _passes_lines(_machine: Machine, point: Point) -> bool:
    return point.knobs["pattern"] == "pairs" and point.knobs["protocol"] == "exchange"


def _limit_knobs(_machine: Machine, _knobs: Mapping[str, str], _ranks: int) -> Mapping[str, str]:
    return {"pattern": "pairs", "seconds": "0.2"}


WORKLOAD = Workload(
    summary="Cache coherence: core-to-core latency, false sharing, cost of cache flushes",
    metrics=(
        Metric(
            "time", "s", "lower",
            first_of(
                of_pairs(pairs.one_way, readings=pairs.READINGS),
                per("additions", of="phase/near"),
                per("lines", of="phase/flushing"),
            ),
            note="one-way transfer, median pair (pairs); atomic addition (sharing); flush of a line (flush)",
        ),
        Metric("nearest", "s", "lower", of_pairs(pairs.one_way, "min"), note="one-way transfer, fastest pair"),
        Metric("farthest", "s", "lower", of_pairs(pairs.one_way, "max"), note="one-way transfer, slowest pair"),
        Metric(
            "slowdown", "1", "lower",
            derived(lambda near, apart: near / apart, seconds("phase/near"), seconds("phase/apart")),
            note="time of additions to words at `distance` over additions to words in separate pages",
        ),
        Metric("reload", "s", "lower", per("lines", of="phase/reload"), note="dependent load of a flushed line"),
    ),
    pictures=(Matrix("time", title="Core-to-core latency, one way"),
              Bars("distance", "slowdown"), Bars("instruction", "time")),
    provides=(
        Provides(
            LINE_TRANSFER, "nearest", _passes_lines,
            measured_by=LimitRequest(_limit_knobs, "core-to-core latency", of_pairs=True),
        ),
    ),
    step=step,
    aliases={
        "core-to-core": {"pattern": "pairs"},
        "c2c": {"pattern": "pairs"},
        "false-sharing": {"pattern": "sharing"},
    },
    smoke={"pattern": "pairs,sharing,flush", "trips": "100", "bytes": "64KiB"},
)  # fmt: skip
