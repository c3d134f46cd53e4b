"""Files that ranks share or have alone: transfers, syncs, opening and closing, and computing beside them, as IMB-IO."""

from octant.metric import (
    FirstOf,
    How,
    Metric,
    Reduce,
    Seconds,
    derived,
    first_of,
    groups,
    overlap_of,
    per,
    ranks,
    rate,
    result,
    seconds,
    steps,
)
from octant.workload import Bars, Curve, Stacked, Workload
from octant.workloads.mpi.mpiio.step import step

PURE, COMPUTE, OVERLAPPED = "phase/pure", "phase/compute", "phase/overlapped"


def _time(over: tuple[Reduce, ...] | None = None) -> FirstOf:
    return first_of(per("transfers", of=PURE, over=over), per("transfers", "opens", over=over))


def _of_rank(how: How) -> FirstOf:
    return _time((steps("mean"), ranks(how), groups("max")))


def imb_overlap_of(pure_s: float, compute_s: float, whole_s: float) -> float:
    """As the Intel MPI Benchmarks have it for files: of the shorter of both, and within 0 and 1."""
    return min(1.0, max(0.0, overlap_of(pure_s, compute_s, whole_s)))


def _mean(phase: str) -> Seconds:
    return per("transfers", of=phase, over=(steps("mean"), ranks("max"), groups("max")))


WORKLOAD = Workload(
    summary="Files by MPI-IO: one rank, all ranks or collective calls, write and read, four ways to a place",
    metrics=(
        Metric("time", "s", "lower", _time(), note="of a transfer with its part of the sync; of opening and closing"),
        Metric(
            "bandwidth", "B/s", "higher",
            first_of(rate("bytes_written", "bytes_read", of=PURE), rate("bytes_written", "bytes_read")),
            note="of all ranks; of blocking writes until the sync has ended",
        ),
        Metric(
            "accepted", "B/s", "higher", rate("bytes_written", "bytes_read", of="phase/transfer"),
            note="of all ranks, before the sync: into the page cache, where there is one",
        ),
        Metric("transfer", "s", "lower", per("transfers", of="phase/transfer")),
        Metric("sync", "s", "lower", seconds("phase/sync"), note="MPI_File_sync, for all transfers before it"),
        Metric("open", "s", "lower", seconds("phase/open")),
        Metric("close", "s", "lower", seconds("phase/close")),
        Metric("overlapped", "s", "lower", per("transfers", of=OVERLAPPED), note="of a non-blocking transfer beside computing"),
        Metric(
            "overlap", "1", "higher", derived(overlap_of, seconds(PURE), seconds(COMPUTE), seconds(OVERLAPPED)),
            note="of transfer and computing, of the shorter of both; below 0: they disturb each other",
        ),
        Metric(
            "overlap_imb", "1", "higher", derived(imb_overlap_of, _mean(PURE), _mean(COMPUTE), _mean(OVERLAPPED)),
            note="the same from means and within 0 and 1, as IMB-IO has it",
        ),
        Metric("in the page cache", "1", "lower", result("in the page cache"), note="of the file before it is read"),
        Metric("t_min", "s", "lower", _of_rank("min"), note="mean time of the fastest rank, as IMB's"),
        Metric("t_avg", "s", "lower", _of_rank("mean"), note="mean over ranks of their mean times, as IMB's"),
        Metric("t_max", "s", "lower", _of_rank("max"), note="mean time of the slowest rank, as IMB's"),
        Metric("t_ovrl", "s", "lower", _mean(OVERLAPPED), note="of a transfer beside computing, as t_max"),
        Metric("t_cpu", "s", "lower", _mean(COMPUTE), note="the computing of a transfer, as t_max"),
    ),
    pictures=(Curve("bytes", "bandwidth"), Bars("aggregate", "bandwidth"), Stacked("bytes", ("transfer", "sync"))),
    step=step,
    smoke={"pattern": "p-write-indv,p-read-shared,c-iwrite-expl,open-close", "bytes": "1000", "aggregate": "2"},
    alone=("pattern",),
)  # fmt: skip
