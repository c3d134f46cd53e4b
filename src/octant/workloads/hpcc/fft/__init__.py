"""Discrete Fourier transform of each rank (HPC Challenge's FFT: single and star)."""

from octant.limit import FMA, Known, Limit, fma_limit, longest, memory_limit
from octant.machine import Machine
from octant.metric import Metric, rate, seconds
from octant.record import Point, known_count
from octant.workload import Curve, Workload, any_size
from octant.workloads.hpcc.fft.step import step

NUMBER_BYTES = 16


def footprint(_machine: Machine, point: Point) -> int:
    """Return the bytes of input, output and intermediate array of all ranks and threads."""
    arrays = 3 if point.knobs["library"] == "octant" else 2
    return arrays * NUMBER_BYTES * int(point.knobs["n"]) * known_count(point.threads) * known_count(point.working_ranks)


def _least_seconds(known: Known, machine: Machine, point: Point) -> Limit | None:
    """Return the larger of the compute limit and, beyond the caches, the memory limit of both passes."""
    if point.knobs["part"] != "transform" or point.knobs["library"] != "octant":
        return None
    size, moved = footprint(machine, point), point.count("bytes_read", "bytes_written")
    return longest(
        (
            fma_limit(known, point, what="executed operations by "),
            memory_limit(known, machine, point, size, moved, "two passes of 32 bytes per number"),
        )
    )


WORKLOAD = Workload(
    summary="Discrete Fourier transform of each rank independently (HPCC FFT: single, star)",
    metrics=(
        Metric(
            "rate",
            "flop/s",
            "higher",
            rate("nominal_flops"),
            note="5 n log2 n operations per transform, regardless of the algorithm",
        ),
        Metric("time", "s", "lower", seconds(), note="time of one transform, or of creating its plan"),
        Metric("executed rate", "flop/s", "higher", rate("flops"), note="operations that the built-in passes execute"),
    ),
    bounded_by=("memory traffic", *FMA.values()),
    least_seconds=_least_seconds,
    pictures=(Curve("n", title="Fourier transform by length", each=("library", "effort")),),
    footprint=footprint,
    step=step,
    not_declared=("flops",),
    smoke={"n": "2,60,1024,1000,243", "stores": "auto,streaming"},
    sizes={"n": any_size},
)
