"""A throw-away workload: one folder, and every command handles it."""

from octant.metric import Metric, groups, per, ranks, rate, reading, result, seconds, share, steps
from octant.workload import Curve, Stacked, Workload

from .step import step

WORKLOAD = Workload(
    summary="Blocks that every rank of a group hands to the next (for tests)",
    metrics=(
        Metric("handovers", "1/s", "higher", rate("handovers")),
        Metric("time", "s", "lower", per("handovers")),
        Metric("bandwidth", "B/s", "higher", rate("bytes_sent")),
        Metric("pass share", "1", "lower", share("phase/pass")),
        Metric("fill", "s", "lower", seconds("phase/fill")),
        Metric("worst step", "s", "lower", seconds(over=(ranks("max"), groups("max"), steps("max")))),
        Metric("total", "1", "lower", reading("total")),
        Metric("ring", "1", "higher", result("ring")),
    ),
    pictures=(Curve("bytes", "bandwidth"), Stacked("bytes", ("fill", "pass"))),
    step=step,
    smoke={"bytes": "64"},
)
