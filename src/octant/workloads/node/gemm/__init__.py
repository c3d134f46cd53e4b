"""Matrix times matrix by a tuned library: the rate that the best general code reaches."""

from octant.limit import Known, Limit
from octant.machine import Machine
from octant.metric import Metric, rate
from octant.record import Point
from octant.workload import Curve, Workload

SINGLE_TO_DOUBLE = 2  # elements of a vector


def _least_seconds(known: Known, _machine: Machine, point: Point) -> Limit | None:
    """The rate of multiply-adds that this run measured on the same hardware threads, of the same element if it did."""
    element, threads = point.knobs["element"], point.hardware_threads
    best = known.best(f"fma {element}", threads)
    if best is not None:
        return Limit(point.count("flops") / best.value, f"{element} multiply-adds that this run measured")
    double = known.best("fma double", threads)
    if double is None:
        return None
    source = "double multiply-adds that this run measured, twice for single precision"
    return Limit(point.count("flops") / (SINGLE_TO_DOUBLE * double.value), source)


WORKLOAD = Workload(
    summary="Matrix times matrix, double and single, by a tuned library that is loaded at run time",
    metrics=(Metric("rate", "flop/s", "higher", rate("flops"), note="2 n³, whatever the library does"),),
    bounded_by=("fma double", "fma single"),
    least_seconds=_least_seconds,
    pictures=(Curve("n"),),
    smoke={"n": "100", "library": "plain"},
)
