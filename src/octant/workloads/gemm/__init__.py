"""Matrix times matrix by a tuned library: the rate that the best general code reaches."""

from octant.limit import Known, Limit
from octant.machine import Machine
from octant.metric import Metric, rate
from octant.record import Point
from octant.workload import Curve, Workload


def _least_seconds(known: Known, _machine: Machine, point: Point) -> Limit | None:
    """The rate of multiply-adds of the same element that this run measured on the same hardware threads."""
    element = point.knobs["element"]
    best = known.best(f"fma {element}", point.hardware_threads)
    if best is None:
        return None
    return Limit(point.count("flops") / best.value, f"{element} multiply-adds that this run measured")


WORKLOAD = Workload(
    summary="Matrix times matrix, double and single, by a tuned library that is loaded at run time",
    metrics=(Metric("rate", "flop/s", "higher", rate("flops"), note="2 n³, whatever the library does"),),
    bounded_by=("fma double", "fma single"),
    least_seconds=_least_seconds,
    pictures=(Curve("n"),),
    smoke={"n": "100", "library": "plain"},
)
