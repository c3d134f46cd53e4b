"""What several launches of the same program have in common: times with intervals, and counts that differ."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal

from octant.profile.categories import category_of
from octant.profile.efficiency import thread_seconds
from octant.profile.results import ChangedCount, LaunchComparison, RepeatedValue
from octant.profile.totals import groups, is_counts_only, mpi_seconds
from octant.stats import Interval, Period, median_over_launches

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from octant.profile.job import JobProfile

MAX_CALLS = 8
"""Maximum number of functions whose times are compared."""
LEAST_LAUNCHES = 3
"""Minimum number of launches for an interval."""
_NO_PERIOD = Period(datetime.fromtimestamp(0, UTC), datetime.fromtimestamp(0, UTC))


def compare_launches(jobs: Sequence[JobProfile]) -> LaunchComparison:
    """Return the times of all launches, and the functions whose numbers of calls or bytes differ."""
    if len(jobs) < 2:
        return LaunchComparison(len(jobs))
    return LaunchComparison(len(jobs), tuple(_values(jobs)), tuple(_changed(jobs)))


def _values(jobs: Sequence[JobProfile]) -> list[RepeatedValue]:
    """Return elapsed time, MPI time, MPI share and the times of the costliest functions."""
    found = [_repeated("elapsed", "s", [max((p.elapsed_s for p in job.processes), default=0.0) for job in jobs])]
    if any(is_counts_only(job) for job in jobs):
        return found
    whole = [thread_seconds(job.processes) for job in jobs]
    mpi = [mpi_seconds(job) for job in jobs]
    found.append(_repeated("MPI time", "s", mpi))
    if all(one > 0 for one in whole):
        found.append(_repeated("MPI share", "1", [part / all_s for part, all_s in zip(mpi, whole, strict=True)]))
    times = [_by_name(job, "time_s") for job in jobs]
    first = sorted(times[0].items(), key=lambda one: (-one[1], one[0]))[:MAX_CALLS]
    found += [_repeated(name, "s", [float(of.get(name, 0)) for of in times]) for name, time_s in first if time_s > 0]
    return found


def _repeated(name: str, unit: str, values: Sequence[float]) -> RepeatedValue:
    """Return a value of all launches, with its interval if there are enough."""
    interval = None
    if len(values) >= LEAST_LAUNCHES:
        estimate = median_over_launches([Interval(one, one, one) for one in values], _NO_PERIOD)
        interval = Interval(estimate.low, estimate.middle, estimate.high)
    return RepeatedValue(name, unit, tuple(values), interval)


def _changed(jobs: Sequence[JobProfile]) -> list[ChangedCount]:
    """Return the functions whose counts differ between launches, by name; polling ones last."""
    found = []
    columns: tuple[Literal["calls", "bytes"], ...] = ("calls", "bytes")
    for column in columns:
        counts = [_by_name(job, column) for job in jobs]
        for name in sorted({name for one in counts for name in one}):
            values = [int(one.get(name, 0)) for one in counts]
            if min(values) < max(values):
                polls = category_of(name) == "poll"
                found.append(ChangedCount(name, column, min(values), max(values), polls))
    return sorted(found, key=lambda one: (one.is_polling, one.name, one.what != "calls"))


def _by_name(job: JobProfile, column: str) -> Mapping[str, float]:
    """Return the sum of a column by function."""
    return {job.call_names[number]: rows[column].sum().item() for (number,), rows in groups(job.calls, "call")}
