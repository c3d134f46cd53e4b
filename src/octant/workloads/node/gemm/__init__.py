"""Matrix times matrix by a tuned library: the rate that the best general code reaches."""

from octant.limit import FMA, Known, Limit, fma_limit
from octant.machine import Machine
from octant.metric import Metric, rate
from octant.record import Point
from octant.workload import Curve, Workload


def _least_seconds(known: Known, _machine: Machine, point: Point) -> Limit | None:
    """The rate of multiply-adds that this run measured on the same hardware threads, of the same element if it did."""
    return fma_limit(known, point, point.knobs["element"])


def _footprint(_machine: Machine, point: Point) -> int:
    """Three square matrices in each rank."""
    element = 4 if point.knobs["element"] == "single" else 8
    return 3 * element * int(point.knobs["n"]) ** 2 * point.working_ranks


WORKLOAD = Workload(
    summary="Matrix times matrix, double and single, by a tuned library that is loaded at run time",
    metrics=(Metric("rate", "flop/s", "higher", rate("flops"), note="2 n³, whatever the library does"),),
    bounded_by=tuple(FMA.values()),
    least_seconds=_least_seconds,
    pictures=(Curve("n", title="Matrix multiply by size"),),
    footprint=_footprint,
    smoke={"n": "100", "library": "plain"},
)
