"""Matrix multiplication by a tuned BLAS library: the highest rate of general code."""

from octant.limit import FMA, Known, Limit, fma_limit
from octant.machine import Machine
from octant.metric import Metric, derived, per, rate
from octant.record import Point, known_count
from octant.workload import Curve, Workload, any_size
from octant.workloads.node.gemm.step import ELEMENT_BYTES, step


def _least_seconds(known: Known, _machine: Machine, point: Point) -> Limit | None:
    """Return the time at the multiply-add rate of this run on the same hardware threads."""
    return fma_limit(known, point, point.knobs["element"].partition("-")[0])


def _footprint(_machine: Machine, point: Point) -> int:
    """Return the bytes of three square matrices per rank."""
    n = int(point.knobs["n"])
    return (
        3
        * ELEMENT_BYTES[point.knobs["element"]]
        * n
        * (n + int(point.knobs.get("padding", 0)))
        * known_count(point.working_ranks)
    )


WORKLOAD = Workload(
    summary="Matrix multiplication (GEMM), real and complex, by any BLAS library, loaded at run time",
    metrics=(
        Metric("rate", "flop/s", "higher", rate("flops"), note="2 n³ operations; complex: 8 n³"),
        Metric(
            "rate per rank", "flop/s", "higher", derived(lambda seconds: 1 / seconds, per("flops")),
            note="from the median time of a call over all ranks",
        ),
    ),
    bounded_by=tuple(FMA.values()),
    least_seconds=_least_seconds,
    pictures=(Curve("n", title="Matrix multiplication by size"),),
    footprint=_footprint,
    step=step,
    aliases={
        "dgemm": {"element": "double"},
        "sgemm": {"element": "single"},
        "zgemm": {"element": "double-complex"},
        "cgemm": {"element": "single-complex"},
        "matmul": {},
    },
    smoke={"n": "100", "library": "plain"},
    apart=("library", "isa"),
    ours=("plain",),
    sizes={"n": any_size},
)  # fmt: skip
