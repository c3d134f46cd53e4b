"""What a study of a model may say of this machine: the last run of HPC Challenge here, over its own measured peak."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from octant import stats

THIS_MACHINE = "this machine"
"""The system that stands for it in a study file."""
HOW = "no run of octant hpcc in the store; try octant hpcc"


@dataclass(frozen=True)
class OwnRun:
    """A run of HPC Challenge: shares of the peak in percent, else bytes or updates/s for each Gflop/s of it."""

    id: str
    machine: str
    year: int
    over_peak: Mapping[str, stats.Interval] = field(default_factory=dict)  # by benchmark


NO_RUN = OwnRun("", "", 0)
"""None was given."""
