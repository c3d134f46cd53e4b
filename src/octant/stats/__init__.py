"""Statistics of samples and of launches: what a figure claims, and when two of them may be called different.

`samples` is what figures and comparisons are made with; METHOD.md gives the reasons. The other modules take launches,
rounds and occasions as their units; their docstrings give the sources, and nothing uses them yet.
"""

from octant.stats.samples import (
    FEW_LAUNCHES,
    Z95,
    Interval,
    correlation_time,
    drift,
    median_interval,
    outliers,
    over_launches,
    quantiles,
    ratio_interval,
)

__all__ = [
    "FEW_LAUNCHES",
    "Z95",
    "Interval",
    "correlation_time",
    "drift",
    "median_interval",
    "outliers",
    "over_launches",
    "quantiles",
    "ratio_interval",
]
