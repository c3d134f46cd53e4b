"""Mathematical functions over vectors: speed and accuracy."""

import math

import numpy as np

from octant.limit import Known, Limit, memory_limit
from octant.machine import Machine
from octant.metric import Metric, custom, per, rate, result
from octant.record import Point, Samples
from octant.workload import Curve, Workload
from octant.workloads.node.vecmath.step import step

LEAST_ARGUMENTS = 4096
"""Minimum number of arguments per call; short vectors are stored consecutively."""


def _per_cycle(point: Point, samples: Samples) -> float:
    """Return the elements of all threads per cycle of the observed clock."""
    steps = [
        np.median(series.values) / point.batch_of(series.head.group, series.head.role)
        for series in samples.series
        if series.head.name == "step"
    ]
    if not steps or point.clock_hz is None:
        return math.nan
    elements = point.count("elements") / point.lanes
    return float(sum(elements / (step * 1e-9) for step in steps)) / point.clock_hz


def footprint(_machine: Machine, point: Point) -> int:
    """Return the bytes of arguments and results of all ranks and threads."""
    return point.count("bytes_read", "bytes_written") * math.ceil(LEAST_ARGUMENTS / int(point.knobs["n"]))


def _least_seconds(known: Known, machine: Machine, point: Point) -> Limit | None:
    """Return the memory limit of arguments and results beyond the caches; `None` within caches."""
    moved = point.count("bytes_read", "bytes_written")
    return memory_limit(known, machine, point, footprint(machine, point), moved, "arguments and results")


WORKLOAD = Workload(
    summary="Vector mathematical functions by libm, libmvec, SLEEF, VML and compiled loops: speed and accuracy",
    metrics=(
        Metric("rate", "element/s", "higher", rate("elements")),
        Metric("time", "s", "lower", per("elements"), note="time of one element"),
        Metric("elements per cycle", "1", "higher", custom(_per_cycle), note="from the observed clock"),
        Metric(
            "largest error",
            "ulp",
            "lower",
            result("largest error"),
            note="for 2048 arguments, relative to exact values",
        ),
        Metric("99.9th percentile error", "ulp", "lower", result("99.9th percentile error")),
        Metric("not correctly rounded", "1", "lower", result("not correctly rounded"), note="share of 2048 results"),
        Metric(
            "special values differ",
            "1",
            "lower",
            result("special values differ"),
            note="number of special values that differ from libm",
        ),
    ),
    bounded_by=("memory traffic",),
    least_seconds=_least_seconds,
    pictures=(Curve("n", title="Vector functions by vector length"),),
    footprint=footprint,
    step=step,
    smoke={"function": "sin", "n": "1003", "library": "strict,relaxed"},
    apart=("library", "path"),
    ours=("strict", "relaxed", "estimate"),
)
