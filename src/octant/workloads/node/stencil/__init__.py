"""Three-dimensional wave equation by a 25-point stencil of eighth order, with and without blocking."""

from octant.limit import FMA, Known, Limit, fma_limit, longest, memory_limit
from octant.machine import Machine
from octant.metric import Metric, per, rate
from octant.record import Point, known_count
from octant.workload import Bars, Curve, Workload
from octant.workloads.node.stencil.step import step

_BYTES = {"single": 4, "double": 8}
_READ_OR_OVERWRITTEN = 3  # arrays: two levels and the factor


def footprint(_machine: Machine, point: Point) -> int:
    """Return the bytes of the arrays of all ranks."""
    n, planes = int(point.knobs["n"]), int(point.knobs["planes"])
    arrays = _READ_OR_OVERWRITTEN + (point.knobs["store"] == "streaming")
    return arrays * _BYTES[point.knobs["element"]] * n * n * (planes or n) * known_count(point.working_ranks)


def _least_seconds(known: Known, machine: Machine, point: Point) -> Limit | None:
    """Return the larger of the memory limit (each array once per pass) and the compute limit."""
    steps = int(point.notes["steps"])
    moved = point.count("bytes_read", "bytes_written") // steps
    note = "each array once per step" if steps == 1 else f"each array once per {steps} steps"
    memory = memory_limit(known, machine, point, footprint(machine, point), moved, note)
    return longest((memory, fma_limit(known, point, point.knobs["element"])))


WORKLOAD = Workload(
    summary="25-point stencil of the 3-D wave equation, plain and blocked in space and time",
    metrics=(
        Metric("points", "point/s", "higher", rate("points"), note="grid point updates"),
        Metric("time", "s", "lower", per("points"), note="time of one grid point update"),
        Metric(
            "flops",
            "flop/s",
            "higher",
            rate("flops"),
            note="33 operations per grid point update, counted in the source",
        ),
    ),
    bounded_by=("memory traffic", *FMA.values()),
    least_seconds=_least_seconds,
    pictures=(Curve("n", title="Stencil by grid size"), Bars("blocking", title="Stencil by blocking")),
    footprint=footprint,
    step=step,
    smoke={"n": "16", "element": "single,double", "blocking": "none,yz,time"},
)
