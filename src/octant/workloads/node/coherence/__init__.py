"""What a line of memory costs that several hardware threads use: passed on, shared by accident, flushed."""

from octant.metric import Metric, derived, first_of, of_pairs, per, seconds
from octant.workload import Bars, Matrix, Workload
from octant.workloads.node.coherence import pairs
from octant.workloads.node.coherence.step import step

WORKLOAD = Workload(
    summary="A line of memory between hardware threads: passed on, shared by accident, flushed",
    metrics=(
        Metric(
            "time", "s", "lower",
            first_of(
                of_pairs(pairs.one_way, readings=pairs.READINGS),
                per("additions", of="phase/near"),
                per("lines", of="phase/flushing"),
            ),
            note="of a line one way, the median pair; of an atomic addition (sharing); of a line (flush)",
        ),
        Metric("nearest", "s", "lower", of_pairs(pairs.one_way, "min"), note="one way, of the pair that is quickest"),
        Metric("farthest", "s", "lower", of_pairs(pairs.one_way, "max"), note="one way, of the pair that is slowest"),
        Metric(
            "slowdown", "1", "lower",
            derived(lambda near, apart: near / apart, seconds("phase/near"), seconds("phase/apart")),
            note="additions to words at `distance` over those to words in pages of their own",
        ),
        Metric("reload", "s", "lower", per("lines", of="phase/reload"), note="dependent load of a line after its flush"),
    ),
    pictures=(Matrix("time", title="Time of a line between two hardware threads, one way"),
              Bars("distance", "slowdown"), Bars("instruction", "time")),
    step=step,
    smoke={"pattern": "pairs,sharing,flush", "trips": "100", "bytes": "64KiB"},
)  # fmt: skip
