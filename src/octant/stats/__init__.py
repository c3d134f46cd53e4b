"""Statistics of samples and of launches: what a figure claims, and when two of them may be called different.

`samples` looks into one launch. The other modules take launches, rounds and occasions as their units: METHOD.md gives
the reasons.
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
