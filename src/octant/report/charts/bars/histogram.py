"""Distribution of the time of a step over the samples of all lanes and launches."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from octant import units
from octant.analysis.names import picture_title
from octant.report.charts.picture import MOST_LINES, Axis, ChartSeries, Mark, Panel, Picture, thin, thinned_text
from octant.report.charts.ticks import decades, si_ticks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from octant.analysis.figures import Figure
    from octant.report.charts.curves.ladders import MeasuredCells
    from octant.workload import Histogram

LEVELS = (0.5, 0.9, 0.99, 0.999)
LEAST_BEYOND = 5  # samples beyond a quantile that are required to state it
_BINS = 60
_LEAST_FACTOR = 1.025  # between the edges of a bin: several bins of a sketch, whose own edges are then not visible
_Times: TypeAlias = tuple[NDArray[np.float64], NDArray[np.int64]]
"""Times of one step or chunk in s, ascending, and the number of samples of each."""


def histogram(cells: MeasuredCells, shown: Histogram) -> Picture | None:
    """Draw the times of the figures of the table; return `None` without samples."""
    workload, figures = cells.workload, cells.figures
    every = [one for one in figures if one.show.table and one.value and one.launches[0].times.count]
    kept = thin(every, MOST_LINES)
    if not kept:
        return None
    times = list(map(_times, kept))
    edges = _edges(times)
    series = [_bins(figure, *mine, edges) for figure, mine in zip(kept, times, strict=True)]
    quantiles = [_quantiles(*mine) for mine in times]
    xs, ys = [x for one in series for x in one.x], [y for one in series for y in one.y if y > 0]
    rows = []
    for figure, (_, counts), mine in zip(kept, times, quantiles, strict=True):
        for level, at in mine:
            share = f"{100 * level:g} % of {int(counts.sum())}"
            rows.append((figure.title, figure.mode, share, units.si_text(at, "s", 4)))
    return Picture(
        "histogram", picture_title(figures, shown.title or "how long a step takes"),
        f"{workload.summary}. Number of samples by time, over all lanes and launches without warm-up; the time of a "
        "sample of several steps is divided by their number. Vertical lines are quantiles of the first series."
        + thinned_text(len(kept), len(every), "figures"),
        (
            Panel(
                Axis("time", True, decades(min(xs), max(xs), si_ticks("s")), "s"),
                Axis("samples", True, decades(1, max(*ys, 2), lambda v: f"{v:g}"), "1"),
                tuple(series),
                tuple(Mark(at, f"{100 * level:g} %") for level, at in quantiles[0]),
            ),
        ),
        ("figure", "mode", "share of samples", "took at most"), tuple(rows),
    )  # fmt: skip


def _times(figure: Figure) -> _Times:
    pairs = [(one.times.values(), one.point.batch) for one in figure.launches]
    times = np.concatenate([middles * 1e-9 / batch for (middles, _), batch in pairs])
    counts = np.concatenate([counts for (_, counts), _ in pairs])
    order = np.argsort(times, kind="stable")
    return times[order], counts[order]


def _edges(times: Sequence[_Times]) -> NDArray[np.float64]:
    positive = np.concatenate([mine[mine > 0] for mine, _ in times])
    least, most = (float(positive.min()), float(positive.max())) if len(positive) else (1e-9, 1e-9)
    low, high = least / _LEAST_FACTOR**0.5, most * _LEAST_FACTOR**0.5
    bins = max(1, min(_BINS, math.floor(math.log(high / low) / math.log(_LEAST_FACTOR))))
    return np.geomspace(low, high, bins + 1)


def _bins(
    figure: Figure, times: NDArray[np.float64], counts: NDArray[np.int64], edges: NDArray[np.float64]
) -> ChartSeries:
    heights, _ = np.histogram(np.clip(times, edges[0], edges[-1]), edges, weights=counts)
    full = np.flatnonzero(heights)
    used = np.arange(full[0], full[-1] + 1)
    middles = np.sqrt(edges[:-1] * edges[1:])
    return ChartSeries(figure.name, "bars", tuple(map(float, middles[used])), tuple(map(float, heights[used])))


def _quantiles(times: NDArray[np.float64], counts: NDArray[np.int64]) -> list[tuple[float, float]]:
    """Return the levels that enough samples exceed, and the times below which those shares are."""
    total, below = counts.sum(), np.cumsum(counts)
    levels = [level for level in LEVELS if total * (1 - level) >= LEAST_BEYOND or level == LEVELS[0]]
    return [(level, float(times[min(int(np.searchsorted(below, level * total)), len(times) - 1)])) for level in levels]
