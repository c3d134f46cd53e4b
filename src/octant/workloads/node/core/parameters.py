"""Parameters of a core from the samples of one launch."""

import math

import numpy as np

from octant.record import Point, Samples
from octant.stats.changes import Change, change_of

NOTHING = float("nan")


def clock_hz(point: Point, samples: Samples) -> float:
    """Return the clock from the chain of additions of a step, otherwise the one observed after each burst."""
    phases = medians_ns(point, samples)
    if "additions" in phases:
        return point.count("additions") / phases["additions"] * 1e9
    return point.clock_hz or NOTHING


def cycles(point: Point, samples: Samples) -> float:
    """Return the cycles per operation."""
    steps = [series.values for series in samples.series if series.head.name == "step"]
    each = point.count("operations") / point.lanes if point.lanes else 0
    if not steps or not each:
        return NOTHING
    return float(np.median(np.concatenate(steps))) * 1e-9 / (each * point.batch) * clock_hz(point, samples)


def per_cycle(point: Point, samples: Samples) -> float:
    """Return the operations of one core per cycle."""
    return 1 / cycles(point, samples)


def rob_size(point: Point, samples: Samples) -> float:
    """Return the distance of two loads, in instructions, beyond which they do not overlap."""
    found = rob_size_change(point, samples)
    return found.place if found else NOTHING


def rob_size_change(point: Point, samples: Samples) -> Change | None:
    """Return the change between the numbers of fillers with and without overlap."""
    return change_of(_curve(point, samples, "fillers "))


def mlp(point: Point, samples: Samples) -> float:
    """Return the memory-level parallelism: time of a load in one chain over the shortest time per load."""
    curve = _curve(point, samples, "chains ")
    if not curve or curve[0][0] != 1:
        return NOTHING
    return curve[0][1] / min(time / chains for chains, time in curve)


def misprediction_penalty(point: Point, samples: Samples) -> float:
    """Return the cycles per mispredicted branch. For random directions, half of the predictions are wrong."""
    phases = medians_ns(point, samples)
    if not {"random", "alternating"} <= set(phases):
        return NOTHING
    wrong = point.count("branches_of_phase") / 2
    return (phases["random"] - phases["alternating"]) * 1e-9 / wrong * clock_hz(point, samples)


def medians_ns(point: Point, samples: Samples) -> dict[str, float]:
    """Return the median of each phase over all samples and ranks, ns, less the time of an empty phase."""
    found: dict[str, list[np.ndarray]] = {}
    for series in samples.series:
        kind, _, name = series.head.name.partition("/")
        if kind == "phase" and len(series.values):
            found.setdefault(name, []).append(series.values)
    return {
        name: float(np.median(np.concatenate(all_of))) - point.process.clock.empty_ns for name, all_of in found.items()
    }


def _curve(point: Point, samples: Samples, kind: str) -> list[tuple[float, float]]:
    """Return (number in the name of the phase, time in ns), sorted by number."""
    phases = medians_ns(point, samples)
    curve = ((float(name.removeprefix(kind)), ns) for name, ns in phases.items() if name.startswith(kind))
    return sorted((number, ns) for number, ns in curve if ns > 0 and math.isfinite(ns))
