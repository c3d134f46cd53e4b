"""Dense linear system by LU with partial pivoting (HPL, the benchmark of the TOP500 list)."""

from octant.limit import FMA, Known, Limit, fma_limit
from octant.machine import Machine
from octant.metric import Metric, rate, seconds, share
from octant.record import Point
from octant.step import Scaling
from octant.workload import Curve, NoTraffic, Stacked, Workload, any_size
from octant.workloads.hpcc.hpl.step import step


def _least_seconds(known: Known, _machine: Machine, point: Point) -> Limit | None:
    """Return the time at the multiply-add rate measured in this run on the same hardware threads."""
    return fma_limit(known, point)


def _footprint(_machine: Machine, point: Point) -> int:
    """Return the bytes of the matrix of all ranks."""
    return 8 * int(point.knobs["n"]) ** 2


def _traffic(_machine: Machine, _point: Point) -> NoTraffic:
    return NoTraffic("its messages overlap with computation")


WORKLOAD = Workload(
    summary="Dense linear system by LU with partial pivoting on a grid of processes (HPL)",
    metrics=(
        Metric("rate", "flop/s", "higher", rate("flops"), note="(2/3) n³ + (3/2) n² operations, as HPL counts"),
        Metric("time", "s", "lower", seconds()),
        Metric("update share", "1", "higher", share("phase/update"), note="share of the time of all ranks"),
        Metric("wait share", "1", "lower", share("phase/wait"), note="share of the time of all ranks"),
    ),
    bounded_by=tuple(FMA.values()),
    least_seconds=_least_seconds,
    pictures=(
        Curve("n", title="LU by order"),
        Stacked("n", phases=("panel", "broadcast", "swap", "update", "wait", "solve"), waiting=("wait",)),
    ),
    traffic=_traffic,
    footprint=_footprint,
    step=step,
    scaling=Scaling("hpl", "HPL", "n", power=2, apart=({"transport": "messages"},)),
    aliases={
        "linpack": {},
        "xhpl": {},
    },
    smoke={"n": "150", "block": "16", "library": "plain"},
    results={
        "residual_norm_inf": "largest magnitude in A x - b",
        "matrix_norm_1": "largest column sum of magnitudes in A",
        "matrix_norm_inf": "largest row sum of magnitudes in A",
        "solution_norm_1": "sum of the magnitudes of the unknowns",
        "solution_norm_inf": "largest magnitude of an unknown",
        "right_side_norm_inf": "largest magnitude in b",
    },
    sizes=dict.fromkeys(("n", "block", "grid"), any_size),
)
