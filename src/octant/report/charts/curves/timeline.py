"""Samples of a metric in the order in which they were taken."""

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
    from octant.report.charts.curves.ladders import MeasuredCells
    from octant.workload import Timeline


def timeline(cells: MeasuredCells, shown: Timeline) -> Picture | None:
    """Draw the first launch of each figure of the table; return `None` without samples."""
    workload, figures = cells.workload, cells.figures
    metric = workload.metric(shown.y)
    listed = [one for cell in figures if cell.show.table for one in [cells.figure(cell, shown.y)] if one]
    every = [figure for figure in listed if figure.value and figure.launches and len(figure.launches[0].samples)]
    kept = thin(every, MOST_LINES)
    if not kept:
        return None
    series = tuple(map(_series, kept))
    ticks = even_ticks(max(one.x[-1] for one in series), lambda v: f"{v:g}")
    rows = []
    for figure in kept:
        launch = figure.launches[0]
        values = (float(launch.samples[0]), launch.value.middle, float(launch.samples[-1]))
        rows.append((figure.title, figure.mode, str(launch.count), *(units.si_text(v, metric.unit, 4) for v in values)))
    return Picture(
        "timeline", picture_title(figures, f"{metric.name} in the order of samples"),
        f"{workload.summary}. The first launch of each figure. More than {MOST_POINTS} samples are drawn by minimum, "
        "median and maximum of equal parts." + thinned_text(len(kept), len(every), "figures"),
        (
            Panel(
                Axis("sample", False, ticks),
                value_axis(metric.name, [y for one in series for y in (*one.y, *one.low, *one.high)], metric.unit),
                series,
            ),
        ),
        ("figure", "mode", "samples", "first", "median", "last"), tuple(rows),
    )  # fmt: skip


def _series(figure: Figure) -> ChartSeries:
    """Return a curve; of too many samples, minimum, median and maximum of equal parts."""
    launch = figure.launches[0]
    step = launch.count / len(launch.samples)  # the figure has evenly spaced samples
    if len(launch.samples) <= MOST_POINTS:
        xs = tuple(float(i * step) for i in range(len(launch.samples)))
        return ChartSeries(figure.name, "curve", xs, tuple(map(float, launch.samples)))
    parts = np.array_split(launch.samples, MOST_POINTS)
    begins = np.cumsum([0, *map(len, parts[:-1])])
    xs = tuple(float((begin + (len(one) - 1) / 2) * step) for begin, one in zip(begins, parts, strict=True))
    low, middle, high = (tuple(float(of(one)) for one in parts) for of in (np.min, np.median, np.max))
    return ChartSeries(figure.name, "band", xs, middle, low, high)
