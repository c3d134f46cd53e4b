"""A figure of one point, as tests of a workload look at it."""

from octant.analysis.figures import figure
from octant.record import Point
from octant.workload import Workload


def middle(workload: Workload, found: Point, metric: str) -> float:
    """The estimate's middle; the point must have that figure."""
    estimate = figure(workload, [found], metric).value
    assert estimate is not None, metric
    return estimate.middle
