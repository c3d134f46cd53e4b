"""Bands: differences between ranks along a knob, and samples in the order in which they were taken."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from octant import units
from octant.analysis.names import picture_title
from octant.report.charts.curves.curve import along_axis, value_axis, value_cells, value_columns
from octant.report.charts.curves.figure_curves import MOST_SERIES, ROLES, FigureCurve, along, lines_of
from octant.report.charts.picture import MOST_LINES, MOST_POINTS, Axis, ChartSeries, Panel, Picture, thin, thinned_text
from octant.report.charts.texts import picture_texts
from octant.report.charts.ticks import even_ticks

if TYPE_CHECKING:
    from octant.analysis.figures import Figure
    from octant.report.charts.curves.figure_curves import Along
    from octant.report.charts.curves.ladders import MeasuredCells
    from octant.workload import Spread, Timeline


class _Band(NamedTuple):
    """A line with the ends of its points."""

    line: FigureCurve
    low: tuple[float, ...]
    high: tuple[float, ...]


def spread(cells: MeasuredCells, shown: Spread) -> Picture | None:
    """Draw the bands that have two points with all three metrics; return `None` without any."""
    workload, figures = cells.workload, cells.figures
    metric, x = workload.metric(shown.middle), along(workload, figures, shown.x, shown.along)
    every = [band for band in _bands(cells, x, shown) if len(band.low) > 1]
    if not every:
        return None
    kept = thin(every, MOST_SERIES)
    xs = sorted({at for band in kept for at in band.line.xs})
    upright = value_axis(metric.name, [y for band in kept for y in band.low + band.high], metric.unit, log=True)
    series, widest = [], []
    for (line, low, high), role in zip(kept, ROLES, strict=False):
        names = "end" if len(kept) > 1 else "none"
        series.append(ChartSeries(line.name, "band", line.xs, line.ys, low, high, role=role, names=names))  # type: ignore[arg-type]
        ratio, at = max(((b / a if a > 0 else 1.0, -i) for i, (a, b) in enumerate(zip(low, high, strict=True))))
        widest.append({"name": line.name, "ratio": ratio, "place": x.text(line.xs[-at])})
    return Picture(
        "spread", shown.title or picture_title(figures, f"{metric.name} of ranks against {x.title}"),
        panels=(Panel(along_axis(x, xs), upright, tuple(series)),),
        header=("band", x.title, shown.low, *value_columns(metric), shown.high, "slowest over fastest"),
        rows=tuple(row for band in kept for row in _rows(band, x)),
        **picture_texts(
            "spread", workload=workload, metric=metric, shown=shown, kept=len(kept), total=len(every), widest=widest
        ),
    )  # fmt: skip


def _bands(cells: MeasuredCells, x: Along, shown: Spread) -> list[_Band]:
    bands = []
    for line in lines_of(cells.figure, x, cells.figures, shown.middle, shown.each):
        points = []
        for at, figure in zip(line.xs, line.figures, strict=True):
            ends = [cells.figure(figure, name) for name in (shown.low, shown.high)]
            values = [one.value.middle for one in ends if one and one.value]
            if len(values) == len(ends) and at > 0:  # an axis of powers has no place for a size of 0
                points.append((at, figure, *values))
        if points:
            xs, middle, low, high = zip(*points, strict=True)
            bands.append(_Band(FigureCurve(line.name, xs, middle), low, high))
    return bands


def _rows(band: _Band, x: Along) -> list[tuple[str, ...]]:
    rows = list[tuple[str, ...]]()
    for at, figure, *ends in zip(band.line.xs, band.line.figures, band.low, band.high, strict=True):
        low, high = (units.si_text(end, figure.metric.unit, 4) for end in ends)
        ratio = f"×{units.fixed_text(ends[1] / ends[0], 3)}" if ends[0] > 0 else ""
        rows.append((band.line.name, x.text(at), low, *value_cells(figure), high, ratio))
    return rows


def timeline(cells: MeasuredCells, shown: Timeline) -> Picture | None:
    """Draw the first launch of each figure of the table; return `None` without samples."""
    workload, figures = cells.workload, cells.figures
    metric = workload.metric(shown.y)
    listed = [one for cell in figures if cell.show.table for one in [cells.figure(cell, shown.y)] if one]
    every = [figure for figure in listed if figure.value and figure.launches and len(figure.launches[0].samples)]
    kept = thin(every, MOST_LINES)
    if not kept:
        return None
    series = tuple(map(_sample_series, kept))
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


def _sample_series(figure: Figure) -> ChartSeries:
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
