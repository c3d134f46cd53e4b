"""MPI-IO on shared and private files: transfers, sync, open, close, and overlap with computation (as IMB-IO)."""

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


def imb_overlap_of(pure_s: float, compute_s: float, overlapped_s: float) -> float:
    """Return the overlap as the Intel MPI Benchmarks define it for files: within 0 and 1."""
    return min(1.0, max(0.0, overlap_of(pure_s, compute_s, overlapped_s)))


def _mean(phase: str) -> Seconds:
    return per("transfers", of=phase, over=(steps("mean"), ranks("max"), groups("max")))


WORKLOAD = Workload(
    summary="MPI-IO: writes and reads by one rank, all ranks or collective calls, with each kind of file pointer",
    metrics=(
        Metric("time", "s", "lower", _time(), note="one transfer with its share of the sync; or one open and close"),
        Metric(
            "bandwidth", "B/s", "higher",
            first_of(rate("bytes_written", "bytes_read", of=PURE), rate("bytes_written", "bytes_read")),
            note="all ranks; blocking writes include the sync",
        ),
        Metric(
            "accepted", "B/s", "higher", rate("bytes_written", "bytes_read", of="phase/transfer"),
            note="all ranks, writes without the sync, e.g. into the page cache",
        ),
        Metric("transfer", "s", "lower", per("transfers", of="phase/transfer")),
        Metric("sync", "s", "lower", seconds("phase/sync"), note="MPI_File_sync of all transfers"),
        Metric("open", "s", "lower", seconds("phase/open")),
        Metric("close", "s", "lower", seconds("phase/close")),
        Metric("overlapped", "s", "lower", per("transfers", of=OVERLAPPED), note="with computation"),
        Metric(
            "overlap", "1", "higher", derived(overlap_of, seconds(PURE), seconds(COMPUTE), seconds(OVERLAPPED)),
            note="hidden share of the shorter of transfer and computation; below 0: mutual slowdown",
        ),
        Metric(
            "overlap_imb", "1", "higher", derived(imb_overlap_of, _mean(PURE), _mean(COMPUTE), _mean(OVERLAPPED)),
            note="the same from means, within 0 and 1 (as IMB-IO)",
        ),
        Metric("in the page cache", "1", "lower", result("in the page cache"), note="share of the file before reads"),
        Metric("t_min", "s", "lower", _of_rank("min"), note="mean time of the fastest rank (as IMB)"),
        Metric("t_avg", "s", "lower", _of_rank("mean"), note="mean over ranks of their mean times (as IMB)"),
        Metric("t_max", "s", "lower", _of_rank("max"), note="mean time of the slowest rank (as IMB)"),
        Metric("t_ovrl", "s", "lower", _mean(OVERLAPPED), note="t_max of a transfer with computation"),
        Metric("t_cpu", "s", "lower", _mean(COMPUTE), note="t_max of the computation per transfer"),
    ),
    pictures=(Curve("bytes", "bandwidth"), Bars("aggregate", "bandwidth"), Stacked("bytes", ("transfer", "sync"))),
    step=step,
    aliases={
        "ior": {},
        "imb-io": {},
    },
    smoke={"pattern": "p-write-indv,p-read-shared,c-iwrite-expl,open-close", "bytes": "1000", "aggregate": "2"},
    alone=("pattern",),
)  # fmt: skip
