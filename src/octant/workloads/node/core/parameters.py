"""The parameters of a core from the samples of one launch."""

import math

import numpy as np

from octant.record import Point, Samples
from octant.stats.changes import Change, change_of

NOTHING = float("nan")


def clock_hz(point: Point, samples: Samples) -> float:
    """What the chain of additions beside the work says, else what the harness observed after each burst."""
    phases = medians_ns(point, samples)
    if "additions" in phases:
        return point.count("additions") / phases["additions"] * 1e9
    return point.clock_hz or NOTHING


def cycles(point: Point, samples: Samples) -> float:
    """Of one operation; of a throughput, of one among many."""
    steps = [series.values for series in samples.series if series.head.name == "step"]
    each = point.count("operations") / point.lanes if point.lanes else 0
    if not steps or not each:
        return NOTHING
    return float(np.median(np.concatenate(steps))) * 1e-9 / (each * point.batch) * clock_hz(point, samples)


def per_cycle(point: Point, samples: Samples) -> float:
    """Operations of one core in a cycle."""
    return 1 / cycles(point, samples)


def rob_size(point: Point, samples: Samples) -> float:
    """Instructions from one load to the next at which both no longer overlap."""
    found = rob_size_change(point, samples)
    return found.place if found else NOTHING


def rob_size_change(point: Point, samples: Samples) -> Change | None:
    """Between which numbers of fillers they stop to overlap."""
    return change_of(_curve(point, samples, "fillers "))


def mlp(point: Point, samples: Samples) -> float:
    """Loads on the way at once: the time of one alone over that of one among as many as serve best."""
    curve = _curve(point, samples, "chains ")
    if not curve or curve[0][0] != 1:
        return NOTHING
    return curve[0][1] / min(time / chains for chains, time in curve)


def misprediction_penalty(point: Point, samples: Samples) -> float:
    """Cycles that a wrong guess costs. Of directions that nothing can foresee, every second guess is wrong."""
    phases = medians_ns(point, samples)
    if not {"random", "alternating"} <= set(phases):
        return NOTHING
    wrong = point.count("branches_of_phase") / 2
    return (phases["random"] - phases["alternating"]) * 1e-9 / wrong * clock_hz(point, samples)


def medians_ns(point: Point, samples: Samples) -> dict[str, float]:
    """The median of each phase over all samples and ranks, without what an empty phase reads."""
    found: dict[str, list[np.ndarray]] = {}
    for series in samples.series:
        kind, _, name = series.head.name.partition("/")
        if kind == "phase" and len(series.values):
            found.setdefault(name, []).append(series.values)
    return {
        name: float(np.median(np.concatenate(all_of))) - point.process.clock.empty_ns for name, all_of in found.items()
    }


def _curve(point: Point, samples: Samples, kind: str) -> list[tuple[float, float]]:
    """(number in the phase's name, time), in the order of the numbers."""
    phases = medians_ns(point, samples)
    curve = ((float(name.removeprefix(kind)), ns) for name, ns in phases.items() if name.startswith(kind))
    return sorted((number, ns) for number, ns in curve if ns > 0 and math.isfinite(ns))
