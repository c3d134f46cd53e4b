"""Sums over the calls of a job: by rank, call, call site, communicator and size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from octant.profile.categories import category_of, transfers_data
from octant.profile.results import (
    CallTotals,
    CommunicatorSizeTotals,
    CommunicatorTotals,
    RankSpread,
    SiteOverlap,
    SiteTotals,
    SizeBucket,
    SizeDistribution,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import ArrayLike, NDArray

    from octant.profile.categories import Category
    from octant.profile.job import JobProfile

MAX_SIZED_CALLS = 8
"""Maximum number of functions with a size distribution of their own."""
COUNTS_ONLY = "counts only"
"""Flag of a process whose calls have no time."""


def is_counts_only(job: JobProfile) -> bool:
    """Return whether calls of any process were counted without times."""
    return any(COUNTS_ONLY in one.flags for one in job.processes)


def has_measured_waits(job: JobProfile) -> bool:
    """Return whether a barrier before each blocking collective measured the waiting for its last rank."""
    return bool(job.processes) and all("waits" in one.flags for one in job.processes)


def mpi_seconds(job: JobProfile) -> float:
    """Return the time inside MPI of all ranks and threads: the denominator of all shares."""
    return sum(one.mpi_s for one in job.processes)


def share_of(part: float, whole: float) -> float:
    """Return part / whole; 0 if the whole is 0."""
    return part / whole if whole > 0 else 0.0


@dataclass(frozen=True, eq=False)
class RankAxis:
    """The ranks of a job that have a table, ascending."""

    ranks: NDArray[np.int64]

    @classmethod
    def of(cls, job: JobProfile) -> RankAxis:
        """Return the ranks of the processes, and of calls without a process."""
        known = np.array([one.rank for one in job.processes], np.int64)
        return cls(np.unique(np.concatenate([known, job.calls["rank"].astype(np.int64)])))

    def sums(self, ranks: ArrayLike, values: NDArray[np.generic]) -> NDArray[np.generic]:
        """Return the sum of values by rank; integers are added exactly."""
        found = np.zeros(len(self.ranks), values.dtype)
        np.add.at(found, np.searchsorted(self.ranks, ranks), values)
        return found

    def spread(self, values: ArrayLike) -> RankSpread:
        """Return the distribution of one value per rank of this axis."""
        array = np.asarray(values, np.float64)
        if not len(array):
            return RankSpread(0.0, 0.0, 0.0, -1, -1, 1.0, 0.0)
        mean, most, least = float(array.mean()), int(array.argmax()), int(array.argmin())
        return RankSpread(
            minimum=float(array[least]),
            mean=mean,
            maximum=float(array[most]),
            rank_of_maximum=int(self.ranks[most]),
            rank_of_minimum=int(self.ranks[least]),
            imbalance=float(array[most]) / mean if mean > 0 else 1.0,
            cov=float(array.std()) / mean if mean > 0 else 0.0,
        )

    def part(self, ranks: ArrayLike) -> RankAxis:
        """Return the axis of these ranks only."""
        return RankAxis(np.unique(np.asarray(ranks, np.int64)))


def groups(rows: np.ndarray, *columns: str) -> list[tuple[tuple[int, ...], np.ndarray]]:
    """Return the rows with equal values in these columns, with the values, in ascending order."""
    if not len(rows):
        return []
    order = np.lexsort([rows[name] for name in reversed(columns)])
    ordered = rows[order]
    changes = np.zeros(len(rows), bool)
    for name in columns:
        changes[1:] |= np.diff(ordered[name]) != 0
    parts = np.split(ordered, np.flatnonzero(changes))
    return [(tuple(int(part[name][0]) for name in columns), part) for part in parts]


def by_cost(job: JobProfile) -> str:
    """Return the attribute by which tables are ordered: the time, or the number of calls if there are no times."""
    return "calls" if is_counts_only(job) else "time_s"


def call_totals(job: JobProfile, categories: Iterable[Category] | None = None) -> tuple[CallTotals, ...]:
    """Return the totals of each function; timed ones by time, then counted ones by number.

    Args:
        categories: of the functions to include; `None`: all.
    """
    axis, whole, is_counted = RankAxis.of(job), mpi_seconds(job), is_counts_only(job)
    wanted = None if categories is None else set(categories)
    found = []
    for (number,), rows in groups(job.calls, "call"):
        name = job.call_names[number]
        if wanted is not None and category_of(name) not in wanted:
            continue
        calls, size, time_s = int(rows["calls"].sum()), int(rows["bytes"].sum()), float(rows["time_s"].sum())
        found.append(
            CallTotals(
                name=name,
                calls=calls,
                bytes=size,
                mean_bytes=size / calls if calls and transfers_data(name) and not is_counted else None,
                time_s=time_s,
                share=share_of(time_s, whole),
                of_ranks=axis.spread(axis.sums(rows["rank"], rows["time_s"])),
                calls_of_ranks=axis.spread(axis.sums(rows["rank"], rows["calls"])),
                minimum_s=float(rows["min_s"].min()),
                maximum_s=float(rows["max_s"].max()),
                is_timed=time_s > 0,
            )
        )
    return tuple(sorted(found, key=lambda one: (-one.time_s, -one.calls, one.name)))


def site_totals(job: JobProfile) -> tuple[SiteTotals, ...]:
    """Return the totals of each function and call site, ordered like the totals of functions."""
    whole = mpi_seconds(job)
    found = []
    for (number, site), rows in groups(job.calls, "call", "site"):
        axis = RankAxis(np.unique(rows["rank"]).astype(np.int64))
        time_s = float(rows["time_s"].sum())
        places = [
            (float(of["time_s"].sum()), int(of["calls"].sum()), key[0]) for key, of in groups(rows, "communicator")
        ]
        found.append(
            SiteTotals(
                name=job.call_names[number],
                site=job.sites[site],
                site_number=site,
                calls=int(rows["calls"].sum()),
                bytes=int(rows["bytes"].sum()),
                time_s=time_s,
                share=share_of(time_s, whole),
                of_ranks=axis.spread(axis.sums(rows["rank"], rows["time_s"])),
                ranks=len(axis.ranks),
                minimum_s=float(rows["min_s"].min()),
                maximum_s=float(rows["max_s"].max()),
                communicators=tuple(key for _, _, key in sorted(places, reverse=True)),
            )
        )
    return tuple(sorted(found, key=lambda one: (-one.time_s, -one.calls, one.name, one.site_number)))


def site_overlaps(job: JobProfile) -> tuple[SiteOverlap, ...]:
    """Return the overlap of each call site that started requests, the most waiting first."""
    found = []
    for (number, site), rows in groups(job.calls[job.calls["in_flight_s"] > 0], "call", "site"):
        in_flight, waited = float(rows["in_flight_s"].sum()), float(rows["waited_s"].sum())
        found.append(
            SiteOverlap(
                name=job.call_names[number],
                site=job.sites[site],
                site_number=site,
                calls=int(rows["calls"].sum()),
                bytes=int(rows["bytes"].sum()),
                in_flight_s=in_flight,
                waited_s=waited,
                overlap=min(1.0, max(0.0, (in_flight - waited) / in_flight)),
            )
        )
    return tuple(sorted(found, key=lambda one: (-one.waited_s, -one.in_flight_s, one.name, one.site_number)))


def size_distribution(rows: np.ndarray, name: str = "") -> SizeDistribution:
    """Return the distribution of the sizes of these calls, without gaps between the buckets."""
    found = {key[0]: part for key, part in groups(rows, "bucket")}
    numbers = range(min(found), max(found) + 1) if found else ()
    empty = rows[:0]
    return SizeDistribution(name, tuple(_bucket(number, found.get(number, empty)) for number in numbers))


def bucket_limits(number: int) -> tuple[int, int]:
    """Return the smallest and largest size of a bucket, in bytes."""
    return (1 << (number - 1), (1 << number) - 1) if number > 0 else (0, 0)


def _bucket(number: int, rows: np.ndarray) -> SizeBucket:
    first, last = bucket_limits(number)
    return SizeBucket(
        number, first, last, int(rows["calls"].sum()), int(rows["bytes"].sum()), float(rows["time_s"].sum())
    )


def data_rows(job: JobProfile) -> np.ndarray:
    """Return the calls of functions that transfer data; none if bytes were not recorded."""
    numbers = [number for number, name in enumerate(job.call_names) if transfers_data(name)]
    rows: np.ndarray = job.calls[np.isin(job.calls["call"], numbers)]
    return rows[:0] if is_counts_only(job) else rows


def size_distributions(job: JobProfile) -> tuple[SizeDistribution, ...]:
    """Return the size distributions of the functions with the most time."""
    rows = data_rows(job)
    every = [(float(part["time_s"].sum()), job.call_names[key[0]], part) for key, part in groups(rows, "call")]
    costliest = sorted(every, key=lambda one: (-one[0], one[1]))[:MAX_SIZED_CALLS]
    return tuple(size_distribution(part, name) for _, name, part in costliest)


def communicator_totals(job: JobProfile) -> tuple[CommunicatorTotals, ...]:
    """Return the totals of each communicator, window or file, the costliest first."""
    whole = mpi_seconds(job)
    found = [
        CommunicatorTotals(
            communicator=job.communicators[number],
            communicator_number=number,
            calls=int(rows["calls"].sum()),
            bytes=int(rows["bytes"].sum()),
            time_s=float(rows["time_s"].sum()),
            share=share_of(float(rows["time_s"].sum()), whole),
            ranks=len(np.unique(rows["rank"])),
        )
        for (number,), rows in groups(job.calls, "communicator")
    ]
    return tuple(sorted(found, key=lambda one: (-one.time_s, -one.calls, one.communicator_number)))


def communicator_size_totals(of: Sequence[CommunicatorTotals]) -> tuple[CommunicatorSizeTotals, ...]:
    """Return the totals of communicators of the same kind and size, the costliest first."""
    alike: dict[tuple[int, str], list[CommunicatorTotals]] = {}
    for one in of:
        alike.setdefault((one.communicator.size, one.communicator.kind), []).append(one)
    found = [
        CommunicatorSizeTotals(
            size=size,
            kind=kind,
            communicators=len(every),
            calls=sum(one.calls for one in every),
            bytes=sum(one.bytes for one in every),
            time_s=sum(one.time_s for one in every),
            share=sum(one.share for one in every),
        )
        for (size, kind), every in alike.items()
    ]
    return tuple(sorted(found, key=lambda one: (-one.time_s, -one.calls, one.size, one.kind)))
