"""The profile of the MPI calls of one launch: its file, and the parts of it that are in the record of the launch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from octant.placement import numbers_text
from octant.profile.container import write_container
from octant.profile.measures import results, series
from octant.profile.merge import merge
from octant.profile.named_values import region_seconds
from octant.profile.sites import resolve_sites

if TYPE_CHECKING:
    from octant.launch import Planned
    from octant.launch.program import ProgramEnd
    from octant.profile.job import JobProfile
    from octant.record import Result

NOTE = "profile"
"""Note of a launch that was profiled and has no complete profile."""
NO_CALLS = "the program did not call MPI"


@dataclass(frozen=True)
class LaunchProfile:
    """The profile of a launch, as far as it exists."""

    file: Path | None = None  # to be stored with the run; `None`: no process called MPI, or no table was collected
    results: tuple[Result, ...] = ()
    series: tuple[Mapping[str, Any], ...] = ()
    regions: Mapping[str, float] | None = None  # seconds of the rank that spends most time in each region
    job: JobProfile | None = None
    note: str = ""  # why there is no profile, or why it is incomplete


def read_launch_profile(planned: Planned, end: ProgramEnd, scratch: Path) -> LaunchProfile | None:
    """Return the profile of a launch that has ended; `None`: it was not profiled.

    Args:
        scratch: an existing folder, which the caller removes after it has stored the file.

    Raises:
        OSError: the file cannot be written.
    """
    if end.profile is None:
        return None
    paths, problems = end.profile.paths, end.profile.problems
    if not paths:
        return LaunchProfile(note="; ".join(problems) or NO_CALLS)
    merged = merge(paths, planned.ranks or None)
    job = resolve_sites(replace(merged, problems=(*merged.problems, *problems)))
    path = scratch / "merged.profile"
    path.write_bytes(write_container(job))
    found = tuple(results(job)), tuple(series(job))
    return LaunchProfile(path, *found, region_seconds(job), job, _incomplete_text(job))


def _incomplete_text(job: JobProfile) -> str:
    """Return why the profile of a launch is incomplete; "": it is complete."""
    texts: list[str] = []
    if job.missing:
        texts.append(f"no table of {'rank' if len(job.missing) == 1 else 'ranks'} {numbers_text(job.missing)}")
    open_ended = [one.rank for one in job.processes if one.state != "finalized"]
    if open_ended:
        texts.append(f"{len(open_ended)} ranks ended without MPI_Finalize")
    return "; ".join([*texts, *job.problems])
