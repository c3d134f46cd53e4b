"""Workloads for figures that were imported: their metrics are the results that a file has, and they bound nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from octant.metric import Metric, result
from octant.workload import Bars, Curve, Messages, Workload

if TYPE_CHECKING:
    from collections.abc import Sequence

    from octant.record import Point
    from octant.workload import Picture

_LOWER = frozenset({"s"})
"""Units of which less is better."""


def imported_workload(points: Sequence[Point], known: Workload | None) -> Workload:
    """The workload of the imported points of a cell: the installed one as far as its metrics are among their results.

    The first metric that the points have is the headline. It provides no limit, has none, and says nothing of a
    network: nobody knows here what machine its figures are of.
    """
    name = points[0].workload
    units = {one.name: one.unit for point in points for one in point.results if one.bound is None}
    metrics = [metric for metric in known.metrics if units.get(metric.name) == metric.unit] if known else []
    declared = {metric.name for metric in metrics}
    metrics += [
        Metric(one, unit, "lower" if unit in _LOWER else "higher", result(one), note="as the tool states it")
        for one, unit in units.items()
        if one not in declared
    ]
    summary = known.summary if known else f"What another tool measured: {name.rpartition('/')[2]}"
    pictures = (
        known.pictures if known else (Curve("bytes", along="length of the message"),) * ("bytes" in points[0].knobs)
    )
    names = {metric.name for metric in metrics}
    drawn = tuple(one for one in pictures if _can_be_drawn(one, names))
    return Workload(summary, tuple(metrics), {}, name, pictures=drawn)


def _can_be_drawn(picture: Picture, metrics: set[str]) -> bool:
    """Whether results alone are enough for it."""
    needed = {getattr(picture, part, "") for part in ("y", "rate")} - {""}
    return isinstance(picture, Curve | Messages | Bars) and needed <= metrics
