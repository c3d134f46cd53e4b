"""Discrete Fourier transform on one core, by built-in code or any library with the FFTW 3 interface."""

from octant.limit import FMA, Known, Limit, fma_limit, longest, memory_limit
from octant.machine import Machine
from octant.metric import Metric, rate, result, seconds
from octant.record import Point, known_count
from octant.workload import Curve, Workload
from octant.workloads.node.fft.step import step


def footprint(_machine: Machine, point: Point) -> int:
    """Return the bytes of input and output of all ranks and threads."""
    return point.count("bytes_read", "bytes_written") * known_count(point.threads) * known_count(point.working_ranks)


def _least_seconds(known: Known, machine: Machine, point: Point) -> Limit | None:
    """Return the larger of the compute limit (built-in code only) and, beyond the caches, the memory limit."""
    moved = point.count("bytes_read", "bytes_written")
    memory = memory_limit(known, machine, point, footprint(machine, point), moved, "each number read and written once")
    if point.knobs["library"] != "octant":
        return memory
    element = point.knobs["element"].partition("-")[0]
    return longest((fma_limit(known, point, element, what="executed operations by "), memory))


WORKLOAD = Workload(
    summary="Discrete Fourier transform by built-in code, FFTW, MKL and others: 1-D, 2-D, real, complex, batched",
    metrics=(
        Metric(
            "rate",
            "flop/s",
            "higher",
            rate("nominal_flops"),
            note="5 N log2 N operations; 2.5 N log2 N for real numbers",
        ),
        Metric("time", "s", "lower", seconds(), note="time of one call"),
        Metric("planning", "s", "lower", result("planning"), note="time of planning before the first transform"),
        Metric("executed rate", "flop/s", "higher", rate("flops"), note="operations that the built-in code executes"),
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
