"""MPI collective operations: blocking, overlapped with computation, and persistent."""

from octant.limit import Known, Limit
from octant.machine import Machine
from octant.metric import (
    FirstOf,
    How,
    Metric,
    Reduce,
    custom,
    derived,
    first_of,
    groups,
    overlap_of,
    ranks,
    rate,
    seconds,
    steps,
)
from octant.record import Point, Samples, known_count
from octant.units import parse_bytes
from octant.workload import Bars, CollectiveTraffic, Curve, NoTraffic, Spread, Workload
from octant.workloads.mpi.collective.step import step

PURE, COMPUTE, OVERLAPPED = "phase/pure", "phase/compute", "phase/overlapped"
LARGE_BYTES = 65536  # traffic of a rank below which bandwidth does not determine the time


def _of_call(*over: Reduce, undisturbed: bool = False) -> FirstOf:
    """Return the time of the operation without computation: a phase of a non-blocking step, else the step."""
    return first_of(
        seconds(PURE, over=over or None, undisturbed=undisturbed), seconds(over=over or None, undisturbed=undisturbed)
    )


def _of_slowest(how: How, undisturbed: bool = False) -> FirstOf:
    """Reduce over calls; the time of a call is that of its slowest rank."""
    return _of_call(ranks("max"), steps(how), groups("max"), undisturbed=undisturbed)


def _of_rank(how: How) -> FirstOf:
    """Reduce the mean times of ranks, as the Intel MPI Benchmarks and the OSU benchmarks do."""
    return _of_call(steps("mean"), ranks(how), groups("max"))


def imb_overlap_of(pure_s: float, compute_s: float, overlapped_s: float) -> float:
    """Return the overlap as the Intel MPI Benchmarks define it: relative to the longer of both, within 0 and 1."""
    return min(1.0, max(0.0, (pure_s + compute_s - overlapped_s) / max(pure_s, compute_s)))


def excess_of(longer_s: float, shorter_s: float) -> float:
    """Return the relative excess of the longer time."""
    return longer_s / shorter_s - 1


def _means(phase: str) -> FirstOf:
    return first_of(seconds(phase, over=(steps("mean"), ranks("max"), groups("max"))))


def _least_seconds(known: Known, _machine: Machine, point: Point) -> Limit | None:
    """Within a node: input buffers are at least read once and output buffers written once, at the memory's best rate.

    `None` for small buffers and for those that may stay in a cache, between nodes, whose links are not known here, and
    while the ranks compute.
    """
    best = known.greatest("memory traffic")
    moved = point.count("bytes_read", "bytes_written")
    within = len({given.host for given in point.given}) == 1 and point.knobs.get("buffers") == "rotating"
    if (
        best is None
        or not within
        or point.knobs.get("call") == "nonblocking"
        or moved < LARGE_BYTES * known_count(point.ranks)
    ):
        return None
    return Limit(
        moved / best.value,
        "reading the input once and writing the output once at the highest measured memory bandwidth",
    )


def _processes(point: Point, _samples: Samples) -> float:
    return max((len(group) for group in point.groups), default=known_count(point.ranks))


_MODELLED = {
    "barrier": "barrier",
    "bcast": "bcast",
    "reduce": "reduce",
    "allreduce": "allreduce",
    "reduce-scatter": "reduce-scatter",
    "reduce-scatter-block": "reduce-scatter",
    "gather": "gather",
    "gatherv": "gather",
    "scatter": "scatter",
    "scatterv": "scatter",
    "allgather": "allgather",
    "allgatherv": "allgather",
    "alltoall": "alltoall",
    "alltoallv": "alltoall",
    "alltoallw": "alltoall",
    "scan": "scan",
    "exscan": "scan",  # the same messages
}
_ONLY_OURS = ("tree", "prime-stride-from-zero")
"""Our algorithms of which the model has no steps."""


def _traffic(_machine: Machine, point: Point) -> CollectiveTraffic | NoTraffic:
    """Return the operation for the network model, which assumes its fastest algorithm for those of the library."""
    pattern, algorithm = point.knobs.get("pattern", ""), point.knobs.get("algorithm", "library")
    operation = _MODELLED.get(pattern)
    if operation is None:
        local = pattern == "reduce-local"
        return NoTraffic(
            "the pattern sends no data" if local else f"the model does not support neighbourhoods ({pattern})"
        )
    if len(point.groups) > 1:
        return NoTraffic("the model does not support several concurrent groups")
    if pattern.endswith(("v", "w", "reduce-scatter")) and point.knobs.get("counts", "equal") != "equal":
        return NoTraffic("the model does not support blocks of different sizes")
    if algorithm in _ONLY_OURS:
        return NoTraffic(f"the model does not support the algorithm {algorithm} of {operation}")
    length = 0 if operation == "barrier" else parse_bytes(point.knobs.get("bytes", "0"))
    if operation == "reduce-scatter":
        length = -(-length // max(1, round(_processes(point, Samples()))))
    return CollectiveTraffic(operation, length, "all" if algorithm == "library" else algorithm)


WORKLOAD = Workload(
    summary="Collective operations: barrier, broadcast, reduction, gather, all-to-all, neighbourhood",
    metrics=(
        Metric("time", "s", "lower", _of_call(), note="time of one call, slowest rank"),
        Metric("t_min", "s", "lower", _of_rank("min"), note="mean time of the fastest rank (as IMB)"),
        Metric("t_avg", "s", "lower", _of_rank("mean"), note="mean over ranks of their mean times (as IMB, OSU)"),
        Metric("t_max", "s", "lower", _of_rank("max"), note="mean time of the slowest rank (as IMB)"),
        Metric("t_ovrl", "s", "lower", _means(OVERLAPPED), note="t_max of the operation overlapped with computation"),
        Metric("t_cpu", "s", "lower", _means(COMPUTE), note="t_max of the computation alone"),
        Metric("least", "s", "lower", _of_slowest("min"), note="fastest call"),
        Metric("p99_9", "s", "lower", _of_slowest("p99.9"), note="99.9th percentile of calls"),
        Metric("worst", "s", "lower", _of_slowest("max"), note="slowest call"),
        Metric(
            "worst_undisturbed",
            "s",
            "lower",
            _of_slowest("max", undisturbed=True),
            note="slowest call during which no rank was preempted",
        ),
        Metric(
            "spread",
            "1",
            "lower",
            derived(excess_of, _of_slowest("max"), _of_slowest("min")),
            note="slowest over fastest call, minus 1",
        ),
        Metric(
            "spread_of_most",
            "1",
            "lower",
            derived(excess_of, _of_slowest("p99.9"), _of_slowest("min")),
            note="99.9th percentile over fastest call, minus 1",
        ),
        Metric(
            "spread_undisturbed",
            "1",
            "lower",
            derived(excess_of, _of_slowest("max", undisturbed=True), _of_slowest("min", undisturbed=True)),
            note="slowest over fastest call, minus 1, of calls without preemption",
        ),
        Metric(
            "bandwidth",
            "B/s",
            "higher",
            first_of(rate("bytes_sent", of=PURE), rate("bytes_sent")),
            note="all ranks; bytes that any algorithm must send",
        ),
        Metric(
            "overlap",
            "1",
            "higher",
            derived(overlap_of, seconds(PURE), seconds(COMPUTE), seconds(OVERLAPPED)),
            note="hidden share of the shorter of operation and computation; below 0: mutual slowdown",
        ),
        Metric(
            "overlap_imb",
            "1",
            "higher",
            derived(imb_overlap_of, _means(PURE), _means(COMPUTE), _means(OVERLAPPED)),
            note="IMB's formula: relative to the longer of both, from means, within 0 and 1",
        ),
        Metric(
            "test overhead",
            "1",
            "lower",
            derived(excess_of, seconds(OVERLAPPED + "/compute"), seconds(COMPUTE)),
            note="relative increase of the computation time by MPI_Test and the progress in it",
        ),
        Metric("processes", "1", "higher", custom(_processes), note="processes in the communicator"),
        Metric(
            "exposed",
            "s",
            "lower",
            seconds(OVERLAPPED + "/wait"),
            note="remaining time of the operation after the computation",
        ),
    ),
    bounded_by=("memory traffic",),
    least_seconds=_least_seconds,
    traffic=_traffic,
    of_links=False,
    pictures=(
        Curve("bytes"),
        Curve("processes", each=("pattern", "bytes", "call", "algorithm"), along="processes in the communicator"),
        Spread("bytes", "t_min", "t_avg", "t_max", title="Differences between ranks"),
        Curve("bytes", "overlap_imb", each=("pattern", "test"), title="Overlap with computation"),
        Bars("test", "overlap_imb", title="Overlap with computation by interval of MPI_Test"),
        Bars("test", "exposed", title="Exposed time by interval of MPI_Test"),
    ),
    step=step,
    aliases={
        "allreduce": {"pattern": "allreduce"},
        "barrier": {"pattern": "barrier"},
        "bcast": {"pattern": "bcast"},
        "reduce": {"pattern": "reduce"},
        "gather": {"pattern": "gather"},
        "scatter": {"pattern": "scatter"},
        "allgather": {"pattern": "allgather"},
        "alltoall": {"pattern": "alltoall"},
        "scan": {"pattern": "scan"},
        "reduce_scatter": {"pattern": "reduce-scatter"},
        "broadcast": {"pattern": "bcast"},
        "osu_allreduce": {"pattern": "allreduce"},
        "osu_barrier": {"pattern": "barrier"},
        "osu_bcast": {"pattern": "bcast"},
        "osu_alltoall": {"pattern": "alltoall"},
        "osu_allgather": {"pattern": "allgather"},
    },
    smoke={"pattern": "allreduce,bcast", "call": "blocking,nonblocking"},
    messages=True,
    alone=("pattern",),
)
