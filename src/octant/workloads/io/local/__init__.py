"""File I/O of one host: plain, staged in memory, and overlapped with other work of the same rank."""

from octant.metric import Metric, derived, first_of, overlap_of, per, rate, result, seconds
from octant.workload import Bars, Curve, Stacked, Workload
from octant.workloads.io.local.step import step

PURE, COMPUTE, OVERLAPPED, SEQUENTIAL = "phase/pure", "phase/compute", "phase/overlapped", "phase/sequential"


def gain_of(sequential_s: float, overlapped_s: float) -> float:
    """Return the speed-up of overlapping I/O and other work."""
    return sequential_s / overlapped_s


WORKLOAD = Workload(
    summary="File I/O of one host: buffered, direct, mapped, staged in memory, overlapped; accepted and durable rates",
    metrics=(
        Metric(
            "bandwidth", "B/s", "higher",
            first_of(rate("bytes_written", "bytes_read", of=PURE), rate("bytes_written", "bytes_read")),
            note="all ranks; writes include the sync",
        ),
        Metric(
            "accepted", "B/s", "higher", rate("bytes_written", "bytes_read", of="phase/transfer"),
            note="writes without the sync, e.g. into the page cache",
        ),
        Metric(
            "block", "s", "lower", first_of(per("blocks", of=PURE), per("blocks")),
            note="time of one transfer with its share of the sync",
        ),
        Metric("sync", "s", "lower", seconds("phase/sync"), note="fdatasync or msync of all blocks"),
        Metric("fill", "s", "lower", seconds("phase/fill"), note="copying all blocks to memory"),
        Metric("flush", "s", "lower", seconds("phase/flush"), note="writing the staged blocks to the file"),
        Metric("other work", "s", "lower", seconds(COMPUTE), note="computing or messages without I/O"),
        Metric("overlapped", "s", "lower", seconds(OVERLAPPED), note="all blocks with other work, including the sync"),
        Metric(
            "overlap", "1", "higher", derived(overlap_of, seconds(PURE), seconds(COMPUTE), seconds(OVERLAPPED)),
            note="share of the shorter of I/O and other work that is hidden; below 0: mutual slowdown",
        ),
        Metric(
            "sequential", "s", "lower", seconds(SEQUENTIAL),
            note="the same work without overlap: a part of the other work after each blocking call",
        ),
        Metric(
            "gain", "1", "higher", derived(gain_of, seconds(SEQUENTIAL), seconds(OVERLAPPED)),
            note="sequential time over overlapped time",
        ),
        Metric(
            "in the page cache", "1", "lower", result("in the page cache"),
            note="share of the file: before reads, and after direct transfers",
        ),
    ),
    pictures=(Bars("mode"), Curve("block"), Stacked("mode", ("fill", "transfer", "flush", "sync"))),
    step=step,
    aliases={
        "iozone": {},
        "fio": {},
        "dd": {"pattern": "write"},
    },
    smoke={"pattern": "write,read,staged-write,overlapped-write,overlapped-read", "bytes": "20000", "block": "3000"},
)  # fmt: skip
