"""The discrete Fourier transform of one core, by our own code and by any library with FFTW 3's interface."""

from octant.limit import FMA, Known, Limit, fma_limit, longest, memory_limit
from octant.machine import Machine
from octant.metric import Metric, rate, result, seconds
from octant.record import Point, known_count
from octant.workload import Curve, Workload
from octant.workloads.node.fft.step import step


def footprint(_machine: Machine, point: Point) -> int:
    """What goes in and what comes out, of all ranks and threads."""
    return point.count("bytes_read", "bytes_written") * known_count(point.threads) * known_count(point.working_ranks)


def _least_seconds(known: Known, machine: Machine, point: Point) -> Limit | None:
    """The longer of two: of our own code its operations by multiply-adds; beyond the caches each number once."""
    moved = point.count("bytes_read", "bytes_written")
    memory = memory_limit(known, machine, point, footprint(machine, point), moved, "each number in and out once")
    if point.knobs["library"] != "octant":
        return memory
    element = point.knobs["element"].partition("-")[0]
    return longest((fma_limit(known, point, element, what="its own operations by "), memory))


WORKLOAD = Workload(
    summary="The discrete Fourier transform by our own code, FFTW, MKL and others: 1-D, 2-D, real, complex, batched",
    metrics=(
        Metric("rate", "flop/s", "higher", rate("nominal_flops"), note="5 N log2 N, of real numbers 2.5 N log2 N"),
        Metric("time", "s", "lower", seconds(), note="of a call"),
        Metric("planning", "s", "lower", result("planning"), note="before the first transform"),
        Metric("executed rate", "flop/s", "higher", rate("flops"), note="operations of our own code, counted"),
    ),
    bounded_by=("memory traffic", *FMA.values()),
    least_seconds=_least_seconds,
    pictures=(Curve("n", title="Fourier transform by length"),),
    footprint=footprint,
    step=step,
    not_declared=("flops",),
    smoke={"n": "60,96", "rows": "0,6", "batch": "1,19", "element": "double-complex,single"},
    apart=("library",),
    ours=("octant", "plain"),
)
