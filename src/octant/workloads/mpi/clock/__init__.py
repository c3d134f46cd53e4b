"""MPI_Wtime: cost, resolution, offset and drift between ranks; exit skew of synchronisation methods."""

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
    """Return the least and greatest drift of each rank relative to the first rank of its group."""
    if point.pace != "whole":  # back-to-back offsets do not show a drift
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
    """Return the largest drift of all ranks (middle of its range)."""
    return max((abs(low + high) / 2 for low, high in _drifts(point, samples)), default=float("nan"))


def _drift_bound(point: Point, samples: Samples) -> float:
    """Return the largest uncertainty of a drift."""
    return max((abs(high - low) / 2 for low, high in _drifts(point, samples)), default=float("nan"))


WORKLOAD = Workload(
    summary="MPI clock: cost, resolution, offset and drift between ranks; exit skew of synchronisation",
    metrics=(
        Metric(
            "time", "s", "lower", per("calls", "exchanges", "synchronisations", "moments"),
            note="one reading (cost), round trip (offset), synchronisation (skew) or set of offsets (drift)",
        ),
        Metric("quickest", "s", "lower", per("calls", over=BEST), note="one reading, fastest block of 1000"),
        Metric("slowest", "s", "lower", per("calls", over=WORST), note="one reading, slowest block of 1000"),
        Metric("resolution", "s", "lower", result("resolution"), note="smallest observed difference of two readings"),
        Metric("tick", "s", "lower", result("tick"), note="MPI_Wtick"),
        Metric("offset", "s", "lower", reading("distance", over=TYPICAL), note="magnitude, relative to the first rank"),
        Metric("bound", "s", "lower", reading("bound", over=TYPICAL), note="half of the shortest round trip"),
        Metric(
            "offset in messages", "1", "lower",
            derived(lambda far, half: far / half, reading("distance", over=TYPICAL), per("exchanges")),
            note="offset over the round-trip time",
        ),
        Metric("drift", "s/s", "lower", custom(_drift), note="largest magnitude of all ranks"),
        Metric("drift bound", "s/s", "lower", custom(_drift_bound), note="uncertainty of the drift"),
        Metric("exit skew", "s", "lower", reading("skew"), note="time from first to last rank that leaves"),
        Metric("worst skew", "s", "lower", reading("skew", over=WORST)),
        Metric("synchronisation", "s", "lower", seconds("phase/synchronise"), note="until the slowest rank leaves"),
    ),
    pictures=(Bars("method", "exit skew"), Timeline("offset")),
    step=step,
    smoke={"pattern": "offset,drift,skew,cost", "duration": "0.02", "moments": "3"},
    messages=True,
    alone=("pattern",),
)  # fmt: skip
