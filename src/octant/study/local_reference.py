"""Values of this machine for studies of published values, from its last suitable run."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from octant import stats

THIS_MACHINE = "this machine"
"""Name of this machine in a study file."""
MISSING_RUN_HINTS = {
    "normalised": "no run of octant hpcc in the store; try octant hpcc",
    "published": "no run measured latency beyond four times the caches; try octant run latency bytes=1GiB pages=thp",
}
"""Why there is no value, by the model whose values it is compared with."""


@dataclass(frozen=True)
class LocalRun:
    """Values of a run of this machine.

    For HPC Challenge: shares of peak in percent, or B/s or update/s per Gflop/s of peak. For memory: latency and clock
    in base units.
    """

    id: str
    machine: str
    year: int
    figures: Mapping[str, stats.Interval] = field(default_factory=dict)  # by benchmark, or by metric of the catalogue


NO_LOCAL_RUN = LocalRun("", "", 0)
"""No run."""
