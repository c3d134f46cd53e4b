"""Lost time: the share of the wall time in which a thread that had work did not run, and what took it.

A thread's own CPU clock sees every cause. The run queue's wait misses stopped processes, and the kernel counts time
throttled by a quota as wait too, so the two are never added.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from octant.stats.caveats import Caveat, graded

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

Cause = Literal[
    "a CPU quota", "oversubscription", "other work on the same CPUs", "the hypervisor", "stops or other causes"
]


@dataclass(frozen=True)
class LostShares:
    """Shares of the wall time, 0 … 1."""

    share: float  # that counts: over all lanes, or of the rank that lost most
    by_thread: tuple[float, ...]  # of each lane or rank
    wait: float  # on the run queue, of the thread that waited most
    throttled: float  # by a quota, of the threads that share it
    steal: float  # taken by the hypervisor; whether CPU clocks count it depends on kernel and host, so it stands apart
    cause: Cause
    oversubscribed: float = 0.0  # the part of the wait that the launch's own threads cause: they share hardware threads


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
    """Lost time of a point, from readings at the ends of its bursts.

    Args:
        wall_s: shape (lanes or ranks, bursts), seconds.
        cpu_s: the CPU time of each thread itself, the same shape: what it lacks is lost. `None` for steps of programs
            whose ranks may block, where waiting is legal: then run-queue wait or throttling count, whichever is
            greater, of the rank that lost most.
        wait_s: run-queue wait of each thread itself, the same shape.
        throttled_s: by quotas during the bursts, added up over CPUs as the kernel does.
        steal_s: of the CPUs that the threads may use, added up.
        threads: at work under the quota and on these CPUs; by default the lanes or ranks that are given.
        together: each rank waits for the others, so the one that lost most counts.
        crowded: the share of its time that a thread waits for the launch's other threads, which share its hardware
            threads.

    Raises:
        ValueError: a thread without wall time, or readings of other shapes.
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
    """What explains at least half of the share, and took time: throttling before the wait that contains it."""
    half = share / 2
    known: tuple[tuple[float, Cause], ...] = (
        (throttled, "a CPU quota"),
        (own, "oversubscription"),
        (wait, "other work on the same CPUs"),
        (steal, "the hypervisor"),
    )
    return next((name for taken, name in known if taken > 0 and taken >= half), "stops or other causes")


def caveats_about_lost_time(lost: LostShares) -> tuple[Caveat, ...]:
    """To 1 % nothing, to 5 % a note, to 50 % limited; beyond, the figure is not measurable."""
    text = f"{100 * lost.share:.0f} % of the time was lost to {lost.cause}"
    found = graded("lost time", lost.share, text + ": not measurable" * (lost.share > 0.5))
    if found and lost.cause == "the hypervisor":
        return found
    return found + graded("stolen time", lost.steal, f"the hypervisor took {100 * lost.steal:.0f} % of the CPU time")
