"""The rank that others wait for, inferred from the time of each rank in a synchronising collective.

No rank leaves such a collective before the last one has entered. The rank that enters last therefore has the least
time in it, and what the other ranks spend above this minimum is waiting. Sums over calls show only a rank that is
usually the last; where the last rank changes from call to call, every rank waits, and no rank is named.

The calls at one site on one communicator belong together. If the ranks make the same collective at different sites,
these sites belong together, as far as every rank of the communicator makes equally many calls there.

With `octant profile --waits`, a barrier before each blocking collective measures the waiting of every call. Then all
blocking collectives are included, the waiting is that of all ranks, and the latest rank is the one that waits least.
"""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from octant.profile.categories import BLOCKING_COLLECTIVES, SYNCHRONISING
from octant.profile.results import CollectiveWait
from octant.profile.totals import groups, has_measured_waits, is_counts_only, mpi_seconds, share_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from octant.profile.job import JobProfile

RELEVANT_SHARE = 0.01
"""Share of all MPI time that the waiting for a named rank has at least."""
LEAST_GAP = 0.5
"""Gap between the least and the second-least time, over the mean waiting of the others, from which a rank is named."""
LARGEST_RATIO = 0.5
"""Largest ratio of the least to the second-least time of a named rank."""
CALLS_NOISE = 7.3
"""Few calls need a smaller ratio, exp(-7.3 / √calls).

If one of two ranks is late at random in each call, with exponential delays, the logarithm of the ratio of their times
has the standard deviation √(8 / calls). 2.6 times this deviation is exceeded in 1 % of the cases.
"""
EQUAL_CALLS = 0.99
"""Smallest over largest number of calls of the ranks, from which their times are comparable."""


def collective_waits(job: JobProfile) -> tuple[CollectiveWait, ...]:
    """Return the waiting in each synchronising collective, the most first; empty without times."""
    if is_counts_only(job):
        return ()
    whole = mpi_seconds(job)
    found = [_wait(job, rows, whole) for rows in _collectives(job)]
    order = sorted(found, key=lambda one: (-one.waited_s, one.name, one.site_number, one.communicator_number))
    return tuple(order)


def assigned_seconds(waits: tuple[CollectiveWait, ...]) -> float:
    """Return the waiting for ranks that are named, and all waiting that was measured."""
    return sum(one.waited_s for one in waits if one.rank is not None or one.basis == "measured")


def launches_with_late_rank(waits: Sequence[CollectiveWait], others: Sequence[JobProfile]) -> int | None:
    """Return in how many launches the same rank is waited for as in the largest wait, which is that of one launch."""
    largest = next((one for one in waits if one.rank is not None), None)
    if largest is None or not others:
        return None
    return 1 + sum(any(map(partial(_is_same, largest), collective_waits(job))) for job in others)


def _is_same(one: CollectiveWait, other: CollectiveWait) -> bool:
    """Return whether two launches name the same rank in the same collective; offsets in modules do not change."""
    return (one.rank, one.name, one.site.module, one.site.offset, one.communicator.size) == (
        other.rank, other.name, other.site.module, other.site.offset, other.communicator.size,
    )  # fmt: skip


def _collectives(job: JobProfile) -> Iterator[np.ndarray]:
    """Yield the calls of each collective of at least two ranks that took part."""
    names = BLOCKING_COLLECTIVES if has_measured_waits(job) else SYNCHRONISING
    numbers = [number for number, name in enumerate(job.call_names) if name in names]
    for (_, communicator), rows in groups(job.calls[np.isin(job.calls["call"], numbers)], "call", "communicator"):
        if job.communicators[communicator].kind != "communicator":
            continue  # of an intercommunicator, each group waits for the other
        size = job.communicators[communicator].size
        if size < 2:
            continue  # of one rank, or not recorded: its calls may be on several communicators
        by_site = [part for _, part in groups(rows, "site")]
        whole = [part for part in by_site if len(np.unique(part["rank"])) >= size]
        parts = [part for part in by_site if len(np.unique(part["rank"])) < size]
        for part in [*whole, *_joined(parts, size)]:
            if len(np.unique(part["rank"])) > 1:
                yield part


def _joined(parts: list[np.ndarray], size: int) -> list[np.ndarray]:
    """Return sites at which only some ranks call as one, if together all ranks make equally many calls."""
    if len(parts) < 2:
        return parts
    joined = np.concatenate(parts)
    ranks, calls, _ = _per_rank(joined, "time_s")
    return [joined] if len(ranks) >= size and calls.min() >= EQUAL_CALLS * calls.max() else parts


def _per_rank(rows: np.ndarray, column: str) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Return the ranks with their number of calls and their sum of a column."""
    ranks, places = np.unique(rows["rank"], return_inverse=True)
    calls, time_s = np.zeros(len(ranks), np.int64), np.zeros(len(ranks))
    np.add.at(calls, places, rows["calls"])
    np.add.at(time_s, places, rows[column])
    return ranks.astype(np.int64), calls, time_s


def _wait(job: JobProfile, rows: np.ndarray, whole: float) -> CollectiveWait:
    """Return the waiting of one collective; its site is the one with the most time."""
    is_measured = has_measured_waits(job)
    ranks, calls, time_s = _per_rank(rows, "waited_s" if is_measured else "time_s")
    order = np.argsort(time_s, kind="stable")
    least, second = float(time_s[order[0]]), float(time_s[order[1]])
    waited = float(time_s.sum()) if is_measured else float((time_s - least).sum())
    sites = [(float(part["time_s"].sum()), -key[0]) for key, part in groups(rows, "site")]
    site, communicator = -max(sites)[1], int(rows["communicator"][0])
    complete = len(ranks) >= job.communicators[communicator].size
    comparable = complete and calls.min() >= EQUAL_CALLS * calls.max()
    named = comparable and waited >= RELEVANT_SHARE * whole and _is_late(least, second, waited, len(ranks), calls.max())
    return CollectiveWait(
        name=job.call_names[int(rows["call"][0])],
        site=job.sites[site],
        site_number=site,
        communicator=job.communicators[communicator],
        communicator_number=communicator,
        calls=int(calls.max()),
        ranks=len(ranks),
        rank=int(ranks[order[0]]) if named else None,
        waited_s=waited,
        share=share_of(waited, whole),
        time_s=float(rows["time_s"].sum()),
        least_s=least,
        next_s=second,
        longest_s=float(rows["max_s"].max()),
        basis="measured" if is_measured else "inferred",
    )


def _is_late(least: float, second: float, waited: float, ranks: int, calls: float) -> bool:
    """Return whether the least time of one rank is clearly below that of the others."""
    ratio = min(LARGEST_RATIO, math.exp(-CALLS_NOISE / math.sqrt(max(1.0, calls))))
    return waited > 0 and second - least >= LEAST_GAP * waited / (ranks - 1) and least <= ratio * second
