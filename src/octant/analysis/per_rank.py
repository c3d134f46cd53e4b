"""Mean of one rank for ranks that work alone, as in HPC Challenge's star tests; our figures are sums."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from octant.metric import derived
from octant.record import known_count
from octant.stats import Interval

if TYPE_CHECKING:
    from octant.analysis.figures import Figure, LaunchFigure
    from octant.metric import Metric


def name_per_rank(metric: str) -> str:
    """Return the name of the metric of one rank: `mean rate per rank`."""
    return f"mean {metric} per rank"


def per_rank(figure: Figure) -> Figure:
    """Return the figure over the number of its working ranks, in the same unit, under the name of `name_per_rank`.

    It has no limit, but keeps the caveat that the sum exceeds its limit.
    """
    ranks = known_count(figure.point.working_ranks)
    value = derived(lambda of_all: of_all / ranks, figure.metric.value)
    metric = replace(figure.metric, name=name_per_rank(figure.metric.name), value=value, per_rank=True)
    workload, beyond = figure.workload, tuple(one for one in figure.caveats if one.kind == "measured above the limit")
    if figure.metric is workload.metrics[0]:
        workload = replace(workload, metrics=(metric, *workload.metrics[1:]))
    return replace(
        figure,
        workload=workload,
        metric=metric,
        launches=tuple(_launch_per_rank(one, metric, ranks) for one in figure.launches),
        limit=None,
        probe_caveats=(*figure.probe_caveats, *beyond),
        equal=tuple(per_rank(one) for one in figure.equal),
    )


def _launch_per_rank(launch: LaunchFigure, metric: Metric, ranks: int) -> LaunchFigure:
    value = launch.value
    return replace(
        launch,
        metric=metric,
        value=Interval(value.low / ranks, value.middle / ranks, value.high / ranks),
        samples=launch.samples / ranks,
        by_group=tuple(one / ranks for one in launch.by_group),
        by_pair={pair: one / ranks for pair, one in launch.by_pair.items()},
    )
