"""The analysis of an MPI profile: from the arrays of a job to the results that reports and findings show."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from octant.profile.efficiency import efficiency, job_totals, rank_totals
from octant.profile.excess import excess_time
from octant.profile.launch_comparison import compare_launches
from octant.profile.matrix import communication_matrix
from octant.profile.regions import region_totals
from octant.profile.reliability import reliability
from octant.profile.results import Analysis, Headline
from octant.profile.totals import (
    call_totals,
    communicator_size_totals,
    communicator_totals,
    data_rows,
    site_overlaps,
    site_totals,
    size_distribution,
    size_distributions,
)
from octant.profile.waiting import assigned_seconds, collective_waits, launches_with_late_rank

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from octant.profile.excess import MessageCurve, NoCurve
    from octant.profile.job import JobProfile
    from octant.profile.results import CollectiveWait, JobTotals, SiteTotals

__all__ = ["Analysis", "analyse"]

LEAST_WAITING = 0.5
"""Share of the time of the costliest call site from which the first sentence is about the waiting in it."""


def analyse(
    job: JobProfile,
    others: Sequence[JobProfile] = (),
    curve: MessageCurve | NoCurve | None = None,
    hardware_threads: Mapping[str, int] | None = None,
) -> Analysis:
    """Return everything that follows from a profile.

    Args:
        job: the launch that is described.
        others: further launches of the same request, for intervals and counts that differ.
        curve: the measured time of messages on this machine, or why there is none (`machine_curve.find_curve`).
        hardware_threads: number that the ranks of each host may use, if known.
    """
    ranks, sites, waits = rank_totals(job), site_totals(job), collective_waits(job)
    total, communicators = job_totals(job, ranks), communicator_totals(job)
    return Analysis(
        job=job,
        head=_headline(total, sites, waits),
        total=total,
        ranks=ranks,
        efficiency=efficiency(job),
        calls=call_totals(job),
        sites=sites,
        waits=waits,
        waited_s=assigned_seconds(waits),
        overlaps=site_overlaps(job),
        sizes=size_distribution(data_rows(job)),
        sizes_of_calls=size_distributions(job),
        matrix=communication_matrix(job),
        communicators=communicators,
        communicator_sizes=communicator_size_totals(communicators),
        regions=region_totals(job),
        one_sided=call_totals(job, ("one-sided",)),
        files=call_totals(job, ("file",)),
        excess=excess_time(job, curve),
        reliability=reliability(job, ranks, hardware_threads),
        repeats=replace(compare_launches((job, *others)), late=launches_with_late_rank(waits, others)),
    )


def _headline(total: JobTotals, sites: Sequence[SiteTotals], waits: Sequence[CollectiveWait]) -> Headline:
    """Return the parts of the sentence on the first screen: the waiting for one rank only if it is the largest part."""
    late, costliest = next((one for one in waits if one.rank is not None), None), sites[0] if sites else None
    if late and costliest:
        is_inside = late.site_number == costliest.site_number
        if late.waited_s < (LEAST_WAITING if is_inside else 1.0) * costliest.time_s:
            late = None
    return Headline(total.mpi_share, late, late.share if late else 0.0, costliest)
