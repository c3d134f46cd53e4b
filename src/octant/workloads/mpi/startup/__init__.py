"""Start-up of MPI: MPI_Init, connection setup by first messages, memory per peer, sessions."""

from octant.metric import Metric, custom, derived, groups, ranks, reading, seconds, steps
from octant.record import Point, Samples
from octant.workload import Workload
from octant.workloads.mpi.startup.step import step

TYPICAL = (steps("median"), ranks("median"), groups("max"))
WORST = (steps("max"), ranks("max"), groups("max"))


def _init(point: Point, _samples: Samples) -> float:
    return point.process.init_s or float("nan")


def _over(first_s: float, steady_s: float) -> float:
    return first_s / steady_s


WORKLOAD = Workload(
    summary="Start-up of MPI: MPI_Init, first messages compared with later ones, memory per peer, sessions",
    metrics=(
        Metric("init", "s", "lower", custom(_init), note="MPI_Init_thread of the first rank; one sample per launch"),
        Metric("first", "s", "lower", reading("first", over=TYPICAL), note="first round trip of a pair"),
        Metric("steady", "s", "lower", reading("steady", over=TYPICAL), note="later round trips of a pair"),
        Metric("slowest first", "s", "lower", reading("first", over=WORST), note="slowest pair"),
        Metric(
            "first over steady", "1", "lower",
            derived(_over, reading("first", over=TYPICAL), reading("steady", over=TYPICAL)),
            note="1: no connection setup",
        ),
        Metric("late", "s", "lower", reading("late", over=WORST), note="arrival difference of the two ranks of a pair"),
        Metric("resident", "B", "lower", reading("resident", over=WORST), note="memory of a rank after MPI_Init"),
        Metric(
            "memory per peer", "B", "lower", reading("per peer", over=WORST),
            note="memory growth per rank that received a first message",
        ),
        Metric("session init", "s", "lower", seconds("phase/init"), note="MPI_Session_init"),
        Metric("session communicator", "s", "lower", seconds("phase/communicator"), note="communicator of all ranks"),
        Metric("session finalize", "s", "lower", seconds("phase/finalize"), note="including the communicator"),
    ),
    step=step,
    smoke={"pattern": "first,sessions"},
    messages=True,
    alone=("pattern", "bytes", "exchanges"),
)  # fmt: skip
