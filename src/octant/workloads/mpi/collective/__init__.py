"""Collective operations of MPI: blocking, beside computing, and persistent."""

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
LARGE_BYTES = 65536  # a rank's traffic below which a rate has no part in an operation's time


def _of_call(*over: Reduce, undisturbed: bool = False) -> FirstOf:
    """The time of the operation alone: a phase of a step with a non-blocking one, else the step."""
    return first_of(
        seconds(PURE, over=over or None, undisturbed=undisturbed), seconds(over=over or None, undisturbed=undisturbed)
    )


def _of_slowest(how: How, undisturbed: bool = False) -> FirstOf:
    """Over calls, each as long as for its slowest rank."""
    return _of_call(ranks("max"), steps(how), groups("max"), undisturbed=undisturbed)


def _of_rank(how: How) -> FirstOf:
    """The mean time of each rank, and then over ranks, as the Intel MPI and the OSU benchmarks have it."""
    return _of_call(steps("mean"), ranks(how), groups("max"))


def imb_overlap_of(pure_s: float, compute_s: float, whole_s: float) -> float:
    """As the Intel MPI Benchmarks have it for collectives: over the longer of both, and within 0 and 1."""
    return min(1.0, max(0.0, (pure_s + compute_s - whole_s) / max(pure_s, compute_s)))


def excess_of(longer_s: float, shorter_s: float) -> float:
    """By how much of the shorter time the longer one exceeds it."""
    return longer_s / shorter_s - 1


def _means(phase: str) -> FirstOf:
    return first_of(seconds(phase, over=(steps("mean"), ranks("max"), groups("max"))))


def _least_seconds(known: Known, _machine: Machine, point: Point) -> Limit | None:
    """Within a node: input buffers are at least read once and output buffers written once, at the memory's best rate.

    `None` for small buffers and for those that may stay in a cache, between nodes, whose links are not known here, and
    beside computing.
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
    return Limit(moved / best.value, "one read of the input and one write of the output at the best memory traffic")


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
    """What is called; of a library's own algorithm nothing is known, so the model takes its fastest."""
    pattern, algorithm = point.knobs.get("pattern", ""), point.knobs.get("algorithm", "library")
    operation = _MODELLED.get(pattern)
    if operation is None:
        local = pattern == "reduce-local"
        return NoTraffic("it sends nothing" if local else f"the model has no neighbourhoods ({pattern})")
    if len(point.groups) > 1:
        return NoTraffic("several groups call at the same time")
    if pattern.endswith(("v", "w", "reduce-scatter")) and point.knobs.get("counts", "equal") != "equal":
        return NoTraffic("blocks of several sizes")
    if algorithm in _ONLY_OURS:
        return NoTraffic(f"the model has no algorithm {algorithm} of {operation}")
    length = 0 if operation == "barrier" else parse_bytes(point.knobs.get("bytes", "0"))
    if operation == "reduce-scatter":
        length = -(-length // max(1, round(_processes(point, Samples()))))
    return CollectiveTraffic(operation, length, "all" if algorithm == "library" else algorithm)


WORKLOAD = Workload(
    summary="Collective operations: barrier, broadcast, reductions, gathers, all-to-all, neighbourhoods",
    metrics=(
        Metric("time", "s", "lower", _of_call(), note="of one call: its slowest rank"),
        Metric("t_min", "s", "lower", _of_rank("min"), note="mean time of the fastest rank, as IMB's"),
        Metric("t_avg", "s", "lower", _of_rank("mean"), note="mean over ranks of their mean times, as IMB's and OSU's"),
        Metric("t_max", "s", "lower", _of_rank("max"), note="mean time of the slowest rank, as IMB's"),
        Metric("t_ovrl", "s", "lower", _means(OVERLAPPED), note="beside computing; mean time of the slowest rank, as t_max"),
        Metric("t_cpu", "s", "lower", _means(COMPUTE), note="the computing alone; mean time of the slowest rank"),
        Metric("least", "s", "lower", _of_slowest("min"), note="the quickest call"),
        Metric("p99_9", "s", "lower", _of_slowest("p99.9"), note="one call in a thousand takes longer"),
        Metric("worst", "s", "lower", _of_slowest("max"), note="the slowest call"),
        Metric(
            "worst_undisturbed",
            "s",
            "lower",
            _of_slowest("max", undisturbed=True),
            note="the slowest call during which no rank was switched out",
        ),
        Metric(
            "spread",
            "1",
            "lower",
            derived(excess_of, _of_slowest("max"), _of_slowest("min")),
            note="the slowest call over the quickest, less 1",
        ),
        Metric(
            "spread_of_most",
            "1",
            "lower",
            derived(excess_of, _of_slowest("p99.9"), _of_slowest("min")),
            note="the same without the slowest call in a thousand",
        ),
        Metric(
            "spread_undisturbed",
            "1",
            "lower",
            derived(excess_of, _of_slowest("max", undisturbed=True), _of_slowest("min", undisturbed=True)),
            note="the same of calls during which no rank was switched out",
        ),
        Metric(
            "bandwidth",
            "B/s",
            "higher",
            first_of(rate("bytes_sent", of=PURE), rate("bytes_sent")),
            note="of all ranks: what has to be sent at least, whatever the algorithm sends",
        ),
        Metric(
            "overlap",
            "1",
            "higher",
            derived(overlap_of, seconds(PURE), seconds(COMPUTE), seconds(OVERLAPPED)),
            note="of operation and computing, of the shorter of both; below 0: they disturb each other",
        ),
        Metric(
            "overlap_imb",
            "1",
            "higher",
            derived(imb_overlap_of, _means(PURE), _means(COMPUTE), _means(OVERLAPPED)),
            note="by IMB's formula: of the longer of both, from means, within 0 and 1",
        ),
        Metric(
            "test overhead",
            "1",
            "lower",
            derived(excess_of, seconds(OVERLAPPED + "/compute"), seconds(COMPUTE)),
            note="by how much MPI_Test, and what it does, lengthens the computing",
        ),
        Metric("processes", "1", "higher", custom(_processes), note="that work together"),
        Metric("exposed", "s", "lower", seconds(OVERLAPPED + "/wait"), note="of the operation after the computing"),
    ),
    bounded_by=("memory traffic",),
    least_seconds=_least_seconds,
    traffic=_traffic,
    of_links=False,
    pictures=(
        Curve("bytes"),
        Curve("processes", each=("pattern", "bytes", "call", "algorithm"), along="processes that work together"),
        Spread("bytes", "t_min", "t_avg", "t_max", title="How far ranks differ"),
        Curve("bytes", "overlap_imb", each=("pattern", "test"), title="How much of it computing hides"),
        Bars("test", "overlap_imb", title="How much of it computing hides, by how often it calls MPI_Test"),
        Bars("test", "exposed", title="Time not hidden by computing, by how often it calls MPI_Test"),
    ),
    step=step,
    smoke={"pattern": "allreduce,bcast", "call": "blocking,nonblocking"},
    messages=True,
    alone=("pattern",),
)
