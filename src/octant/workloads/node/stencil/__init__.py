"""The wave equation on a grid in three dimensions, by differences of eighth order: what blocking brings."""

from octant.limit import FMA, Known, Limit, fma_limit, longest, memory_limit
from octant.machine import Machine
from octant.metric import Metric, per, rate
from octant.record import Point, known_count
from octant.workload import Bars, Curve, Workload
from octant.workloads.node.stencil.step import step

_BYTES = {"single": 4, "double": 8}
_READ_OR_OVERWRITTEN = 3  # arrays: two levels and the factor


def footprint(_machine: Machine, point: Point) -> int:
    """The arrays of all ranks."""
    n, planes = int(point.knobs["n"]), int(point.knobs["planes"])
    arrays = _READ_OR_OVERWRITTEN + (point.knobs["store"] == "streaming")
    return arrays * _BYTES[point.knobs["element"]] * n * n * (planes or n) * known_count(point.working_ranks)


def _least_seconds(known: Known, machine: Machine, point: Point) -> Limit | None:
    """Every array once from memory or to it in each pass, however many steps that makes; or all operations fused."""
    steps = int(point.notes["steps"])
    moved = point.count("bytes_read", "bytes_written") // steps
    note = "each array once in a step" if steps == 1 else f"each array once in {steps} steps"
    memory = memory_limit(known, machine, point, footprint(machine, point), moved, note)
    return longest((memory, fma_limit(known, point, point.knobs["element"])))


WORKLOAD = Workload(
    summary="The wave equation in three dimensions by a stencil of 25 points, plain and blocked in space and time",
    metrics=(
        Metric("points", "point/s", "higher", rate("points"), note="a point of the grid by one step"),
        Metric("time", "s", "lower", per("points"), note="of a point and step"),
        Metric("flops", "flop/s", "higher", rate("flops"), note="33 a point, as the source has them"),
    ),
    bounded_by=("memory traffic", *FMA.values()),
    least_seconds=_least_seconds,
    pictures=(Curve("n", title="Stencil by edge of the grid"), Bars("blocking", title="Stencil by blocking")),
    footprint=footprint,
    step=step,
    smoke={"n": "16", "element": "single,double", "blocking": "none,yz,time"},
)
