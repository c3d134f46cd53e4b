"""The ladders of a run and the levels that they show: the tile, the picture, its table and the roofline share them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from octant.analysis.levels import disputed_levels, level_curve, stated_sizes
from octant.analysis.named_figures import matching
from octant.analysis.roofline import ALONE, Extent
from octant.limit import LEVELS, MEMORY, pattern
from octant.report.charts.curves.lines import MOST_SERIES, Along, FigureCurve, along, lead_somewhere, lines_of
from octant.report.charts.picture import thin
from octant.workload import Ladder

if TYPE_CHECKING:
    from collections.abc import Sequence

    from octant.analysis.figures import Figure
    from octant.analysis.levels import LevelCurve
    from octant.analysis.summary import Summary
    from octant.limit import Threads
    from octant.machine import Machine
    from octant.metric import Metric
    from octant.workload import Workload


@dataclass(frozen=True)
class Rung:
    """What one workload measured along the footprint."""

    workload: Workload
    metric: Metric
    x: Along
    lines: tuple[FigureCurve, ...]  # the first one is the one whose levels are named
    curve: LevelCurve  # of the first line
    left_out: int  # lines that are not shown

    @property
    def threads(self) -> Threads:
        """The hardware threads of the first line's first point."""
        return self.lines[0].figures[0].point.hardware_threads


@dataclass(frozen=True)
class Ladders:
    """The ladders of a run, rates before times, and the machine that it measured."""

    rungs: tuple[Rung, ...]
    machine: Machine

    def of_figures(self, title: str, figures: Sequence[Figure]) -> tuple[LevelCurve, Metric] | None:
        """The levels of the ladder to which these figures belong, or of their own line; `None` without a value.

        Args:
            title: of their own line.
        """
        measured = [one for one in figures if one.value]
        if not measured:
            return None
        metric = measured[0].metric
        for rung in self.rungs:
            for line in rung.lines if rung.metric == metric else ():
                if _holds(line, figures):
                    return (rung.curve if line is rung.lines[0] else _curve_of(line, self.machine)), metric
        x = Along("bytes", "bytes", None, sized=True)
        at = {size: one for one in measured if (size := x.place(one.knobs)) is not None}
        line = FigureCurve(title, tuple(sorted(at)), tuple(at[size] for size in sorted(at)))
        return _curve_of(line, self.machine), metric

    def missing_text(self, curve: LevelCurve, metric: Metric, level: int) -> str:
        """Why a ladder has no plateau of a cache of its own: `no plateau of an L3 seen`; empty where it has one."""
        verdict = curve.verdict(level)
        if verdict not in ("unseen", "shared"):
            return ""
        others = [rung for rung in self.rungs if rung.metric.name != metric.name]
        seen = [rung.metric.name for rung in others if rung.curve.verdict(level) == "distinct"]
        if seen:
            return f"L{level} seen in {' and '.join(seen)} only"
        if verdict == "shared":
            *most, last = curve.shared_with(level)
            return f"L{level} not distinguishable from {' and '.join(filter(None, [', '.join(most), last]))}"
        return f"no plateau of an L{level} seen"

    def shown_sizes(self) -> dict[int, int]:
        """The stated sizes by which tables may name a cache: those that no source and no ladder of the run caveats."""
        disputed = disputed_levels(self.machine)
        verdicts = {level: {rung.curve.verdict(level) for rung in self.rungs} - {"unknown"} for level in range(1, 5)}
        return {
            level: size
            for level, size in stated_sizes(self.machine).items()
            if level not in disputed and (not verdicts[level] or "distinct" in verdicts[level])
        }

    def rates_like(self, threads: Threads) -> Rung | None:
        """The ladder of rates that hardware threads of the same layout climbed."""
        topology = self.machine.topology
        wanted = pattern(topology, threads)
        return next((one for one in self._rates if pattern(topology, one.threads) == wanted), None)

    @property
    def _rates(self) -> list[Rung]:
        return [rung for rung in self.rungs if rung.metric.unit == "B/s"]

    def extents(self, threads: Threads) -> tuple[Extent, ...]:
        """Return the levels that have a roof of their own on such hardware threads, and those that share one.

        They are those of the run's ladder of rates: a level that it does not show has no roof. Without a ladder, and
        where too few footprints lie in a level, stated sizes alone tell levels apart.
        """
        alike = self.rates_like(threads)
        rung = alike or next(iter(self._rates), None)
        if rung is None:
            return ALONE
        found: dict[str, Extent] = {}
        for one in sorted(rung.curve.plateaus, key=lambda plateau: len(plateau.levels)):
            if MEMORY not in one.levels and not any(level in found for level in one.levels):
                levels = tuple(level for level in LEVELS if level in one.levels)
                found |= dict.fromkeys(one.levels, Extent(levels, one.last if alike else math.inf))
        for number, level in enumerate(LEVELS[:-1], 1):
            if rung.curve.verdict(number) == "unknown":
                found[level] = Extent((level,))
        return (*dict.fromkeys(found[level] for level in LEVELS if level in found), Extent((MEMORY,)))


def rungs(summary: Summary) -> tuple[Rung, ...]:
    """All ladders of a run with a line of two places, rates before times."""
    named = [one.figure for tile in summary.run.screen.tiles for one in tile.also if one.show == "plateaus"]
    in_tiles = [matching(summary, one) for one in named if one]
    found = [
        rung
        for workload, figures in summary.by_workload()
        for shown in workload.pictures
        if isinstance(shown, Ladder) and (rung := _rung(summary, workload, figures, shown, in_tiles))
    ]
    return tuple(sorted(found, key=lambda rung: rung.metric.better != "higher"))


def _rung(
    summary: Summary,
    workload: Workload,
    figures: Sequence[Figure],
    shown: Ladder,
    in_tiles: Sequence[Sequence[Figure]],
) -> Rung | None:
    """The ladder of a workload; the lines whose levels tiles give come first."""
    metric, x = workload.metric(shown.y), along(workload, figures, shown.x, shown.along)
    lines = lines_of(summary.figure, x, figures, shown.y)
    if not lead_somewhere(lines):
        return None
    sign = -1 if metric.better == "higher" else 1
    kept = sorted(
        thin(lines, MOST_SERIES),
        key=lambda line: (not any(_holds(line, one) for one in in_tiles), -line.xs[-1], sign * line.ys[-1]),
    )
    return Rung(workload, metric, x, tuple(kept), _curve_of(kept[0], summary.run.machine), len(lines) - len(kept))


def _holds(line: FigureCurve, figures: Sequence[Figure]) -> bool:
    cells = {(one.identity.cell, one.metric.name) for one in line.figures}
    valued = [(one.identity.cell, one.metric.name) for one in figures if one.value]
    return bool(valued) and cells.issuperset(valued)


def _curve_of(line: FigureCurve, machine: Machine) -> LevelCurve:
    at = [(x, one) for x, one in zip(line.measurable.xs, line.measurable.figures, strict=True) if x > 0]
    return level_curve(at, machine)
