"""Messages between two ranks or with neighbours, by pattern and length: what MPI adds to the wire."""

from octant import units
from octant.limit import Known, Limit
from octant.machine import Machine
from octant.metric import Metric, Reduce, derived, groups, per, ranks, rate, seconds, steps
from octant.record import Point
from octant.workload import Messages, NoTraffic, Traffic, Workload

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


def _traffic(_machine: Machine, point: Point) -> Traffic | NoTraffic:
    """Messages in rotating buffers are what a program sends; hot buffers may stay in a cache."""
    if point.knobs.get("pattern", "pingpong") != "pingpong":
        return NoTraffic("only pattern=pingpong has one message at a time on the network")
    length = _length(point)
    rotating = point.knobs.get("buffers") == "rotating"
    text = f"messages of {units.bytes_text(length)}, {'rotating' if rotating else 'hot'} buffers, one at a time"
    return Traffic("first-to-last", length, description=text, may_be_cached=not rotating)


def _over(how: Reduce) -> tuple[Reduce, ...]:
    """As the Intel MPI Benchmarks: each rank's mean over the repetitions first."""
    return (steps("mean"), how, groups("max"))


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
    ),
    bounded_by=("memory traffic",),
    least_seconds=_least_seconds,
    pictures=(Messages("bandwidth", each=("pattern", "source", "buffers")),),
    traffic=_traffic,
    smoke={"pattern": "pingpong,duplex,partitioned", "bytes": "0,1000"},
    messages=True,
    alone=("pattern",),
)  # fmt: skip
