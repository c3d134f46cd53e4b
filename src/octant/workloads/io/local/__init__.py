"""A file of one host: written, read, collected in memory first, and moved beside other work of the same rank."""

from octant.metric import Metric, derived, first_of, overlap_of, per, rate, result, seconds
from octant.workload import Bars, Curve, Stacked, Workload
from octant.workloads.io.local.step import step

PURE, COMPUTE, OVERLAPPED, SEQUENTIAL = "phase/pure", "phase/compute", "phase/overlapped", "phase/sequential"


def gain_of(turn_s: float, whole_s: float) -> float:
    """How many times as quick a program is that does not wait for its file."""
    return turn_s / whole_s


WORKLOAD = Workload(
    summary="Files of one host: buffered, direct, mapped, memory first, in the background; accepted and durable",
    metrics=(
        Metric(
            "bandwidth", "B/s", "higher",
            first_of(rate("bytes_written", "bytes_read", of=PURE), rate("bytes_written", "bytes_read")),
            note="of all ranks; of writes until the sync has ended",
        ),
        Metric(
            "accepted", "B/s", "higher", rate("bytes_written", "bytes_read", of="phase/transfer"),
            note="of writes, before the sync: into the page cache, where there is one",
        ),
        Metric(
            "block", "s", "lower", first_of(per("blocks", of=PURE), per("blocks")),
            note="of a transfer, with its part of the sync",
        ),
        Metric("sync", "s", "lower", seconds("phase/sync"), note="fdatasync or msync, for all blocks before it"),
        Metric("fill", "s", "lower", seconds("phase/fill"), note="of memory, with all blocks"),
        Metric("flush", "s", "lower", seconds("phase/flush"), note="of memory, to the file"),
        Metric("other work", "s", "lower", seconds(COMPUTE), note="computing or messages, alone"),
        Metric("overlapped", "s", "lower", seconds(OVERLAPPED), note="of all blocks beside other work, with the sync"),
        Metric(
            "overlap", "1", "higher", derived(overlap_of, seconds(PURE), seconds(COMPUTE), seconds(OVERLAPPED)),
            note="of transfers and other work, of the shorter of both; below 0: they disturb each other",
        ),
        Metric("sequential", "s", "lower", seconds(SEQUENTIAL), note="the same, a part of the work after each blocking call"),
        Metric("gain", "1", "higher", derived(gain_of, seconds(SEQUENTIAL), seconds(OVERLAPPED)), note="in turn over whole"),
        Metric(
            "in the page cache", "1", "lower", result("in the page cache"),
            note="of the file: of reads before, of direct transfers after them",
        ),
    ),
    pictures=(Bars("mode"), Curve("block"), Stacked("mode", ("fill", "transfer", "flush", "sync"))),
    step=step,
    smoke={"pattern": "write,read,staged-write,overlapped-write,overlapped-read", "bytes": "20000", "block": "3000"},
)  # fmt: skip
