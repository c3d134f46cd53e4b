"""MPI calls by several threads of each rank: messages and collective operations (as IMB-MT)."""

from octant.metric import Metric, groups, per, ranks, rate, result, steps
from octant.workload import Bars, Curve, Workload
from octant.workloads.mpi.threads.step import step

_T = "mean over steps, {} over ranks (as IMB)"

WORKLOAD = Workload(
    summary="MPI_THREAD_MULTIPLE: messages and collective calls by several threads of each rank",
    metrics=(
        Metric("time", "s", "lower", per("turns"), note="one operation of a thread; pingpong: one direction"),
        Metric("bandwidth", "B/s", "higher", rate("bytes_passed"), note="all threads of a rank, with IMB's factors"),
        Metric("message rate", "message/s", "higher", rate("messages"), note="all threads of all ranks"),
        Metric(
            "t_min", "s", "lower", per("turns", over=(steps("mean"), ranks("min"), groups("max"))),
            note=_T.format("minimum"),
        ),
        Metric(
            "t_avg", "s", "lower", per("turns", over=(steps("mean"), ranks("mean"), groups("max"))),
            note=_T.format("mean"),
        ),
        Metric(
            "t_max", "s", "lower", per("turns", over=(steps("mean"), ranks("max"), groups("max"))),
            note=_T.format("maximum"),
        ),
        Metric(
            "fork-join overhead", "s", "lower", result("fork-join overhead"),
            note="time of starting and joining threads per repeat",
        ),
    ),
    pictures=(Curve("bytes", "time", each=("pattern", "threads")), Bars("threads", "message rate")),
    step=step,
    smoke={
        "pattern": "pingpong,pingping,sendrecv,exchange,uniband,biband,allreduce,bcast,barrier,reduce",
        "repeats": "4",
        "window": "8",
    },
    messages=True,
    alone=("pattern",),
)  # fmt: skip
