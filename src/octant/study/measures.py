"""Metrics of the measures of a study."""

from __future__ import annotations

from typing import TYPE_CHECKING

from octant import workloads
from octant.analysis.program import declared_workload

if TYPE_CHECKING:
    from octant.metric import Metric
    from octant.study.parts import Measure


def metric_of(measure: Measure) -> Metric:
    """Return the metric of a measure of a workload or program.

    Raises:
        LookupError: no such workload or metric; the text suggests the nearest.
    """
    if measure.command:
        return declared_workload(measure.subject).metric(measure.metric)
    return workloads.workload(measure.workload).metric(measure.metric)
