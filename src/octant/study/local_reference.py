"""What a study of published values may say of this machine: from its last run of what was published of others."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from octant import stats

THIS_MACHINE = "this machine"
"""The system that stands for it in a study file."""
HOW = {
    "normalised": "no run of octant hpcc in the store; try octant hpcc",
    "published": "no run with the latency past four times the caches; try octant run latency bytes=1GiB pages=thp",
}
"""Why there is none, by the model whose values it stands beside."""


@dataclass(frozen=True)
class OwnRun:
    """Of HPC Challenge shares of the peak in percent, else bytes or updates/s for each Gflop/s of it; of the memory its
    latency and the clock, in base units.
    """

    id: str
    machine: str
    year: int
    figures: Mapping[str, stats.Interval] = field(default_factory=dict)  # by benchmark, or by metric of the catalogue


NO_RUN = OwnRun("", "", 0)
"""None was given."""
