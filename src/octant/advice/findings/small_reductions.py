"""Several reductions of a few bytes, equally often on the same communicator, may be one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from octant.advice.findings import RuleResult, RunFinding
from octant.advice.findings._profiles import of_newest_profile
from octant.advice.findings._thresholds import OF_MPI_PROGRAM, SMALL_REDUCTION
from octant.profile.totals import groups
from octant.units import bytes_text, counted, percent_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from octant.advice.findings._profiles import ProfiledProgram
    from octant.profile.job import JobProfile

_CALL = "MPI_Allreduce"
_SHOWN_SITES = 3


@dataclass(frozen=True)
class _Reduction:
    """Small reductions from one site on one communicator; all ranks make equally many."""

    site: int
    calls: int  # of each rank
    bytes: int  # of one call
    time_s: float  # of all ranks


def judge_profile(program: ProfiledProgram) -> RuleResult:
    """Return a finding on the sites with the most time that may be combined."""
    job = program.analysis.job
    if program.analysis.is_counts_only or _CALL not in job.call_names:
        return RuleResult()
    every = [alike for alike in _alike(job) if len(alike) > 1]
    times = [sum(one.time_s for one in alike) for alike in every]
    if not every or program.share_of_time(max(times)) < OF_MPI_PROGRAM:
        return RuleResult(passed=("no small reductions can be combined to save a relevant time",))
    alike, seconds = every[int(np.argmax(times))], max(times)
    first, number = alike[0], len(alike)
    share = percent_text(program.share_of_time(seconds))
    return RuleResult(
        (
            RunFinding(
                rule="small reductions",
                title=f"{number} calls of {_CALL} with {bytes_text(first.bytes)} may be combined to one",
                body=f"Each rank makes {counted(first.calls, 'call')} at each site on the same communicator; together "
                f"they take {share} of the time. If no result is needed before the next call, reduce an array instead, "
                "then profile again with the command.",
                lines=program.lines(),
                family="small reductions",
                gain=program.order(seconds * (number - 1) / number),
                details=tuple(job.sites[one.site].text for one in alike[:_SHOWN_SITES])
                + ((f"and {counted(number - _SHOWN_SITES, 'further site')}",) if number > _SHOWN_SITES else ()),
            ),
        )
    )


judge = of_newest_profile(judge_profile)


def _alike(job: JobProfile) -> list[Sequence[_Reduction]]:
    """Return the small reductions of equal communicator, number and size, the costliest site first."""
    rows = job.calls[job.calls["call"] == job.call_names.index(_CALL)]
    found: dict[tuple[int, int, int], list[_Reduction]] = {}
    for (communicator, site), part in groups(rows, "communicator", "site"):
        calls = [int(of["calls"].sum()) for _, of in groups(part, "rank")]
        number = int(part["calls"].sum())
        size = int(part["bytes"].sum()) // max(1, number)
        if min(calls) == max(calls) > 0 and 0 < size <= SMALL_REDUCTION:
            one = _Reduction(site, calls[0], size, float(part["time_s"].sum()))
            found.setdefault((communicator, calls[0], size), []).append(one)
    return [sorted(of, key=lambda one: (-one.time_s, one.site)) for of in found.values()]
