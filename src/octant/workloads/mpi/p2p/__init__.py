"""Messages between two ranks or with neighbours, by pattern and length: what MPI adds to the wire."""

from octant import units
from octant.limit import Known, Limit
from octant.machine import Machine
from octant.metric import Metric, Reduce, derived, groups, per, ranks, rate, seconds, steps
from octant.record import Point, known_count
from octant.workload import Messages, NoTraffic, Traffic, Workload
from octant.workloads.mpi.p2p.step import step

SHORT_BYTES = 65536  # below, a rate has no part in a message's time


def _length(point: Point) -> float:
    return point.count("bytes_sent") / point.count("messages")


def _least_seconds(known: Known, _machine: Machine, point: Point) -> Limit | None:
    """Between ranks of one node: a message is at least read once and written once, at the memory's best rate.

    `None` for short messages, and between nodes, whose link is not known here.
    """
    hosts = {given.host for given in point.given}
    best = known.greatest("memory traffic")
    if len(hosts) > 1 or best is None or _length(point) < SHORT_BYTES or point.knobs["buffers"] != "rotating":
        return None
    moved = 2 * point.count("bytes_sent")
    return Limit(moved / best.value, "one read and one write of each message at the best memory traffic of this run")


_UNANSWERED = {
    "duplex": "its two phases are two patterns: its metric `duplex` calibrates the model",
    "partitioned": "the model has no messages in parts that are ready one by one",
    "derived": "the model has no cost of layouts in memory",
    "packed": "the model has no cost of layouts in memory",
    "posted": "the model has no queues of receives",
    "unexpected": "the model has no queues of messages",
    "large-count": "it is one message and its acknowledgement",
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
"""One message of each flow in a step, by the model's name of the pattern."""


def _traffic(_machine: Machine, point: Point) -> Traffic | NoTraffic:
    """Messages in rotating buffers are what a program sends; hot buffers may stay in a cache."""
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
        return NoTraffic(_UNANSWERED.get(pattern, f"the model has no pattern {pattern}"))
    units_each = length * window / parts
    return Traffic(
        made, units_each, description=text, may_be_cached=not rotating, parts=parts, at_once=window, of_link=False
    )


def _over(how: Reduce) -> tuple[Reduce, ...]:
    """As the Intel MPI Benchmarks: each rank's mean over the repetitions first."""
    return (steps("mean"), how, groups("max"))


_LEAST = (ranks("max"), steps("min"))
_IMB = "in the definition of the Intel MPI Benchmarks"
WORKLOAD = Workload(
    summary="Messages between two ranks or with neighbours, by pattern and length",
    metrics=(
        Metric(
            "time", "s", "lower", per("turns"),
            note="of one message: half of there and back, all of an exchange, or a window's time over its messages",
        ),
        Metric(
            "bandwidth", "B/s", "higher", rate("bytes_passed"),
            note="as IMB counts: X/t between two ranks for messages of X bytes, 2X/t sendrecv, biband; 4X/t exchange",
        ),
        Metric("message rate", "1/s", "higher", rate("messages"), note="messages of all ranks a second"),
        Metric("t_avg", "s", "lower", per("turns", over=_over(ranks("mean"))), note=f"mean over ranks, {_IMB}"),
        Metric("t_min", "s", "lower", per("turns", over=_over(ranks("min"))), note=f"quickest rank, {_IMB}"),
        Metric("t_max", "s", "lower", per("turns", over=_over(ranks("max"))), note=f"slowest rank, {_IMB}"),
        Metric(
            "mean bandwidth", "B/s", "higher",
            rate("bytes_passed", over=(steps("mean"), ranks("max"), groups("sum"))),
            note="of the mean time, as the benchmarks of Ohio State University print it",
        ),
        Metric(
            "duplex", "1", "lower",
            derived(lambda both, one: both / one, seconds("phase/both_ways"), seconds("phase/one_way")),
            note="time of a window each way at once over that of one window: 1 to 2, of pattern=duplex",
        ),
        Metric(
            "perceived bandwidth", "B/s", "higher", rate("bytes_passed", of="phase/late"),
            note="a message over the time from its last part's readiness to arrival, of pattern=partitioned",
        ),
        Metric(
            "HPCC time", "s", "lower", per("turns", over=(*_LEAST, groups("max"))),
            note="the least of all, as HPC Challenge has it",
        ),
        Metric(
            "HPCC bandwidth", "B/s", "higher", rate("bytes_passed", over=(*_LEAST, groups("sum"))),
            note="of the least time",
        ),
    ),
    bounded_by=("memory traffic",),
    least_seconds=_least_seconds,
    pictures=(Messages("bandwidth", each=("pattern", "source", "buffers")),),
    traffic=_traffic,
    duplex="duplex",
    step=step,
    smoke={"pattern": "pingpong,duplex,partitioned", "bytes": "0,1000"},
    messages=True,
    alone=("pattern",),
)  # fmt: skip
