"""The clock of MPI: cost of a reading, offset and drift between ranks, and exit skew of synchronisations."""

import numpy as np

from octant.metric import Metric, custom, derived, groups, per, ranks, reading, result, seconds, steps
from octant.record import Point, Samples
from octant.workload import Bars, Timeline, Workload
from octant.workloads.mpi.clock.drift import Offsets, drift_of
from octant.workloads.mpi.clock.step import step

WORST = (ranks("max"), groups("max"), steps("max"))
BEST = (ranks("max"), groups("max"), steps("min"))
TYPICAL = (steps("median"), ranks("max"), groups("max"))


def _drifts(point: Point, samples: Samples) -> list[tuple[float, float]]:
    """Of each rank but a group's first: the least and the greatest drift that its offsets allow."""
    if point.pace != "whole":  # offsets one behind the other say nothing of a drift
        return []
    found: dict[tuple[int, int], dict[str, np.ndarray]] = {}
    for series in samples.series:
        if series.head.name.startswith("reading/"):
            name = series.head.name.removeprefix("reading/")
            found.setdefault((series.head.group, series.head.rank), {})[name] = series.values
    every = [
        Offsets(one["moment"], one["offset"], one["bound"])
        for one in found.values()
        if {"moment", "offset", "bound"} <= set(one) and one["bound"].any()  # the first rank is not off from itself
    ]
    return [drift_of(one) for one in every if len(one.moment_s) > 1]


def _drift(point: Point, samples: Samples) -> float:
    """The greatest, of its middle."""
    return max((abs(low + high) / 2 for low, high in _drifts(point, samples)), default=float("nan"))


def _drift_bound(point: Point, samples: Samples) -> float:
    """How far the drift of the rank of which the least is known may be off."""
    return max((abs(high - low) / 2 for low, high in _drifts(point, samples)), default=float("nan"))


WORKLOAD = Workload(
    summary="The clock of MPI: cost, resolution, offset and drift between ranks, and skew of synchronisations",
    metrics=(
        Metric(
            "time", "s", "lower", per("calls", "exchanges", "synchronisations", "moments"),
            note="of a reading (cost), a message there and back (offset), a synchronisation (skew), a moment (drift)",
        ),
        Metric("quickest", "s", "lower", per("calls", over=BEST), note="reading: mean of the quickest block of 1000"),
        Metric("slowest", "s", "lower", per("calls", over=WORST), note="reading: mean of the slowest block of 1000"),
        Metric("resolution", "s", "lower", result("resolution"), note="smallest difference seen of two readings"),
        Metric("tick", "s", "lower", result("tick"), note="MPI_Wtick"),
        Metric("offset", "s", "lower", reading("distance", over=TYPICAL), note="to the first rank, either way"),
        Metric("bound", "s", "lower", reading("bound", over=TYPICAL), note="half of the least round trip"),
        Metric(
            "offset in messages", "1", "lower",
            derived(lambda far, half: far / half, reading("distance", over=TYPICAL), per("exchanges")),
            note="offset over the time of a message there and back",
        ),
        Metric("drift", "s/s", "lower", custom(_drift), note="greatest of all ranks, either way"),
        Metric("drift bound", "s/s", "lower", custom(_drift_bound), note="by which it may be off"),
        Metric("exit skew", "s", "lower", reading("skew"), note="from the first rank that leaves to the last"),
        Metric("worst skew", "s", "lower", reading("skew", over=WORST)),
        Metric("synchronisation", "s", "lower", seconds("phase/synchronise"), note="until the slowest rank leaves"),
    ),
    pictures=(Bars("method", "exit skew"), Timeline("offset")),
    step=step,
    smoke={"pattern": "offset,drift,skew,cost", "duration": "0.02", "moments": "3"},
    messages=True,
    alone=("pattern",),
)  # fmt: skip
