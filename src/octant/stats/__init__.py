"""Statistics of samples and launches: estimates, intervals and tests of differences.

METHOD.md gives the reasons, and the docstrings of the modules the sources.
"""

from octant.stats.caveats import Caveat, Grade, caveat, graded, notes, warnings, worst_of_each_kind
from octant.stats.intervals import Estimate, Period, median_over_launches, next_launch
from octant.stats.launches import caveats_about_equal_points, caveats_over_launches
from octant.stats.samples import (
    FEW_LAUNCHES,
    Z95,
    Interval,
    correlation_time,
    drift,
    median_interval,
    outliers,
    quantiles,
    thinned,
)
from octant.stats.shares import next_share, share_over_launches

__all__ = [
    "FEW_LAUNCHES",
    "Z95",
    "Caveat",
    "Estimate",
    "Grade",
    "Interval",
    "Period",
    "caveat",
    "caveats_about_equal_points",
    "caveats_over_launches",
    "correlation_time",
    "drift",
    "graded",
    "median_interval",
    "median_over_launches",
    "next_launch",
    "next_share",
    "notes",
    "outliers",
    "quantiles",
    "share_over_launches",
    "thinned",
    "warnings",
    "worst_of_each_kind",
]
