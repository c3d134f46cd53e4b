"""Metrics of the measures of a study."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from octant import workloads
from octant.analysis.program import declared_workload
from octant.profile.named_values import is_name, program_value
from octant.study.parts import BASELINE

if TYPE_CHECKING:
    from octant.metric import Metric
    from octant.request import Subject
    from octant.study.parts import Levels, Measure


def metric_of(measure: Measure, levels: Levels = BASELINE) -> Metric:
    """Return the metric of a measure of a workload or program.

    Args:
        levels: of the combination, for a metric with factors in braces.

    Raises:
        LookupError: no such workload or metric; the text suggests the nearest.
    """
    if measure.command:
        return declared_workload(subject_of(measure, levels)).metric(measure.metric_for(levels))
    return workloads.workload(measure.workload).metric(measure.metric)


def subject_of(measure: Measure, levels: Levels) -> Subject:
    """Return the program of a measure, whose values include its metric if that is a value of the profile.

    Raises:
        LookupError: the metric is an invalid name of a value of the profile.
    """
    subject, metric = measure.subject, measure.metric_for(levels)
    if not is_name(metric):
        return subject
    try:
        return replace(subject, values=(*subject.values, program_value(metric)))
    except ValueError as error:
        raise LookupError(str(error)) from error
