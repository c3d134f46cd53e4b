"""How far ranks differ along a knob: a line in a band from the quickest rank to the slowest."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from octant import units
from octant.analysis.names import picture_title
from octant.report.charts.curves.curve import along_axis, value_axis, value_cells, value_columns
from octant.report.charts.curves.lines import MOST_SERIES, ROLES, FigureCurve, along, lines_of
from octant.report.charts.picture import ChartSeries, Panel, Picture, thin, thinned_text

if TYPE_CHECKING:
    from octant.report.charts.cells import MeasuredCells
    from octant.report.charts.curves.lines import Along, Names
    from octant.report.charts.picture import Role
    from octant.workload import Spread

_LEAST_POINTS = 2
_Band: TypeAlias = tuple[FigureCurve, tuple[float, ...], tuple[float, ...]]
"""The middle with the ends of its points."""


def spread(cells: MeasuredCells, shown: Spread) -> Picture | None:
    """The bands that have two points with all three metrics; `None` without any."""
    workload, figures = cells.workload, cells.figures
    metric, x = workload.metric(shown.middle), along(workload, figures, shown.x, shown.along)
    every = [band for band in _bands(cells, x, shown) if len(band[0].xs) >= _LEAST_POINTS]
    if not every:
        return None
    kept = thin(every, MOST_SERIES)
    xs = sorted({at for line, _, _ in kept for at in line.xs})
    across = along_axis(x, xs)
    upright = value_axis(metric.name, [y for _, low, high in kept for y in (*low, *high)], metric.unit, log=True)
    series = [_series(band, role, len(kept) > 1) for band, role in zip(kept, ROLES, strict=False)]
    widest = [_widest(band, x) for band in kept]
    return Picture(
        "spread",
        shown.title or picture_title(figures, f"{metric.name} of ranks against {x.title}"),
        f"{workload.summary}. Lines: {metric.note or metric.name}; bands: from {shown.low} to {shown.high}, "
        "medians over launches." + thinned_text(len(kept), len(every), "bands"),
        (Panel(across, upright, tuple(series)),),
        ("band", x.title, shown.low, *value_columns(metric), shown.high, "slowest over quickest"),
        tuple(row for band in kept for row in _rows(band, x)),
        label=f"{shown.high} of {workload.name} over {shown.low}: {'; '.join(text for _, text in widest)}.",
        facts=tuple(widest),
    )


def _bands(cells: MeasuredCells, x: Along, shown: Spread) -> list[_Band]:
    found = []
    for line in lines_of(cells.figure, x, cells.figures, shown.middle, shown.each):
        points = []
        for at, figure in zip(line.xs, line.figures, strict=True):
            ends = [cells.figure(figure, name) for name in (shown.low, shown.high)]
            low, high = (one.value.middle if one and one.value else None for one in ends)
            if low is not None and high is not None and at > 0:  # no size of 0 on an axis of powers
                points.append((at, figure, low, high))
        if points:
            xs, middle, low_s, high_s = zip(*points, strict=True)
            found.append((FigureCurve(line.name, xs, middle), low_s, high_s))
    return found


def _series(band: _Band, role: Role, named: bool) -> ChartSeries:
    line, low, high = band
    names: Names = "end" if named else "none"
    return ChartSeries(line.name, "band", line.xs, line.ys, low, high, role=role, names=names)


def _widest(band: _Band, x: Along) -> tuple[str, str]:
    """Where the slowest rank takes most times as long as the quickest."""
    line, low, high = band
    ratios = [slow / quick if quick > 0 else 1.0 for quick, slow in zip(low, high, strict=True)]
    place = max(range(len(ratios)), key=lambda i: ratios[i])
    return line.name, f"at most {units.fixed_text(ratios[place], 2)} times, at {x.text(line.xs[place])}"


def _rows(band: _Band, x: Along) -> list[tuple[str, ...]]:
    line, low, high = band
    return [
        (
            line.name,
            x.text(at),
            units.si_text(quick, figure.metric.unit, 4),
            *value_cells(figure),
            units.si_text(slow, figure.metric.unit, 4),
            f"×{units.fixed_text(slow / quick, 3)}" if quick > 0 else "",
        )
        for at, figure, quick, slow in zip(line.xs, line.figures, low, high, strict=True)
    ]
