"""The time of each pair of hardware threads from the samples of one launch."""

import numpy as np

from octant.record import Point, Samples, Series

READINGS = ("first", "second")
"""Of a sample: the hardware thread that called, and the one that answered."""


def one_way(point: Point, samples: Samples) -> dict[tuple[int, int], float]:
    """Seconds for a line to go from one hardware thread to the other and be usable, by pair: the median of its visits.

    Nothing where the record has no pairs, or keeps only sums of them.
    """
    kept = {one.head.name: one for one in samples.series}
    times, passes = kept.get("phase/passing"), point.count("passes")
    ends = [kept.get(f"reading/{name}") for name in READINGS]
    if times is None or not passes or ends[0] is None or ends[1] is None:
        return {}
    ns = times.values - (0 if times.entries is None else times.entries) * point.process.clock.empty_ns
    first, second = (_marked(one, point, len(ns)) for one in ends if one is not None)
    found: dict[tuple[int, int], list[float]] = {}
    for one, other, each in zip(first, second, ns, strict=True):
        found.setdefault((int(min(one, other)), int(max(one, other))), []).append(each * 1e-9 / passes)
    return {pair: float(np.median(values)) for pair, values in found.items()}


def _marked(series: Series, point: Point, number: int) -> np.ndarray:
    """Return the readings of the `number` samples that had phase marks."""
    on = np.ones(len(series.values), dtype=bool)
    for begin, end, _ in point.marks_off:
        on[begin:end] = False
    values: np.ndarray = series.values[on]
    if len(values) != number:
        raise ValueError(f"{len(values)} samples have a pair, but {number} have a time")
    return values
