"""Bars of the ranks of a user's program: how much CPU time each used."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from octant import units
from octant.analysis.names import short_name
from octant.analysis.program import SYSTEM, USER, values_of_ranks
from octant.report.charts.bars.bars import places_axis
from octant.report.charts.picture import MOST_BARS, Axis, ChartSeries, Panel, Picture, thin, thinned_text
from octant.report.charts.ticks import even_ticks, si_ticks

if TYPE_CHECKING:
    from collections.abc import Mapping

    from octant.analysis.figures import Figure
    from octant.report.charts.curves.ladders import MeasuredCells
    from octant.report.charts.picture import Role
    from octant.workload import RankBars


def rank_bars(cells: MeasuredCells, shown: RankBars) -> Picture | None:
    """User and system time of each rank of the cell with most ranks, medians over its launches.

    `None` where no cell has CPU times of several ranks.

    Raises:
        RecordError: the samples of a point can no longer be read.
    """
    counted = [figure for figure in cells.figures if figure.counted]
    figure = max(counted, key=lambda one: one.point.ranks or 0, default=None)
    if figure is None:
        return None
    times = {name: _medians(figure, f"reading/{name}") for name in (USER, SYSTEM)}
    ranks = sorted(times[USER].keys() & times[SYSTEM].keys())
    if len(ranks) < 2:
        return None
    kept = thin(ranks, MOST_BARS)
    places = tuple(map(float, range(len(kept))))
    roles: tuple[Role, Role] = ("series-1", "series-2")
    series = tuple(
        ChartSeries(name, "stack", tuple(of_rank[rank] for rank in kept), places, role=role, names="legend")
        for (name, of_rank), role in zip(times.items(), roles, strict=True)
    )
    sums = [times[USER][rank] + times[SYSTEM][rank] for rank in ranks]
    most = max(sums)
    busiest, least = (ranks[sums.index(end)] for end in (most, min(sums)))
    return Picture(
        "ranks",
        shown.title,
        f"CPU time of each rank of {short_name(figure)} with its descendants. Medians over launches."
        + thinned_text(len(kept), len(ranks), "bars"),
        (
            Panel(
                Axis("CPU time", False, even_ticks(most or 1.0, si_ticks("s")), "s"),
                places_axis("rank", [str(rank) for rank in kept]),
                series,
            ),
        ),
        ("rank", USER, SYSTEM),
        tuple((str(rank), *(units.si_text(of_rank[rank], "s", 4) for of_rank in times.values())) for rank in kept),
        label=f"CPU time by rank: most on rank {busiest} with {units.si_text(most, 's')}, "
        f"least on rank {least} with {units.si_text(min(sums), 's')}.",
    )


def _medians(figure: Figure, series: str) -> Mapping[int, float]:
    """By rank, the median over launches."""
    found: dict[int, list[float]] = {}
    for launch in figure.counted:
        for rank, value in values_of_ranks(launch.point.read(), series).items():
            found.setdefault(rank, []).append(value)
    return {rank: float(np.median(values)) for rank, values in found.items()}
