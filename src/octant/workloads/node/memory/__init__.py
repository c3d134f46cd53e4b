"""Process memory: what remains allocated after release, and which segments use huge pages."""

from octant.metric import Metric, per, reading
from octant.workload import Bars, Workload
from octant.workloads.node.memory.step import step

SEGMENTS = ("text", "data", "heap", "mapping", "stack", "thread stack")

WORKLOAD = Workload(
    summary="Process memory: what remains allocated after release, and which segments use huge pages",
    metrics=(
        Metric("touch", "s", "lower", per("pages", of="phase/touch"), note="first write to 4 KiB with its allocation"),
        Metric("release", "s", "lower", per("pages", of="phase/release"), note="release of 4 KiB"),
        Metric("retouch", "s", "lower", per("pages", of="phase/retouch"), note="first write to 4 KiB after release"),
        Metric(
            "retained", "1", "lower", reading("retained"),
            note="share of released memory that stays unavailable to others (resident, not lazily freed)",
        ),
        Metric("resident", "1", "lower", reading("resident"), note="share of released memory that remains resident"),
        *(Metric(name, "1", "higher", reading(name), note="share on huge pages") for name in SEGMENTS),
    ),
    pictures=(Bars("pattern", "retained"), Bars("thp", "heap"), Bars("thp", "thread stack")),
    step=step,
    smoke={
        "pattern": "free-below-held,free,trim,unmap,madv-free,madv-dontneed,segments",
        "bytes": "4MiB",
    },
)  # fmt: skip
