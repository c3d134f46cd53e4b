"""Point-to-point messages between two ranks or with neighbours, by pattern and length."""

from octant import units
from octant.limit import LINE_TRANSFER, MEMORY, Known, Limit, cache_line, traffic_in
from octant.machine import Machine
from octant.metric import Metric, Reduce, derived, groups, per, ranks, rate, seconds, steps
from octant.record import Point, known_count
from octant.workload import Messages, NoTraffic, Traffic, Workload
from octant.workloads.mpi.p2p.step import step

MEMORY_TRAFFIC = traffic_in(MEMORY)
_ROUND_TRIPS = ("pingpong", "persistent-pingpong")
"""Patterns in which the next message starts after the one before has arrived."""
SHORT_BYTES = 65536  # below, bandwidth does not determine the time of a message


def _length(point: Point) -> float:
    return point.count("bytes_sent") / point.count("messages")


def _least_seconds(known: Known, machine: Machine, point: Point) -> Limit | None:
    """Return the limit within a node: of a short message a cache-line transfer, of a long one the memory traffic.

    Return `None` between nodes (the link is unknown), for lengths between both, and for buffers that caches may hold.
    """
    hosts = {given.host for given in point.given}
    if len(hosts) > 1:
        return None
    line_bytes, assumed = cache_line(machine)
    if _length(point) <= line_bytes and point.knobs["pattern"] in _ROUND_TRIPS:
        line = known.greatest(LINE_TRANSFER)
        if line is None:
            return None
        source = f"one transfer of a cache line between the nearest cores{assumed}, measured {line.where}"
        return Limit(point.count("turns") / point.parts / line.value, source)
    if _length(point) < SHORT_BYTES or point.knobs["buffers"] != "rotating":
        return None
    best = known.greatest(MEMORY_TRAFFIC)
    moved = 2 * point.count("bytes_sent")
    if best is None:
        return None
    return Limit(
        moved / best.value, f"reading and writing each message once at the highest memory bandwidth {best.where}"
    )


_UNANSWERED = {
    "duplex": "the model supports one pattern per step, and duplex has two; the metric `duplex` calibrates it",
    "partitioned": "the model does not support partitioned messages",
    "derived": "the model does not include the cost of non-contiguous data",
    "packed": "the model does not include the cost of non-contiguous data",
    "posted": "the model does not include the queue of posted receives",
    "unexpected": "the model does not include the queue of unexpected messages",
    "large-count": "the model does not support a message with an acknowledgement",
}
_NEIGHBOURS = {
    "sendrecv": "sendrecv",
    "sendrecv-replace": "sendrecv",
    "isendrecv": "sendrecv",
    "exchange": "exchange",
    "persistent": "exchange",
    "halo-2d": "halo-2d",
    "halo-3d": "halo-3d",
    "pingping": "pingping",
}
"""Patterns with one message per flow and step, with the name that the network model uses."""


def _traffic(_machine: Machine, point: Point) -> Traffic | NoTraffic:
    """Return the traffic of a step; data in hot buffers may stay in a cache."""
    pattern, length = point.knobs.get("pattern", "pingpong"), _length(point)
    rotating = point.knobs.get("buffers") == "rotating"
    text = f"messages of {units.bytes_text(length)}, {'rotating' if rotating else 'hot'} buffers"
    if pattern in ("pingpong", "persistent-pingpong"):
        plain = pattern == "pingpong" and len(point.groups) < 2
        one = f"{text}, one at a time"
        return Traffic(
            "first-to-last", length, description=one, may_be_cached=not rotating, of_link=plain, is_message=plain
        )
    window = int(point.knobs.get("window", "1"))
    if pattern in _NEIGHBOURS:
        made, parts, window = _NEIGHBOURS[pattern], 1, 1
    elif pattern in ("uniband", "biband"):
        made, parts = pattern, window
    elif pattern in ("fan-in", "fan-out"):
        ranks = max((len(group) for group in point.groups), default=known_count(point.ranks))
        made, parts = pattern, window * (ranks - 1)
    else:
        return NoTraffic(_UNANSWERED.get(pattern, f"the model does not support the pattern {pattern}"))
    units_each = length * window / parts
    return Traffic(
        made, units_each, description=text, may_be_cached=not rotating, parts=parts, at_once=window, of_link=False
    )


def _over(how: Reduce) -> tuple[Reduce, ...]:
    """Return the reduction of the Intel MPI Benchmarks: the mean over repetitions of each rank first."""
    return (steps("mean"), how, groups("max"))


_LEAST = (ranks("max"), steps("min"))
_IMB = "as the Intel MPI Benchmarks define it"
WORKLOAD = Workload(
    summary="Point-to-point messages between two ranks or with neighbours, by pattern and length",
    metrics=(
        Metric(
            "time", "s", "lower", per("turns"),
            note="one message: half a round trip, one exchange, or the time of a window over its messages",
        ),
        Metric(
            "bandwidth", "B/s", "higher", rate("bytes_passed"),
            note="as IMB counts: X bytes in time t is X/t; 2X/t for sendrecv and biband; 4X/t for exchange",
        ),
        Metric("message rate", "1/s", "higher", rate("messages"), note="all ranks"),
        Metric("t_avg", "s", "lower", per("turns", over=_over(ranks("mean"))), note=f"mean over ranks, {_IMB}"),
        Metric("t_min", "s", "lower", per("turns", over=_over(ranks("min"))), note=f"fastest rank, {_IMB}"),
        Metric("t_max", "s", "lower", per("turns", over=_over(ranks("max"))), note=f"slowest rank, {_IMB}"),
        Metric(
            "mean bandwidth", "B/s", "higher",
            rate("bytes_passed", over=(steps("mean"), ranks("max"), groups("sum"))),
            note="from the mean time (as the OSU benchmarks)",
        ),
        Metric(
            "duplex", "1", "lower",
            derived(lambda both, one: both / one, seconds("phase/both_ways"), seconds("phase/one_way")),
            note="time of windows in both directions over that of one window: 1 to 2 (pattern=duplex)",
        ),
        Metric(
            "perceived bandwidth", "B/s", "higher", rate("bytes_passed", of="phase/late"),
            note="message length over the time from the last ready part to arrival (pattern=partitioned)",
        ),
        Metric(
            "HPCC time", "s", "lower", per("turns", over=(*_LEAST, groups("max"))),
            note="shortest time (as HPC Challenge)",
        ),
        Metric(
            "HPCC bandwidth", "B/s", "higher", rate("bytes_passed", over=(*_LEAST, groups("sum"))),
            note="from the shortest time",
        ),
    ),
    bounded_by=(MEMORY_TRAFFIC, LINE_TRANSFER),
    least_seconds=_least_seconds,
    pictures=(Messages("bandwidth", each=("pattern", "source", "buffers")),),
    traffic=_traffic,
    duplex="duplex",
    step=step,
    aliases={
        "pingpong": {"pattern": "pingpong"},
        "pingping": {"pattern": "pingping"},
        "sendrecv": {"pattern": "sendrecv"},
        "osu_latency": {"pattern": "pingpong"},
        "osu_bw": {"pattern": "uniband"},
        "osu_bibw": {"pattern": "biband"},
        "halo": {"pattern": "halo-3d"},
    },
    smoke={"pattern": "pingpong,duplex,partitioned", "bytes": "0,1000"},
    messages=True,
    alone=("pattern",),
)  # fmt: skip
