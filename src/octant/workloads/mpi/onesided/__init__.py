"""One-sided transfers: put, get and atomic operations, by kind of window and way of completion."""

from octant import units
from octant.limit import Known, Limit
from octant.machine import Machine
from octant.metric import Metric, derived, groups, per, ranks, rate, seconds, steps
from octant.record import Point
from octant.workload import CollectiveTraffic, Messages, NoTraffic, Traffic, Workload
from octant.workloads.mpi.onesided.step import step

SHORT_BYTES = 65536  # below, a rate has no part in the time of a transfer
_MOVED = ("put", "get")


def _of_ranks(how: str) -> Metric:
    """A time as the Intel MPI Benchmarks define it: the mean over all rounds of a rank, then over ranks."""
    over = {"t_min": ranks("min"), "t_avg": ranks("mean"), "t_max": ranks("max")}[how]
    value = per("rounds", over=(steps("mean"), over, groups("max")))
    return Metric(how, "s", "lower", value, note=f"of a round, as in IMB: mean over steps, then {over.how} over ranks")


def _of_origin(name: str, phase: str) -> Metric:
    value = seconds(f"phase/{phase}", over=(steps("mean"), ranks("max"), groups("max")))
    return Metric(name, "s", "lower", value, note=f"mean of {phase}, as IMB's Truly_passive_put")


def _is_transfer(point: Point) -> bool:
    """Whether bytes move and nothing else."""
    pattern = point.knobs["pattern"]
    return pattern.endswith(_MOVED) or pattern in ("one-put-all", "one-get-all", "all-put-all", "all-get-all")


def _least_seconds(known: Known, _machine: Machine, point: Point) -> Limit | None:
    """Between ranks of one node: what is moved is at least read once and written once, at the memory's best rate.

    `None` for short transfers, for operations that compute, and between nodes, whose link is not known here.
    """
    hosts = {given.host for given in point.given}
    best = known.greatest("memory traffic")
    moved = point.count("bytes_moved")
    if len(hosts) > 1 or best is None or point.knobs["buffers"] != "rotating" or not _is_transfer(point):
        return None
    if not moved or moved / point.count("operations") < SHORT_BYTES:
        return None
    source = "one read and one write of what is moved at the best memory traffic of this run"
    return Limit(2 * moved / best.value, source)


_MODELLED = {"bidirectional": "pingping", "one-put-all": "fan-out", "one-get-all": "fan-in", "exchange": "exchange"}
"""The model's name of transfers that several links carry at once, by how the pattern's name begins."""


def _traffic(_machine: Machine, point: Point) -> Traffic | CollectiveTraffic | NoTraffic:
    """What one origin puts or gets is what a program moves; hot buffers may stay in a cache."""
    pattern = point.knobs["pattern"]
    if not _is_transfer(point) or pattern.startswith("passive"):
        return NoTraffic(f"what {pattern} says of a link is not known")
    length = point.count("bytes_moved") / point.count("operations")
    rotating, window = point.knobs.get("buffers") == "rotating", int(point.knobs.get("window", "1"))
    if pattern.startswith("all-"):
        if window > 1:
            return NoTraffic("the model has no several all-to-alls at once")
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
    summary="One-sided transfers and atomic operations, by kind of window and way of completion",
    metrics=(
        Metric(
            "time", "s", "lower", per("rounds"), note="of a round: one operation of each origin to each of its targets"
        ),
        Metric(
            "bandwidth",
            "B/s",
            "higher",
            rate("bytes_of_one_origin"),
            note="of one origin, complete at its targets; bidirectional patterns do not count twice",
        ),
        Metric("total bandwidth", "B/s", "higher", rate("bytes_moved"), note="of all origins together"),
        Metric("operation rate", "1/s", "higher", rate("operations"), note="of all origins together"),
        _of_ranks("t_min"),
        _of_ranks("t_avg"),
        _of_ranks("t_max"),
        _of_origin("t_pure", "pure"),
        _of_origin("t_ovrl", "overlapped"),
        Metric("pure", "s", "lower", seconds("phase/pure"), note="while the target waits in a barrier"),
        Metric("overlapped", "s", "lower", seconds("phase/overlapped"), note="while the target computes"),
        Metric(
            "waited",
            "s",
            "lower",
            derived(_waited, seconds("phase/pure"), seconds("phase/overlapped")),
            note="that the target's computing adds",
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
