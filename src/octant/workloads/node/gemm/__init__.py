"""Matrix times matrix by a tuned library: the rate that the best general code reaches."""

from octant.limit import FMA, Known, Limit, fma_limit
from octant.machine import Machine
from octant.metric import Metric, derived, per, rate
from octant.record import Point, known_count
from octant.workload import Curve, Workload, any_size
from octant.workloads.node.gemm.step import ELEMENT_BYTES, step


def _least_seconds(known: Known, _machine: Machine, point: Point) -> Limit | None:
    """The rate of multiply-adds that this run measured on the same hardware threads, of this precision if it did."""
    return fma_limit(known, point, point.knobs["element"].partition("-")[0])


def _footprint(_machine: Machine, point: Point) -> int:
    """Three square matrices in each rank."""
    n = int(point.knobs["n"])
    return (
        3
        * ELEMENT_BYTES[point.knobs["element"]]
        * n
        * (n + int(point.knobs.get("padding", 0)))
        * known_count(point.working_ranks)
    )


WORKLOAD = Workload(
    summary="Matrix times matrix, real and complex, by any tuned library, which is loaded at run time",
    metrics=(
        Metric("rate", "flop/s", "higher", rate("flops"), note="2 n³, of complex numbers 8 n³, whatever is computed"),
        Metric(
            "rate per rank", "flop/s", "higher", derived(lambda seconds: 1 / seconds, per("flops")),
            note="of a call: the median of all ranks together",
        ),
    ),
    bounded_by=tuple(FMA.values()),
    least_seconds=_least_seconds,
    pictures=(Curve("n", title="Matrix multiply by size"),),
    footprint=_footprint,
    step=step,
    smoke={"n": "100", "library": "plain"},
    apart=("library", "isa"),
    ours=("plain",),
    sizes={"n": any_size},
)  # fmt: skip
