"""Lost time: the share of the wall time in which a thread was ready and did not run, and its cause.

The CPU clock of a thread covers every cause. Run-queue wait does not cover stopped processes, and the kernel counts
time throttled by a quota as wait too, so the two are never added.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from octant.stats.caveats import Caveat, graded

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

Cause = Literal[
    "a CPU quota",
    "oversubscription",
    "other work on the same CPUs",
    "the hypervisor",
    "suspended processes or other causes",
]


@dataclass(frozen=True)
class LostShares:
    """Lost time as shares of the wall time, 0 … 1."""

    share: float  # used for grading: over all lanes, or of the rank that lost most
    by_thread: tuple[float, ...]  # of each lane or rank
    wait: float  # on the run queue, of the thread that waited most
    throttled: float  # by a quota, of the threads that share it
    steal: float  # taken by the hypervisor; separate, because CPU clocks may or may not include it
    cause: Cause
    oversubscribed: float = 0.0  # the part of the wait caused by the launch's own threads on shared hardware threads


def lost_time(
    wall_s: ArrayLike,
    cpu_s: ArrayLike | None,
    wait_s: ArrayLike,
    throttled_s: float = 0.0,
    steal_s: float = 0.0,
    threads: int | None = None,
    together: bool = False,
    crowded: float = 0.0,
) -> LostShares:
    """Return the lost time of a measurement, from readings at the ends of its bursts.

    Args:
        wall_s: shape (lanes or ranks, bursts), seconds.
        cpu_s: CPU time of each thread, same shape; wall time without CPU time is lost. `None` for steps of programs
            whose ranks may block: then the greater of run-queue wait and throttling of the worst rank counts.
        wait_s: run-queue wait of each thread, same shape.
        throttled_s: time throttled by quotas during the bursts, summed over CPUs as the kernel does.
        steal_s: stolen time of the CPUs that the threads may use, summed.
        threads: number of threads under the quota and on these CPUs; default: the lanes or ranks of `wall_s`.
        together: the ranks wait for each other, so the rank that lost most counts.
        crowded: share of its time that a thread waits for other threads of the launch on its hardware threads.

    Raises:
        ValueError: a thread has no wall time, or the shapes differ.
    """
    wall, wait = np.asarray(wall_s, np.float64), np.asarray(wait_s, np.float64)
    cpu = None if cpu_s is None else np.asarray(cpu_s, np.float64)
    if wall.ndim != 2 or wait.shape != wall.shape or (cpu is not None and cpu.shape != wall.shape):
        raise ValueError("cannot compute lost time (readings do not all have the shape threads x bursts)")
    whole = wall.sum(axis=1)
    if not len(whole) or not (whole > 0).all():
        raise ValueError("cannot compute lost time (a thread has no wall time)")
    at_work = float(whole.mean()) * (threads or len(whole))
    throttled, steal = (min(1.0, seconds / at_work) for seconds in (throttled_s, steal_s))
    waits = np.clip(wait.sum(axis=1) / whole, 0, 1)
    by_thread = np.maximum(waits, throttled) if cpu is None else np.clip(1 - cpu.sum(axis=1) / whole, 0, 1)
    share = float(by_thread.max() if together or cpu is None else by_thread @ whole / whole.sum())
    most = float(waits.max())
    own = min(most, crowded)
    cause = _cause(share, throttled, own, most, steal)
    return LostShares(share, tuple(map(float, by_thread)), most, throttled, steal, cause, own)


def _cause(share: float, throttled: float, own: float, wait: float, steal: float) -> Cause:
    """Return the cause that explains at least half of the share. Wait includes throttling."""
    half = share / 2
    known: tuple[tuple[float, Cause], ...] = (
        (throttled, "a CPU quota"),
        (own, "oversubscription"),
        (wait, "other work on the same CPUs"),
        (steal, "the hypervisor"),
    )
    return next((name for taken, name in known if taken > 0 and taken >= half), "suspended processes or other causes")


def caveats_about_lost_time(lost: LostShares) -> tuple[Caveat, ...]:
    """Return the caveats about lost and stolen time, graded by `BOUNDS`."""
    text = f"{100 * lost.share:.0f} % of the time was lost to {lost.cause}"
    found = graded("lost time", lost.share, text + ": not measurable" * (lost.share > 0.5))
    if found and lost.cause == "the hypervisor":
        return found
    return found + graded("stolen time", lost.steal, f"the hypervisor took {100 * lost.steal:.0f} % of the CPU time")
