"""Workloads derived from points that are imported or not installed here; they have no limits.

The metrics of imported files are their results; those of records are their series, counts and results.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from octant.analysis.per_rank import name_per_rank
from octant.identity import works_alone
from octant.metric import Metric, rate, result, seconds
from octant.workload import Bars, Curve, Messages, Workload

if TYPE_CHECKING:
    from collections.abc import Sequence

    from octant.record import Point
    from octant.workload import Picture

_LOWER = frozenset({"s"})
"""Units for which lower is better."""


def imported_workload(points: Sequence[Point], known: Workload | None) -> Workload:
    """Return the workload of imported points: the installed one, limited to metrics among their results.

    The first metric of the points is the headline. The workload has no limits and no traffic, since the machine is not
    known. Tools state the mean of one process for processes that work alone; names of such metrics state this.
    """
    name = points[0].workload
    units = {one.name: one.unit for point in points for one in point.results if one.bound is None}
    metrics = [metric for metric in known.metrics if units.get(metric.name) == metric.unit] if known else []
    declared = {metric.name for metric in metrics}
    metrics += [
        Metric(one, unit, "lower" if unit in _LOWER else "higher", result(one), note="as stated by the tool")
        for one, unit in units.items()
        if one not in declared
    ]
    if works_alone(points[0]):
        metrics = [
            replace(
                one, name=name_per_rank(one.name), value=result(one.name), per_rank=True, note="as stated by the tool"
            )
            for one in metrics
        ]
    summary = known.summary if known else f"Imported results: {name.rpartition('/')[2]}"
    pictures = (
        known.pictures if known else (Curve("bytes", along="length of the message"),) * ("bytes" in points[0].knobs)
    )
    names = {metric.name for metric in metrics}
    drawn = tuple(one for one in pictures if _can_be_drawn(one, names))
    return Workload(summary, tuple(metrics), {}, name, pictures=drawn)


def recorded_workload(points: Sequence[Point]) -> Workload:
    """Return the workload of the points of a cell that is not installed here.

    The headline is the time of a step or chunk, followed by counts per second and results without a bound. Other
    metrics, limits and pictures of the declaration are not in the records.
    """
    metrics = []
    if any(head.name == "step" for point in points for head in point.heads):
        metrics.append(Metric("step time", "s", "lower", seconds(), note="of a step or chunk, as recorded"))
        counts = dict.fromkeys(name for point in points for work in point.work for name in work.counts)
        metrics += [Metric(f"{name} per second", f"{_singular(name)}/s", "higher", rate(name)) for name in counts]
    units = {one.name: one.unit for point in points for one in point.results if one.bound is None}
    metrics += [
        Metric(name, unit, "lower" if unit in _LOWER else "higher", result(name), note="a result, as recorded")
        for name, unit in units.items()
    ]
    return Workload(
        "Not installed here; its figures are derived from the records", tuple(metrics), {}, points[0].workload
    )


def _singular(count: str) -> str:
    """Return the unit of a count: `B` of `bytes_sent`, `flop` of `flops`, `update` of `updates`."""
    return "B" if count.startswith("bytes") else count.removesuffix("s")


def _can_be_drawn(picture: Picture, metrics: set[str]) -> bool:
    """Return whether results alone are sufficient for a picture."""
    needed = {getattr(picture, part, "") for part in ("y", "rate")} - {""}
    return isinstance(picture, Curve | Messages | Bars) and needed <= metrics
