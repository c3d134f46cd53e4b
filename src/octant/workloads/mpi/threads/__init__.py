"""Threads of a rank that call MPI at the same time: messages and collective calls, as in IMB-MT."""

from octant.metric import Metric, groups, per, ranks, rate, result, steps
from octant.workload import Bars, Curve, Workload
from octant.workloads.mpi.threads.step import step

_T = "as IMB: mean over steps, then {} over ranks"

WORKLOAD = Workload(
    summary="Messages and collective calls of several threads of each rank at the same time",
    metrics=(
        Metric("time", "s", "lower", per("turns"), note="of one operation as each thread sees it; pingpong: one way"),
        Metric("bandwidth", "B/s", "higher", rate("bytes_passed"), note="of a rank's threads, with IMB's factors"),
        Metric("message rate", "message/s", "higher", rate("messages"), note="of all threads of all ranks"),
        Metric(
            "t_min", "s", "lower", per("turns", over=(steps("mean"), ranks("min"), groups("max"))),
            note=_T.format("least"),
        ),
        Metric(
            "t_avg", "s", "lower", per("turns", over=(steps("mean"), ranks("mean"), groups("max"))),
            note=_T.format("mean"),
        ),
        Metric(
            "t_max", "s", "lower", per("turns", over=(steps("mean"), ranks("max"), groups("max"))),
            note=_T.format("greatest"),
        ),
        Metric(
            "fork-join overhead", "s", "lower", result("fork-join overhead"),
            note="part of each step that is no message, divided among its repeats",
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
