"""A fixed quantum of work, over and over: what the system takes from us, as a distribution."""

from dataclasses import dataclass

import numpy as np

from octant import stats
from octant.machine import Machine
from octant.record import Lane, Point
from octant.workload import Ask, Ceilings, Limit, Metric, Workload


@dataclass(frozen=True)
class Loss:
    """What one lane lost against its own typical quantum; delays are seconds beyond it."""

    rank: int
    thread: int
    typical_s: float  # the median quantum
    share: float  # of the time in quanta that was beyond the typical quantum
    p50_s: float
    p99_s: float
    p999_s: float
    most_s: float


def loss(lane: Lane) -> Loss:
    """The distribution of a lane's delays, and the share of its time in them.

    Time in quanta only: what happens between two bursts, where the harness works, is nobody's loss.

    Raises:
        ValueError: the lane has no samples.
    """
    seconds = np.asarray(lane.duration_ns, dtype=np.float64) * 1e-9
    if len(seconds) == 0:
        raise ValueError("a loss needs at least one quantum")
    typical = float(np.median(seconds))
    delays = np.maximum(seconds - typical, 0.0)
    p50, p99, p999 = stats.quantiles(delays, (0.5, 0.99, 0.999))
    return Loss(
        lane.rank, lane.thread, typical, float(delays.sum() / seconds.sum()), p50, p99, p999, float(delays.max())
    )


def losses(point: Point) -> tuple[Loss, ...]:
    """One a lane."""
    return tuple(loss(lane) for lane in point.lanes)


def _limit(_machine: Machine, ceilings: Ceilings, point: Point) -> Limit | None:
    """One addition a cycle at the best clock that this run saw."""
    if ceilings.clock_hz is None:
        return None
    additions = int(point.knobs["additions"]) // 8 * 8
    return Limit(additions / ceilings.clock_hz, f"{additions} cycles at {ceilings.clock_hz / 1e9:.2f} GHz, undisturbed")


def _evaluate(_machine: Machine, quick: bool) -> tuple[Ask, ...]:
    knobs = {"seconds": "2" if quick else "20", "samples": "100000" if quick else "1000000", "precision": "0"}
    return (
        Ask("one", knobs, "fixed quantum, one core"),
        Ask("threads", knobs, "fixed quantum, a thread on every core"),
    )


WORKLOAD = Workload(
    name="noise",
    summary="A fixed quantum of work, over and over: what the operating system takes from us",
    metrics=(
        Metric("quantum", "s", "time", lambda point: point.work.quanta, note="one quantum; see the distribution"),
    ),
    limit=_limit,
    evaluate=_evaluate,
    axis="",
    order=60,
)
