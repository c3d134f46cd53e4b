"""The samples of a metric in the order in which they were taken."""

from __future__ import annotations

from typing import TYPE_CHECKING

from octant import units
from octant.report.charts.curve import value_axis
from octant.report.charts.picture import MOST_LINES, MOST_POINTS, Axis, Panel, Picture, Series, thin, thinned_text
from octant.report.charts.ticks import even_ticks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from octant.analysis.figures import Figure
    from octant.analysis.summary import Summary
    from octant.workload import Timeline, Workload


def timeline(summary: Summary, workload: Workload, figures: Sequence[Figure], shown: Timeline) -> Picture | None:
    """The first launch of each figure of the table; `None` without samples."""
    metric = workload.metric(shown.y)
    listed = [one for cell in figures if cell.show.table for one in [summary.figure(cell, shown.y)] if one]
    every = [figure for figure in listed if figure.value and figure.launches and len(figure.launches[0].samples)]
    kept = thin(every, MOST_LINES)
    if not kept:
        return None
    series = [_series(figure) for figure in kept]
    last = max(one.x[-1] for one in series)
    return Picture(
        "timeline",
        f"{workload.name}: {metric.name} in the order of samples",
        f"{workload.summary}. The first launch of each figure, at most {MOST_POINTS} of its samples, evenly chosen."
        + thinned_text(len(kept), len(every), "figures"),
        (
            Panel(
                Axis("sample", False, even_ticks(last, lambda v: f"{v:g}")),
                value_axis(metric.name, [y for one in series for y in one.y], metric.unit),
                tuple(series),
            ),
        ),
        ("figure", "mode", "samples", "first", "median", "last"),
        tuple(
            (
                figure.title,
                figure.mode,
                str(figure.launches[0].count),
                units.si_text(one.y[0], metric.unit, 4),
                units.si_text(figure.launches[0].value.middle, metric.unit, 4),
                units.si_text(one.y[-1], metric.unit, 4),
            )
            for figure, one in zip(kept, series, strict=True)
        ),
    )


def _series(figure: Figure) -> Series:
    launch = figure.launches[0]
    kept = thin(list(enumerate(map(float, launch.samples))), MOST_POINTS)
    step = launch.count / len(launch.samples)  # the figure holds evenly chosen samples
    return Series(figure.name, "curve", tuple(place * step for place, _ in kept), tuple(value for _, value in kept))
