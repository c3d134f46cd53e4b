"""Metrics of series other than steps: one for each phase and each reading of the points."""

from collections.abc import Iterable

from octant.metric import FirstOf, Metric, OfPairs, Value, groups, ranks, reading, seconds, steps
from octant.record import Point

STEP = "mean step"
"""Name of the metric of which phases are parts."""
_MEAN = (steps("mean"), ranks("mean"), groups("mean"))


def series_metrics(points: Iterable[Point]) -> tuple[Metric, ...]:
    """Return phases and the step as means over steps and ranks, so that they add up, and readings as medians.

    They have the names of their series: `phase/pack`, `reading/residual`.
    """
    heads = {head.name: head.unit for point in points for head in point.heads}
    phases = [
        Metric(name, "s", "lower", seconds(name, over=_MEAN), "mean over steps and ranks")
        for name in heads
        if name.startswith("phase/")
    ]
    readings = [
        Metric(name, unit, "lower", reading(name.removeprefix("reading/")), "greatest over ranks, median over steps")
        for name, unit in heads.items()
        if name.startswith("reading/")
    ]
    step = Metric(STEP, "s", "lower", seconds(over=_MEAN), "mean over steps and ranks")
    return (*([step, *phases] if phases else []), *readings)


def pair_readings(value: Value) -> tuple[str, ...]:
    """Return the readings of a metric that only identify the pair of a sample."""
    every = value.values if isinstance(value, FirstOf) else (value,)
    return tuple(name for one in every if isinstance(one, OfPairs) for name in one.readings)
