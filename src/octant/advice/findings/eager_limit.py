"""The eager limit of the MPI library is just below the common size of messages."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from octant.advice.findings import RuleResult, RunFinding
from octant.advice.findings._profiles import of_newest_profile
from octant.advice.findings._thresholds import ABOVE_EAGER, OF_MPI_PROGRAM
from octant.mpi import neutral
from octant.mpi.inventory import library_and_version
from octant.profile.categories import category_of
from octant.profile.excess import time_with_waiting
from octant.profile.totals import groups
from octant.units import bytes_text, percent_text

if TYPE_CHECKING:
    from octant.advice.findings._profiles import ProfiledProgram
    from octant.profile.job import JobProfile

_SETTING = "eager-limit"
_PATHS = {"openmpi": "ob1"}
"""Usual path of messages of a library whose variables depend on it."""


def judge_profile(program: ProfiledProgram) -> RuleResult:
    """Return a finding if the messages with the most time are slightly longer than the measured eager limit."""
    excess, job = program.analysis.excess, program.analysis.job
    common = _common_size(job)
    if excess.eager_limit is None or common is None:
        return RuleResult()
    size, seconds = common
    above = (excess.rendezvous_from or excess.eager_limit + 1) <= size <= ABOVE_EAGER * excess.eager_limit
    if not above or program.share_of_time(seconds) < OF_MPI_PROGRAM:
        return RuleResult(passed=("the common message size is not just above the eager limit",))
    limit = 1 << (size - 1).bit_length()
    settings = eager_limit_lines(job.library, limit)
    if not settings:
        return RuleResult()
    share, now = percent_text(program.share_of_time(seconds)), bytes_text(excess.eager_limit)
    return RuleResult(
        (
            RunFinding(
                rule="eager limit",
                title=f"Messages of {bytes_text(size)} are just above the eager limit of {now}",
                body=f"They take {share} of the time, and each waits for its receiver before it is sent. Set "
                f"the limit to {bytes_text(limit)}, then profile again with the commands.",
                lines=(*settings, *program.lines()),
                family="eager limit",
                gain=program.order(seconds / 4),
                details=(f"the limit is the first change of protocol in the measured times of {excess.curve}",),
            ),
        )
    )


judge = of_newest_profile(judge_profile)


def eager_limit_lines(banner: str, limit: int) -> tuple[str, ...]:
    """Return the lines that set the eager limit of a library; empty if it does not support this."""
    setting = neutral.find(_SETTING)
    try:
        name, version = library_and_version(banner)
        if setting is None:
            return ()
        library = neutral.Library(name, version, path=_PATHS.get(name, ""))
        found = neutral.variables(setting, neutral.read_value(setting, str(limit)), library)
    except ValueError:
        return ()
    return tuple(f"export {variable}={value.text}" for variable, value in found.items())


def _common_size(job: JobProfile) -> tuple[int, float] | None:
    """Return the mean size of the messages of the bucket with the most time, and this time; `None`: no messages."""
    kinds = ("send", "receive", "exchange")
    numbers = [number for number, name in enumerate(job.call_names) if category_of(name) in kinds]
    rows = job.calls[np.isin(job.calls["call"], numbers) & (job.calls["bytes"] > 0)]
    every = [(time_with_waiting(part), part) for _, part in groups(rows, "bucket")]
    if not every:
        return None
    seconds, part = max(every, key=lambda one: one[0])
    return int(part["bytes"].sum()) // max(1, int(part["calls"].sum())), seconds
