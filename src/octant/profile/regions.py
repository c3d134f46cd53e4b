"""The tree of regions with the time of each rank in them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from octant.profile.job import REGION_TIMES
from octant.profile.results import RegionTotals
from octant.profile.totals import RankAxis, is_counts_only

if TYPE_CHECKING:
    from octant.profile.job import JobProfile


def region_totals(job: JobProfile) -> tuple[RegionTotals, ...]:
    """Return the regions in the order of the tree, parents before their children; empty without named regions."""
    if len(job.regions) < 2:
        return ()
    children: dict[int, list[int]] = {}
    for number, region in enumerate(job.regions):
        children.setdefault(region.parent, []).append(number)
    times = _with_program(job)
    found: list[RegionTotals] = []
    waiting = [(number, "", 0) for number in reversed(children.get(-1, []))]
    while waiting:
        number, above, depth = waiting.pop()
        name = job.regions[number].name
        path = f"{above}/{name}" if above else name
        found.append(_region_totals(job, times, number, path, depth))
        below = "" if number == 0 else path
        waiting += [(child, below, depth + 1) for child in reversed(children.get(number, []))]
    return tuple(found)


def _with_program(job: JobProfile) -> np.ndarray:
    """Return the times of regions, with those of the whole program from the processes."""
    rows = [(one.rank, 0, 1, one.elapsed_s, one.mpi_s) for one in job.processes]
    named = job.region_times[job.region_times["region"] != 0]
    return np.concatenate([np.array(rows, REGION_TIMES), named])


def _region_totals(job: JobProfile, times: np.ndarray, number: int, path: str, depth: int) -> RegionTotals:
    """Return the totals of one region; the ranks are those that entered it."""
    rows, calls = times[times["region"] == number], job.calls[job.calls["region"] == number]
    axis = RankAxis(np.unique(rows["rank"]).astype(np.int64))
    time_s, mpi_s = (axis.sums(rows["rank"], rows[name]) for name in ("time_s", "mpi_s"))
    whole = float(time_s.sum())
    return RegionTotals(
        number=number,
        parent=job.regions[number].parent,
        name=job.regions[number].name,
        path=path,
        depth=depth,
        visits=int(rows["visits"].sum()),
        time_s=axis.spread(time_s),
        mpi_s=axis.spread(mpi_s),
        mpi_share=float(mpi_s.sum()) / whole if whole > 0 and not is_counts_only(job) else None,
        ranks=len(axis.ranks),
        calls=int(calls["calls"].sum()),
        bytes=int(calls["bytes"].sum()),
    )
