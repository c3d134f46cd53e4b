"""Memory of a process: what of it stays when it is released, in six ways, and what of it is on large pages."""

from octant.metric import Metric, per, reading
from octant.workload import Bars, Workload
from octant.workloads.node.memory.step import step

SEGMENTS = ("text", "data", "heap", "mapping", "stack", "thread stack")

WORKLOAD = Workload(
    summary="Memory of a process: what stays after it is released, and which segments are on large pages",
    metrics=(
        Metric("touch", "s", "lower", per("pages", of="phase/touch"), note="first write to 4 KiB, with its allocation"),
        Metric("release", "s", "lower", per("pages", of="phase/release"), note="of 4 KiB"),
        Metric("retouch", "s", "lower", per("pages", of="phase/retouch"), note="first write to 4 KiB after the release"),
        Metric(
            "retained", "1", "lower", reading("retained"),
            note="share of released memory that others cannot have, at least a page: resident, not free for the taking",
        ),
        Metric("resident", "1", "lower", reading("resident"), note="share of released memory that is still resident"),
        *(Metric(name, "1", "higher", reading(name), note="share on large pages") for name in SEGMENTS),
    ),
    pictures=(Bars("pattern", "retained"), Bars("thp", "heap"), Bars("thp", "thread stack")),
    step=step,
    smoke={
        "pattern": "free-below-held,free,trim,unmap,madv-free,madv-dontneed,segments",
        "bytes": "4MiB",
    },
)  # fmt: skip
