"""One message there and back: what MPI adds to the wire, by length."""

from octant.limit import Known, Limit
from octant.machine import Machine
from octant.metric import Metric, per, rate
from octant.record import Point
from octant.workload import Curve, Traffic, Workload

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


WORKLOAD = Workload(
    summary="One message there and back between the first rank and the last, by length",
    metrics=(
        Metric("time", "s", "lower", per("messages"), note="one way: half of there and back"),
        Metric("bandwidth", "B/s", "higher", rate("bytes_sent"), note="one way"),
    ),
    bounded_by=("memory traffic",),
    least_seconds=_least_seconds,
    pictures=(Curve("bytes", fit="loggp", along="message size"),),
    traffic=lambda point: Traffic("pingpong", _length(point), point.count("messages"), "equal"),
    smoke={"bytes": "0,1000"},
    messages=True,
)
