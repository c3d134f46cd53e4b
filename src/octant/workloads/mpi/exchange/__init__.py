"""Two processes exchange messages in every way that MPI has: which protocol is best, and what the worst costs."""

from octant import units
from octant.machine import Machine
from octant.metric import Metric, groups, per, ranks, rate, steps
from octant.record import Point
from octant.workload import Choice, Curve, Traffic, Workload
from octant.workloads.mpi.exchange.scenarios import SCENARIOS, groups_of
from octant.workloads.mpi.exchange.step import step

__all__ = ["SCENARIOS", "WORKLOAD", "groups_of"]


def _traffic(_machine: Machine, point: Point) -> Traffic:
    """Return the traffic of both sides, which cross the same links in opposite directions."""
    length = point.count("bytes_sent") / max(1, point.count("messages"))
    cold = point.knobs.get("mode") == "cold"
    text = f"messages of {units.bytes_text(length)} both ways at once, {point.knobs.get('mode', '')}"
    alone = len(point.groups) < 2
    return Traffic(
        "first-to-last", length, description=text, may_be_cached=not cold, both_ways=True, of_link=alone
    )  # fmt: skip


WORKLOAD = Workload(
    summary="Message exchange between two processes by each point-to-point and one-sided protocol",
    metrics=(
        Metric("time", "s", "lower", per("exchanges"), note="one exchange; slower side, slowest pair"),
        Metric("bandwidth", "B/s", "higher", rate("bytes_sent"), note="both directions, all pairs"),
        Metric(
            "pair bandwidth",
            "B/s",
            "higher",
            rate("bytes_sent", over=(ranks("max"), groups("min"), steps("median"))),
            note="both directions, the slowest pair",
        ),
        Metric(
            "worst time",
            "s",
            "lower",
            per("exchanges", over=(ranks("max"), groups("max"), steps("max"))),
            note="longest time of all samples",
        ),
    ),
    pictures=(Choice("protocol"), Curve("bytes", "pair bandwidth", each=("protocol", "mode", "groups"))),
    traffic=_traffic,
    step=step,
    smoke={"bytes": "1000", "protocol": "sendrecv,put-fence", "mode": "ten"},
    messages=True,
    alone=("protocol",),
)
