"""What it takes until ranks can send messages: MPI_Init, first messages, memory for each peer, sessions."""

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
    summary="MPI_Init, first messages against later ones, memory for each peer, sessions",
    metrics=(
        Metric("init", "s", "lower", custom(_init), note="MPI_Init_thread on the first rank; a launch is a sample"),
        Metric("first", "s", "lower", reading("first", over=TYPICAL), note="first message there and back, of pairs"),
        Metric("steady", "s", "lower", reading("steady", over=TYPICAL), note="later messages there and back"),
        Metric("slowest first", "s", "lower", reading("first", over=WORST), note="of all pairs"),
        Metric(
            "first over steady", "1", "lower",
            derived(_over, reading("first", over=TYPICAL), reading("steady", over=TYPICAL)),
            note="1: the first message is like any other",
        ),
        Metric("late", "s", "lower", reading("late", over=WORST), note="by which one of a pair was ready last"),
        Metric("resident", "B", "lower", reading("resident", over=WORST), note="memory of a rank after MPI_Init"),
        Metric(
            "memory per peer", "B", "lower", reading("per peer", over=WORST),
            note="by which a rank grew at its first messages, over the ranks that it sent to",
        ),
        Metric("session init", "s", "lower", seconds("phase/init"), note="MPI_Session_init"),
        Metric("session communicator", "s", "lower", seconds("phase/communicator"), note="of all ranks"),
        Metric("session finalize", "s", "lower", seconds("phase/finalize"), note="with the communicator"),
    ),
    step=step,
    smoke={"pattern": "first,sessions"},
    messages=True,
    alone=("pattern", "bytes", "exchanges"),
)  # fmt: skip
