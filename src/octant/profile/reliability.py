"""How much of the truth a profile contains: its own cost, what was lost, which ranks are missing."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from octant.profile.efficiency import thread_seconds
from octant.profile.results import ProfileReliability
from octant.profile.totals import is_counts_only, share_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from octant.profile.job import JobProfile
    from octant.profile.results import RankTotals


def reliability(
    job: JobProfile, ranks: Sequence[RankTotals], hardware_threads: Mapping[str, int] | None = None
) -> ProfileReliability:
    """Return the reliability of a profile.

    Args:
        hardware_threads: number that the ranks of each host may use; hosts that are not known are omitted.
    """
    worst = max(ranks, key=lambda one: one.own_cost_share, default=None)
    lost, calls = sum(one.lost_calls for one in job.processes), int(job.calls["calls"].sum())
    threads: Counter[str] = Counter()
    for one in job.processes:
        threads[one.host] += max(1, one.threads)
    known = [threads[host] / number for host, number in (hardware_threads or {}).items() if number > 0]
    return ProfileReliability(
        own_cost_share=share_of(sum(one.own_cost_s for one in job.processes), thread_seconds(job.processes)),
        own_cost_of_worst=worst.own_cost_share if worst else 0.0,
        worst_rank=worst.rank if worst else None,
        lost_calls=lost,
        lost_calls_share=share_of(lost, max(calls, lost)),
        lost_requests=sum(one.lost_requests for one in job.processes),
        missing=tuple(job.missing),
        killed=tuple(sorted({one.rank for one in job.processes if one.state != "finalized"})),
        is_complete=job.is_complete,
        is_counts_only=is_counts_only(job),
        has_sites=not any("no sites" in one.flags for one in job.processes),
        oversubscription=max(known) if known else None,
        problems=tuple(job.problems),
    )
