"""Caveats from probes, the short measurements at both ends of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from octant.analysis.figures import figure
from octant.request import canonical
from octant.stats import Caveat, caveat

if TYPE_CHECKING:
    from collections.abc import Mapping

    from octant.record import Point
    from octant.store import StoredRun
    from octant.workload import Probe, Workload


def caveats_by_probes(run: StoredRun, known: Mapping[str, Workload]) -> tuple[Caveat, ...]:
    """Return the caveats of the probes that hold for all figures of a run.

    Raises:
        RecordError: the samples of a probe cannot be read.
    """
    found = []
    for workload in known.values():
        probe = workload.probe
        if probe is None or run.imported:
            continue
        looks = [point for point in run.points if point.workload == workload.name and _is_look(point, probe)]
        values = [one.value.middle for point in looks if (one := figure(workload, [point], probe.metric)).value]
        if values and (text := probe.caveat(run.machine, values)):
            found.append(caveat(probe.kind, text))
    return tuple(found)


def _is_look(point: Point, probe: Probe) -> bool:
    """Return whether a point has the probe's knobs, some of which are lists."""
    return point.passed and all(
        canonical(point.knobs.get(name, "")) in canonical(values).split(",") for name, values in probe.knobs.items()
    )
