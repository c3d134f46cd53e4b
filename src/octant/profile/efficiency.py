"""Time of ranks inside and outside MPI, and the factors of the parallel efficiency.

The MPI share of a rank is the time of its threads in MPI over (threads that called MPI × time from the end of MPI_Init
to the start of MPI_Finalize). Useful time is the rest, per thread. With E, the elapsed time of the slowest rank:

    load balance = mean useful / max useful;  communication = max useful / E;  parallel = mean useful / E
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from octant.profile.categories import sends_data
from octant.profile.results import JobTotals, ParallelEfficiency, RankTotals
from octant.profile.totals import RankAxis, is_counts_only, mpi_seconds, share_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from octant.profile.job import JobProfile, ProcessProfile


def thread_seconds(processes: Iterable[ProcessProfile]) -> float:
    """Return threads × elapsed time of these processes."""
    return sum(max(1, one.threads) * one.elapsed_s for one in processes)


def rank_totals(job: JobProfile) -> tuple[RankTotals, ...]:
    """Return the totals of each rank that has a table, by rank."""
    axis = RankAxis.of(job)
    calls = axis.sums(job.calls["rank"], job.calls["calls"])
    sending = [number for number, name in enumerate(job.call_names) if sends_data(name)]
    sent = job.calls[np.isin(job.calls["call"], sending)]
    size = axis.sums(sent["rank"], sent["bytes"])
    of_rank: dict[int, list[ProcessProfile]] = {}
    for one in job.processes:
        of_rank.setdefault(one.rank, []).append(one)
    counted = is_counts_only(job)
    return tuple(
        _rank_totals(of_rank[rank], int(calls[at]), int(size[at]), counted)
        for at, rank in enumerate(map(int, axis.ranks))
        if rank in of_rank
    )


def _rank_totals(processes: Sequence[ProcessProfile], calls: int, size: int, counted: bool) -> RankTotals:
    """Return the totals of the processes of one rank; usually there is one."""
    first, whole = processes[0], thread_seconds(processes)
    mpi_s = sum(one.mpi_s for one in processes)
    return RankTotals(
        rank=first.rank,
        host=first.host,
        state=next((one.state for one in processes if one.state != "finalized"), first.state),
        elapsed_s=sum(one.elapsed_s for one in processes),
        threads=max(one.threads for one in processes),
        mpi_s=mpi_s,
        mpi_share=None if counted or whole <= 0 else mpi_s / whole,
        calls=calls,
        bytes_sent=size,
        peak_memory_bytes=_integer(_sum(one.peak_memory_bytes for one in processes)),
        user_s=_sum(one.user_s for one in processes),
        system_s=_sum(one.system_s for one in processes),
        context_switches=_integer(_sum(one.context_switches for one in processes)),
        own_cost_share=share_of(sum(one.own_cost_s for one in processes), whole),
    )


def job_totals(job: JobProfile, ranks: Sequence[RankTotals]) -> JobTotals:
    """Return the totals of all ranks."""
    whole, mpi_s = thread_seconds(job.processes), mpi_seconds(job)
    shares = [(one.rank, one.mpi_share) for one in ranks if one.mpi_share is not None]
    memory = [(one.rank, one.peak_memory_bytes) for one in ranks if one.peak_memory_bytes is not None]
    return JobTotals(
        elapsed_s=max((one.elapsed_s for one in ranks), default=0.0),
        mpi_s=mpi_s,
        mpi_share=None if is_counts_only(job) or whole <= 0 else mpi_s / whole,
        mpi_share_of_ranks=RankAxis(_array(shares)).spread([of for _, of in shares]) if shares else None,
        calls=sum(one.calls for one in ranks),
        bytes_sent=sum(one.bytes_sent for one in ranks),
        peak_memory_bytes=_integer(_sum(one.peak_memory_bytes for one in ranks)),
        peak_memory_of_ranks=RankAxis(_array(memory)).spread([of for _, of in memory]) if memory else None,
        user_s=_sum(one.user_s for one in ranks),
        system_s=_sum(one.system_s for one in ranks),
        context_switches=_integer(_sum(one.context_switches for one in ranks)),
    )


def efficiency(job: JobProfile) -> ParallelEfficiency | None:
    """Return the factors of the parallel efficiency; `None` without times."""
    axis = RankAxis.of(job)
    ranks = [one.rank for one in job.processes]
    elapsed = axis.sums(ranks, np.array([one.elapsed_s for one in job.processes]))
    useful = axis.sums(ranks, np.array([one.elapsed_s - one.mpi_s / max(1, one.threads) for one in job.processes]))
    useful = np.maximum(useful, 0.0)
    longest, most = float(elapsed.max(initial=0.0)), float(useful.max(initial=0.0))
    if is_counts_only(job) or longest <= 0 or most <= 0:
        return None
    mean = float(useful.mean())
    return ParallelEfficiency(mean / most, most / longest, mean / longest, axis.spread(useful))


def _sum(values: Iterable[float | None]) -> float | None:
    """Return the sum of the known values; `None` if none is known."""
    known = [one for one in values if one is not None]
    return sum(known) if known else None


def _integer(value: float | None) -> int | None:
    return None if value is None else int(value)


def _array(values: Sequence[tuple[int, float]]) -> NDArray[np.int64]:
    return np.array([rank for rank, _ in values], np.int64)
