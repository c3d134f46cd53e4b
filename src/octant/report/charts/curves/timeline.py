"""The samples of a metric in the order in which they were taken."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from octant import units
from octant.analysis.names import picture_title
from octant.report.charts.curves.curve import value_axis
from octant.report.charts.picture import MOST_LINES, MOST_POINTS, Axis, ChartSeries, Panel, Picture, thin, thinned_text
from octant.report.charts.ticks import even_ticks

if TYPE_CHECKING:
    from octant.analysis.figures import Figure
    from octant.report.charts.cells import MeasuredCells
    from octant.workload import Timeline


def timeline(cells: MeasuredCells, shown: Timeline) -> Picture | None:
    """The first launch of each figure of the table; `None` without samples."""
    workload, figures = cells.workload, cells.figures
    metric = workload.metric(shown.y)
    listed = [one for cell in figures if cell.show.table for one in [cells.figure(cell, shown.y)] if one]
    every = [figure for figure in listed if figure.value and figure.launches and len(figure.launches[0].samples)]
    kept = thin(every, MOST_LINES)
    if not kept:
        return None
    series = [_series(figure) for figure in kept]
    last = max(one.x[-1] for one in series)
    return Picture(
        "timeline",
        picture_title(figures, f"{metric.name} in the order of samples"),
        f"{workload.summary}. The first launch of each figure; of more than {MOST_POINTS} samples the least, the "
        "median and the greatest of each of as many stretches." + thinned_text(len(kept), len(every), "figures"),
        (
            Panel(
                Axis("sample", False, even_ticks(last, lambda v: f"{v:g}")),
                value_axis(metric.name, [y for one in series for y in (*one.y, *one.low, *one.high)], metric.unit),
                tuple(series),
            ),
        ),
        ("figure", "mode", "samples", "first", "median", "last"),
        tuple(
            (
                figure.title,
                figure.mode,
                str(figure.launches[0].count),
                units.si_text(float(figure.launches[0].samples[0]), metric.unit, 4),
                units.si_text(figure.launches[0].value.middle, metric.unit, 4),
                units.si_text(float(figure.launches[0].samples[-1]), metric.unit, 4),
            )
            for figure in kept
        ),
    )


def _series(figure: Figure) -> ChartSeries:
    """A curve; of more samples than can be told apart the least, the median and the greatest of each stretch."""
    launch = figure.launches[0]
    step = launch.count / len(launch.samples)  # the figure holds evenly chosen samples
    if len(launch.samples) <= MOST_POINTS:
        xs = tuple(float(i * step) for i in range(len(launch.samples)))
        return ChartSeries(figure.name, "curve", xs, tuple(map(float, launch.samples)))
    stretches = np.array_split(launch.samples, MOST_POINTS)
    starts = np.cumsum([0, *map(len, stretches[:-1])])
    xs = tuple(float((start + (len(one) - 1) / 2) * step) for start, one in zip(starts, stretches, strict=True))
    low, middle, high = (tuple(float(of(one)) for one in stretches) for of in (np.min, np.median, np.max))
    return ChartSeries(figure.name, "band", xs, middle, low, high)
