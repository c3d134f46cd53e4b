"""Results and series of a point that come from its profile, so that tables, comparisons and gates read them.

Values that need times are missing if the calls were only counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from octant.profile.efficiency import efficiency, job_totals, rank_totals, thread_seconds
from octant.profile.job import SENT
from octant.profile.totals import is_counts_only
from octant.record import Result

if TYPE_CHECKING:
    from octant.profile.job import JobProfile

MPI_SHARE, MPI_TIME, MPI_CALLS = "MPI share", "MPI time", "MPI calls"
BYTES_SENT, MESSAGES_SENT = "bytes sent", "messages sent"
PARALLEL_EFFICIENCY, LOAD_BALANCE, COMMUNICATION_EFFICIENCY = (
    "parallel efficiency",
    "load balance",
    "communication efficiency",
)
PROFILING_COST = "profiling cost"
REGION_PREFIX = "phase/"
MAX_SERIES = 20_000
"""Maximum number of series of regions in a record; regions with less time are left out."""
MAX_REGION_NAME = 200
"""Maximum length of the path of a region in a record."""


def results(job: JobProfile) -> tuple[Result, ...]:
    """Return the values of a whole launch; none if no process was profiled."""
    if not job.processes:
        return ()
    ranks = rank_totals(job)
    total = job_totals(job, ranks)
    found: list[Result] = []
    if total.mpi_share is not None:
        found += [Result(MPI_SHARE, total.mpi_share), Result(MPI_TIME, total.mpi_s / len(ranks), "s")]
    found += [
        Result(MPI_CALLS, float(total.calls)),
    ]
    if not is_counts_only(job):
        found += [
            Result(BYTES_SENT, float(total.bytes_sent), "B"),
            Result(MESSAGES_SENT, float(job.peers["messages"][job.peers["kind"] == SENT].sum())),
        ]
    if (factors := efficiency(job)) is not None:
        found += [
            Result(PARALLEL_EFFICIENCY, factors.parallel),
            Result(LOAD_BALANCE, factors.load_balance),
            Result(COMMUNICATION_EFFICIENCY, factors.communication),
        ]
    whole_s = thread_seconds(job.processes)
    if whole_s > 0:
        found.append(Result(PROFILING_COST, sum(one.own_cost_s for one in job.processes) / whole_s))
    return tuple(found)


def series(job: JobProfile) -> tuple[Mapping[str, Any], ...]:
    """Return series in the form of a record, each with one value: of every rank, and of every region and rank."""
    found: list[Mapping[str, Any]] = []
    ranks = rank_totals(job)
    if not is_counts_only(job):
        found += [
            {"name": f"reading/{MPI_TIME}", "rank": one.rank, "unit": "s", "values": [one.mpi_s]} for one in ranks
        ]
        found += [
            {"name": f"reading/{BYTES_SENT}", "rank": one.rank, "unit": "B", "values": [one.bytes_sent]}
            for one in ranks
        ]
    return (*found, *_of_regions(job))


def _of_regions(job: JobProfile) -> Iterator[Mapping[str, Any]]:
    """Yield the time of each rank in each region, 0 if it was not there, as a phase has it."""
    names = _names(job)
    times: dict[str, dict[int, list[float]]] = {}
    for rank, region, visits, time_s, _ in job.region_times.tolist():
        if region:
            of_rank = times.setdefault(names[region], {}).setdefault(rank, [0.0, 0])
            of_rank[0] += time_s
            of_rank[1] += visits
    ranks = [one.rank for one in job.processes]
    costliest = sorted(times, key=lambda name: -sum(time for time, _ in times[name].values()))
    kept = set(costliest[: MAX_SERIES // max(1, len(ranks))])
    for name, of_ranks in times.items():
        if name in kept:
            for rank in ranks:
                time_s, visits = of_ranks.get(rank, [0.0, 0])
                ns = [round(time_s * 1e9)]
                yield {"name": f"{REGION_PREFIX}{name}", "rank": rank, "ns": ns, "entries": int(visits)}


def _names(job: JobProfile) -> Sequence[str]:
    """Return the path of each region."""
    paths: list[str] = []
    for region in job.regions:
        above = paths[region.parent] if region.parent > 0 else ""
        paths.append(f"{above}/{region.name}"[-MAX_REGION_NAME:] if above else region.name[:MAX_REGION_NAME])
    return paths


def region_of(series_name: str) -> str | None:
    """Return the path of the region of a series; `None`: it is the series of something else."""
    return series_name.removeprefix(REGION_PREFIX) if series_name.startswith(REGION_PREFIX) else None
