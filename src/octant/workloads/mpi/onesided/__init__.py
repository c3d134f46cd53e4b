"""One-sided communication: put, get and atomic operations by kind of window and synchronisation."""

from octant import units
from octant.limit import Known, Limit
from octant.machine import Machine
from octant.metric import Metric, derived, groups, per, ranks, rate, seconds, steps
from octant.record import Point
from octant.workload import CollectiveTraffic, Messages, NoTraffic, Traffic, Workload
from octant.workloads.mpi.onesided.step import step

SHORT_BYTES = 65536  # below, bandwidth does not determine the time of a transfer
_MOVED = ("put", "get")


def _of_ranks(how: str) -> Metric:
    """Return a time as the Intel MPI Benchmarks define it: the mean over rounds of a rank, reduced over ranks."""
    over = {"t_min": ranks("min"), "t_avg": ranks("mean"), "t_max": ranks("max")}[how]
    value = per("rounds", over=(steps("mean"), over, groups("max")))
    return Metric(how, "s", "lower", value, note=f"one round (as IMB): mean over steps, {over.how} over ranks")


def _of_origin(name: str, phase: str) -> Metric:
    value = seconds(f"phase/{phase}", over=(steps("mean"), ranks("max"), groups("max")))
    return Metric(name, "s", "lower", value, note=f"mean of {phase} (as IMB Truly_passive_put)")


def _is_transfer(point: Point) -> bool:
    """Return whether the pattern only moves bytes."""
    pattern = point.knobs["pattern"]
    return pattern.endswith(_MOVED) or pattern in ("one-put-all", "one-get-all", "all-put-all", "all-get-all")


def _least_seconds(known: Known, _machine: Machine, point: Point) -> Limit | None:
    """Return the memory limit within a node: data is read once and written once.

    Return `None` for short transfers, for operations that compute, and between nodes (the link is unknown).
    """
    hosts = {given.host for given in point.given}
    best = known.greatest("memory traffic")
    moved = point.count("bytes_moved")
    if len(hosts) > 1 or best is None or point.knobs["buffers"] != "rotating" or not _is_transfer(point):
        return None
    if not moved or moved / point.count("operations") < SHORT_BYTES:
        return None
    source = f"reading and writing the data once at the highest memory bandwidth {best.where}"
    return Limit(2 * moved / best.value, source)


_MODELLED = {"bidirectional": "pingping", "one-put-all": "fan-out", "one-get-all": "fan-in", "exchange": "exchange"}
"""Traffic pattern of the network model by the first part of the name of the workload's pattern."""


def _traffic(_machine: Machine, point: Point) -> Traffic | CollectiveTraffic | NoTraffic:
    """Return the traffic of one origin; data in hot buffers may stay in a cache."""
    pattern = point.knobs["pattern"]
    if not _is_transfer(point) or pattern.startswith("passive"):
        return NoTraffic(f"{pattern} does not measure a link")
    length = point.count("bytes_moved") / point.count("operations")
    rotating, window = point.knobs.get("buffers") == "rotating", int(point.knobs.get("window", "1"))
    if pattern.startswith("all-"):
        if window > 1:
            return NoTraffic("the model supports one all-to-all at a time")
        return CollectiveTraffic("alltoall", round(length), "linear")
    text = f"{pattern} of {units.bytes_text(length)}, {'rotating' if rotating else 'hot'} buffers"
    made = next((name for begin, name in _MODELLED.items() if pattern.startswith(begin)), "first-to-last")
    return Traffic(
        made, length, description=text, may_be_cached=not rotating, parts=window, at_once=window,
        of_link=pattern in _MOVED,
    )  # fmt: skip


def _waited(pure_s: float, overlapped_s: float) -> float:
    return max(0.0, overlapped_s - pure_s)


WORKLOAD = Workload(
    summary="One-sided transfers and atomic operations by kind of window and synchronisation",
    metrics=(
        Metric(
            "time", "s", "lower", per("rounds"), note="one round: one operation of each origin to each of its targets"
        ),
        Metric(
            "bandwidth",
            "B/s",
            "higher",
            rate("bytes_of_one_origin"),
            note="one origin, complete at its targets; one direction",
        ),
        Metric("total bandwidth", "B/s", "higher", rate("bytes_moved"), note="all origins"),
        Metric("operation rate", "1/s", "higher", rate("operations"), note="all origins"),
        _of_ranks("t_min"),
        _of_ranks("t_avg"),
        _of_ranks("t_max"),
        _of_origin("t_pure", "pure"),
        _of_origin("t_ovrl", "overlapped"),
        Metric("pure", "s", "lower", seconds("phase/pure"), note="time while the target waits in a barrier"),
        Metric("overlapped", "s", "lower", seconds("phase/overlapped"), note="time while the target computes"),
        Metric(
            "waited",
            "s",
            "lower",
            derived(_waited, seconds("phase/pure"), seconds("phase/overlapped")),
            note="additional time while the target computes",
        ),
    ),
    bounded_by=("memory traffic",),
    least_seconds=_least_seconds,
    pictures=(Messages("bandwidth"),),
    traffic=_traffic,
    step=step,
    smoke={"pattern": "put,accumulate,passive-put,window", "compute": "50"},
    messages=True,
    alone=("pattern",),
)
