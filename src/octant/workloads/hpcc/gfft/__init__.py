"""Discrete Fourier transform of all ranks together (HPC Challenge's global FFT)."""

from octant.limit import FMA, Known, Limit, fma_limit, longest, memory_limit
from octant.machine import Machine
from octant.metric import Metric, rate, seconds, share
from octant.record import Point
from octant.step import Scaling
from octant.workload import Curve, NoTraffic, Stacked, Traffic, Workload, any_size
from octant.workloads.hpcc.gfft.step import smooth_at_least, step

NUMBER_BYTES = 16
ARRAYS = 3  # input, output, intermediate; fewer than nine chunks of messages need up to three more


def footprint(_machine: Machine, point: Point) -> int:
    """Return the bytes of all arrays of all groups."""
    return ARRAYS * NUMBER_BYTES * int(point.knobs["n"]) * max(1, len(point.groups))


def _least_seconds(known: Known, machine: Machine, point: Point) -> Limit | None:
    """Return the larger of the compute limit and, beyond the caches, the memory limit of both passes.

    Return `None` if ranks are on several nodes: the capacity of the links is unknown.
    """
    if len({given.host for given in point.given}) > 1:
        return None
    size, moved = footprint(machine, point), point.count("bytes_read", "bytes_written")
    return longest(
        (
            fma_limit(known, point, what="executed operations by "),
            memory_limit(known, machine, point, size, moved, "two passes of 32 bytes per number"),
        )
    )


def _traffic(_machine: Machine, point: Point) -> Traffic | NoTraffic:
    """Return why the network model gives no limit: the headline metric counts operations."""
    if point.knobs["transport"] == "shared":
        return NoTraffic("ranks read each other's memory")
    return NoTraffic("its rate includes exchanges and transforms")


WORKLOAD = Workload(
    summary="Discrete Fourier transform of all ranks together (HPCC G-FFT)",
    metrics=(
        Metric(
            "rate",
            "flop/s",
            "higher",
            rate("nominal_flops"),
            note="5 n log2 n operations per transform, regardless of the algorithm",
        ),
        Metric("time", "s", "lower", seconds(), note="time of one transform, slowest rank"),
        Metric("executed rate", "flop/s", "higher", rate("flops"), note="operations that the built-in passes execute"),
        Metric(
            "exchange share",
            "1",
            "lower",
            share("phase/exchange"),
            note="share of time: waiting for other ranks and messages",
        ),
        Metric(
            "copy share", "1", "lower", share("phase/copy"), note="share of time: packing and storing received data"
        ),
    ),
    bounded_by=("memory traffic", *FMA.values()),
    least_seconds=_least_seconds,
    pictures=(
        Curve("n", title="Global Fourier transform by length", each=("transport", "schedule")),
        Stacked("transport", phases=("columns", "rows", "copy", "exchange"), waiting=("exchange",)),
    ),
    traffic=_traffic,
    footprint=footprint,
    step=step,
    not_declared=("flops",),
    scaling=Scaling("gfft", "G-FFT", "n", whole=smooth_at_least, apart=({"transport": "messages"},)),
    smoke={"n": "900,16384", "transport": "shared,messages,hierarchical"},
    messages=True,
    results={"residual": "HPCC's residual: inverse of the transform against the input, in ln n u"},
    sizes={"n": any_size},
)
