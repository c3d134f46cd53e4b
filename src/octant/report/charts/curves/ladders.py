"""The ladders of a run: values along a footprint, with the cache level of each plateau; and the cells of a workload."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from octant import units
from octant.analysis.levels import disputed_levels, level_curve, stated_sizes
from octant.analysis.named_figures import matching
from octant.analysis.roofline import ALONE, Extent
from octant.limit import LEVELS, MEMORY, pattern
from octant.report.charts.curves.figure_curves import MOST_SERIES, Along, FigureCurve, along, lead_somewhere, lines_of
from octant.report.charts.picture import thin
from octant.workload import Ladder

if TYPE_CHECKING:
    from collections.abc import Sequence

    from octant.analysis.figures import Figure
    from octant.analysis.levels import LevelCurve
    from octant.analysis.summary import Modelled, Summary
    from octant.limit import Threads
    from octant.machine import Machine
    from octant.metric import Metric
    from octant.report.charts.curves.figure_curves import MetricOf
    from octant.workload import Workload


@dataclass(frozen=True)
class MeasuredLadder:
    """The curves of one workload along the footprint."""

    workload: Workload
    metric: Metric
    x: Along
    lines: tuple[FigureCurve, ...]
    curve: LevelCurve  # of the first line, whose levels are named
    left_out: int  # lines that are not shown

    @property
    def title(self) -> str:
        """The short name of most figures of the first line."""
        titles = [one.show.short or self.workload.name.rpartition("/")[2] for one in self.lines[0].figures]
        return units.capital(max(titles, key=titles.count))

    @property
    def threads(self) -> Threads:
        """The hardware threads of the first line's first point."""
        return self.lines[0].figures[0].point.hardware_threads


@dataclass(frozen=True)
class Ladders:
    """The ladders of a run, rates before times, and the machine that it measured."""

    rungs: tuple[MeasuredLadder, ...]
    machine: Machine

    def of_figures(self, title: str, figures: Sequence[Figure]) -> tuple[LevelCurve, Metric] | None:
        """Return the levels of the ladder that contains these figures, or of their own line called `title`.

        `None` without a value.
        """
        measured = [one for one in figures if one.value]
        if not measured:
            return None
        metric = measured[0].metric
        for ladder in self.rungs:
            for line in ladder.lines if ladder.metric == metric else ():
                if _holds(line, figures):
                    return (ladder.curve if line is ladder.lines[0] else _curve_of(line, self.machine)), metric
        x = Along("bytes", "bytes", None, sized=True)
        at = sorted({size: one for one in measured if (size := x.place(one.knobs)) is not None}.items())
        line = FigureCurve(title, tuple(size for size, _ in at), tuple(one for _, one in at))
        return _curve_of(line, self.machine), metric

    def missing_text(self, curve: LevelCurve, metric: Metric, level: int) -> str:
        """Return why a ladder has no plateau of a cache: `no plateau of an L3 detected`; empty if it has one."""
        verdict = curve.verdict(level)
        if verdict not in ("unseen", "shared"):
            return ""
        others = [ladder for ladder in self.rungs if ladder.metric.name != metric.name]
        seen = [ladder.metric.name for ladder in others if ladder.curve.verdict(level) == "distinct"]
        if seen:
            return f"L{level} detected in {' and '.join(seen)} only"
        if verdict == "shared":
            *most, last = curve.shared_with(level)
            return f"L{level} not distinguishable from {' and '.join(filter(None, [', '.join(most), last]))}"
        return f"no plateau of an L{level} detected"

    def shown_sizes(self) -> dict[int, int]:
        """Return the cache sizes that no source and no ladder of the run disputes."""
        disputed = disputed_levels(self.machine)
        sizes = {}
        for level, size in stated_sizes(self.machine).items():
            verdicts = {ladder.curve.verdict(level) for ladder in self.rungs} - {"unknown"}
            if level not in disputed and (not verdicts or "distinct" in verdicts):
                sizes[level] = size
        return sizes

    def rates_like(self, threads: Threads) -> MeasuredLadder | None:
        """Return the ladder of rates that hardware threads of the same layout measured."""
        topology = self.machine.topology
        wanted = pattern(topology, threads)
        return next((one for one in self._rates if pattern(topology, one.threads) == wanted), None)

    @property
    def _rates(self) -> list[MeasuredLadder]:
        return [ladder for ladder in self.rungs if ladder.metric.unit == "B/s"]

    def extents(self, threads: Threads) -> tuple[Extent, ...]:
        """Return the levels that have a roof of their own on such hardware threads, and those that share one.

        They are those of the run's ladder of rates: a level that it does not show has no roof. Without a ladder, and
        where too few footprints are in a level, stated sizes alone separate levels.
        """
        alike = self.rates_like(threads)
        ladder = alike or next(iter(self._rates), None)
        if ladder is None:
            return ALONE
        extents: dict[str, Extent] = {}
        for one in sorted(ladder.curve.plateaus, key=lambda plateau: len(plateau.levels)):
            if MEMORY not in one.levels and not any(level in extents for level in one.levels):
                levels = tuple(level for level in LEVELS if level in one.levels)
                extents |= dict.fromkeys(one.levels, Extent(levels, one.last if alike else math.inf))
        for number, level in enumerate(LEVELS[:-1], 1):
            if ladder.curve.verdict(number) == "unknown":
                extents[level] = Extent((level,))
        return (*dict.fromkeys(extents[level] for level in LEVELS if level in extents), Extent((MEMORY,)))


@dataclass(frozen=True)
class MeasuredCells:
    """The cells of a workload in a run, with what its pictures draw in addition."""

    workload: Workload
    figures: Sequence[Figure]  # the headline of each
    figure: MetricOf
    ladders: Ladders  # of the whole run
    modelled: Modelled | None = None


def rungs(summary: Summary) -> tuple[MeasuredLadder, ...]:
    """Return all ladders of a run with a line of two places, rates before times."""
    named = [one.figure for tile in summary.run.screen.tiles for one in tile.also if one.show == "plateaus"]
    in_tiles = [matching(summary, one) for one in named if one]
    ladders = [
        _ladder(summary, workload, figures, shown, in_tiles)
        for workload, figures in summary.by_workload()
        for shown in workload.pictures
        if isinstance(shown, Ladder)
    ]
    return tuple(sorted(filter(None, ladders), key=lambda ladder: ladder.metric.better != "higher"))


def _ladder(
    summary: Summary, workload: Workload, figures: Sequence[Figure], shown: Ladder, in_tiles: Sequence[Sequence[Figure]]
) -> MeasuredLadder | None:
    """Return the ladder of a workload, with the lines of tiles first."""
    metric, x = workload.metric(shown.y), along(workload, figures, shown.x, shown.along)
    lines = lines_of(summary.figure, x, figures, shown.y)
    if not lead_somewhere(lines):
        return None
    sign = -1 if metric.better == "higher" else 1
    kept = sorted(
        thin(lines, MOST_SERIES),
        key=lambda line: (not any(_holds(line, one) for one in in_tiles), -line.xs[-1], sign * line.ys[-1]),
    )
    curve = _curve_of(kept[0], summary.run.machine)
    return MeasuredLadder(workload, metric, x, tuple(kept), curve, len(lines) - len(kept))


def _holds(line: FigureCurve, figures: Sequence[Figure]) -> bool:
    cells = {(one.identity.cell, one.metric.name) for one in line.figures}
    valued = [(one.identity.cell, one.metric.name) for one in figures if one.value]
    return bool(valued) and cells.issuperset(valued)


def _curve_of(line: FigureCurve, machine: Machine) -> LevelCurve:
    points = zip(line.measurable.xs, line.measurable.figures, strict=True)
    return level_curve([(x, one) for x, one in points if x > 0], machine)
