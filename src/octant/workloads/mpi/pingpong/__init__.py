"""One message there and back: what MPI adds to the wire, by length."""

from octant import units
from octant.limit import Known, Limit
from octant.machine import Machine
from octant.metric import Metric, per, rate
from octant.record import Point
from octant.workload import Messages, Traffic, Workload

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
    return Limit(moved / best.value, "one read and one write of the message at the best memory traffic of this run")


def _traffic(_machine: Machine, point: Point) -> Traffic:
    """Messages in rotating buffers are what a program sends; hot buffers may stay in a cache."""
    length = _length(point)
    rotating = point.knobs.get("buffers") == "rotating"
    text = f"messages of {units.bytes_text(length)}, {'rotating' if rotating else 'hot'} buffers, one at a time"
    return Traffic("first-to-last", length, description=text, may_be_cached=not rotating)


WORKLOAD = Workload(
    summary="One message there and back between the first rank and the last, by length",
    metrics=(
        Metric("time", "s", "lower", per("messages"), note="one way: half of there and back"),
        Metric("bandwidth", "B/s", "higher", rate("bytes_sent"), note="one way"),
    ),
    bounded_by=("memory traffic",),
    least_seconds=_least_seconds,
    pictures=(Messages("bandwidth", each=("buffers",)),),
    traffic=_traffic,
    smoke={"bytes": "0,1000"},
    messages=True,
)
