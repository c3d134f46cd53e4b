"""Curves of figures along a knob or a metric, and the ladders of a run with the cache level of each plateau."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias

import numpy as np

from octant import units
from octant.analysis.figures import Figure
from octant.analysis.levels import LevelCurve, level_curve
from octant.analysis.named_figures import matching
from octant.analysis.names import knob_of, place_text
from octant.analysis.roofline import ALONE, Extent
from octant.analysis.segments import half_length
from octant.analysis.summary import Modelled, Summary
from octant.limit import LEVELS, MEMORY, Threads, pattern
from octant.machine import Machine
from octant.machine.cache_levels import disputed_levels, stated_sizes
from octant.metric import Metric
from octant.report import claims
from octant.report.charts.layout.plot import MAX_MARKS
from octant.report.charts.picture import ChartSeries, Role, thin
from octant.report.sentences import listed
from octant.request import effort_knobs
from octant.workload import Ladder, Workload

LEAST_POINTS = 3
"""Lines with fewer points are shown only if no line has so many."""
MAX_SERIES, MAX_LINES = 4, 12
"""More curves in a panel are divided among several panels; more in a picture are thinned."""
MetricOf: TypeAlias = "Callable[[Figure, str], Figure | None]"
"""Returns another metric of the cell of a headline figure, as `Summary.figure` does."""
ROLES: tuple[Role, ...] = ("series-1", "series-2", "series-3", "series-4")


@dataclass(frozen=True)
class CurveAxis:
    """The axis along curves: a knob of sizes, a knob of numbers, or a metric."""

    name: str  # of the knob or metric
    title: str
    metric: Metric | None
    sized: bool

    def place(self, knobs: Mapping[str, str]) -> float | None:
        """Return the value of the knob; `None` for a word."""
        text = knobs.get(self.name, "")
        try:
            return float(units.parse_bytes(text)) if self.sized else float(text)
        except ValueError:
            return None

    def text(self, x: float) -> str:
        """Return a place as the table writes it."""
        if self.metric:
            return units.si_text(x, self.metric.unit, 4)
        return units.bytes_text(x) if self.sized else f"{x:g}"


@dataclass(frozen=True)
class FigureCurve:
    """A curve: figures with a value, each with its place; the places ascend unless they are values of a metric."""

    name: str
    cells: tuple[tuple[float, Figure], ...]

    @cached_property
    def xs(self) -> tuple[float, ...]:
        """The places."""
        return tuple(x for x, _ in self.cells)

    @cached_property
    def ys(self) -> tuple[float, ...]:
        """The medians over launches."""
        return tuple(figure.value.middle for _, figure in self.cells if figure.value)

    @property
    def figures(self) -> list[Figure]:
        """The figures."""
        return [figure for _, figure in self.cells]

    @property
    def points(self) -> list[tuple[float, float]]:
        """Places and medians."""
        return list(zip(self.xs, self.ys, strict=True))

    def point_text(self, number: int) -> str:
        """Return the value of a point to three digits: `1.39 ns`."""
        return claims.quantity(self.ys[number], self.figures[number].metric.unit)

    @cached_property
    def measurable(self) -> FigureCurve:
        """The measurable points, from which levels, segments and the best rate are read."""
        return FigureCurve(self.name, tuple(cell for cell in self.cells if not cell[1].invalid))

    @property
    def half_length(self) -> float | None:
        """N½ in bytes of the measurable points of a rate; `None` for a time, or if the shortest length reaches it."""
        if not self.cells or self.figures[0].metric.better != "higher":
            return None
        return half_length([(at, y) for at, y in self.measurable.points if at > 0 and y > 0])

    @property
    def limits(self) -> tuple[tuple[float, float], ...]:
        """Places and limits of the points that have one."""
        return tuple((x, one.at_limit) for x, one in self.cells if one.at_limit)

    @property
    def noise(self) -> float:
        """Typical relative standard deviation of a point's median between launches; 0 without repeats."""
        repeated = [[launch.value.middle for launch in figure.counted] for figure in self.figures]
        spreads = [1.2 * np.std(np.log(one), ddof=1) / math.sqrt(len(one)) for one in repeated if len(one) > 1]
        return float(np.median(spreads)) if spreads else 0.0


def curve_axis(workload: Workload, figures: Sequence[Figure], name: str, title: str) -> CurveAxis:
    """Return the axis of a declared picture: a metric of the workload of that name, else the knob."""
    metric = next((metric for metric in workload.metrics if metric.name == name), None)
    values = (figure.knobs.get(name, "") for figure in figures)
    sized = name == "bytes" or any(value.endswith("B") and value[:1].isdigit() for value in values)
    return CurveAxis(name, title or name, metric, metric is None and sized)


def collect_curves(
    metric_of: MetricOf, x: CurveAxis, figures: Sequence[Figure], y: str = "", each: Sequence[str] = ()
) -> list[FigureCurve]:
    """Return the curves of a metric (default: the headline), those of the table first.

    Args:
        each: knobs whose values make separate curves, along a metric alone; none: all that vary or, along a metric,
            the requests.
    """
    groups: dict[tuple[object, ...], list[tuple[float, Figure]]] = {}
    for headline in sorted(figures, key=lambda figure: not figure.show.table):
        figure, across = metric_of(headline, y), None
        if x.metric:
            other = metric_of(headline, x.name)
            across = other.value.middle if other and other.value else None
        elif figure:
            across = x.place(figure.knobs)
        if figure is not None and figure.value is not None and across is not None and math.isfinite(across):
            groups.setdefault(_group_key(x, figure, each), []).append((across, figure))
    if each or not x.metric:  # of several at one place, the point of a sweep, which is last
        groups = {key: sorted(dict(mine).items(), key=lambda one: one[0]) for key, mine in groups.items()}
    most = min(LEAST_POINTS, max(map(len, groups.values()), default=0))
    kept = [mine for mine in groups.values() if len(mine) >= most]
    names = _group_names([[figure for _, figure in mine] for mine in kept], x.name, each)
    return [FigureCurve(name, tuple(mine)) for name, mine in zip(names, kept, strict=True)]


def has_curve(lines: Iterable[FigureCurve]) -> bool:
    """Return whether any line has two points: a single place is shown in the table."""
    return any(len(line.xs) > 1 for line in lines)


def other_knobs(figures: Sequence[Figure], but: str) -> list[str]:
    """Return the names of the knobs that differ among the figures, without `but` and without effort."""
    names = dict.fromkeys(name for figure in figures for name in figure.knobs)
    effort = {name for figure in figures for name in effort_knobs(figure.workload.name)} | {but}
    return [one for one in names if one not in effort and len({figure.knobs.get(one) for figure in figures}) > 1]


def with_places(figures: Sequence[Figure], names: Sequence[list[str]]) -> list[str]:
    """Return the names, each from its parts, with the placement of each figure if these differ."""
    places = [place_text(one) for one in figures]
    several = len(set(places)) > 1
    return [", ".join(parts + [place] * (several and bool(place))) for parts, place in zip(names, places, strict=True)]


def zero_place(xs: Iterable[float]) -> float:
    """Return the place of 0 on a logarithmic axis: left of the least positive place, and of a gap."""
    return min((x for x in xs if x > 0), default=1.0) / 4


def curve_series(
    lines: Sequence[FigureCurve], every: Sequence[float], named: bool = True, at_zero: bool = False
) -> tuple[ChartSeries, ...]:
    """Return lines as series with their launches as dots, and the middle half of groups of ranks as a band.

    Args:
        every: the places of all lines of the picture.
        named: whether names are at the ends of the lines.
        at_zero: a place of 0 is left of a gap, over which no line leads.
    """
    zero, series = zero_place(every), list[ChartSeries]()
    for line, role in zip(lines, ROLES, strict=False):
        series += _band(line, role)
        begin = int(at_zero and len(line.xs) > 1 and line.xs[0] == 0)
        if begin:
            series.append(_series(FigureCurve("", ((zero, line.figures[0]),)), "points", role, named=False))
        cells = tuple((x or zero if at_zero else x, figure) for x, figure in line.cells[begin:])
        series.append(_series(FigureCurve(line.name, cells), "curve", role, named))
    return tuple(series)


def _series(line: FigureCurve, kind: Literal["curve", "points"], role: Role, named: bool) -> ChartSeries:
    repeated = [(x, one.counted) for x, one in line.cells if len(one.counted) > 1]
    dots = tuple((x, launch.value.middle) for x, launches in repeated for launch in launches)
    return ChartSeries(
        line.name, kind, line.xs, line.ys, role=role, names="end" if named else "none",
        dots=dots if len(line.xs) <= MAX_MARKS else (), open=tuple(figure.invalid for figure in line.figures),
    )  # fmt: skip


def _band(line: FigureCurve, role: Role) -> list[ChartSeries]:
    """Return the quartiles over groups of ranks of all launches, if the metric does not reduce groups."""
    groups = [(x, [value for launch in one.counted for value in launch.by_group]) for x, one in line.cells]
    known = [(x, *map(float, np.quantile(of, (0.25, 0.5, 0.75)))) for x, of in groups if x > 0 and len(of) > 2]
    if len(known) < LEAST_POINTS:
        return []
    xs, low, middle, high = zip(*known, strict=True)
    pairs = max(len(launch.by_group) for figure in line.figures for launch in figure.counted)
    name = f"the middle half of {pairs} groups"
    return [ChartSeries(name, "band", xs, middle, low, high, role=role, names="legend")]


def _group_key(x: CurveAxis, figure: Figure, each: Sequence[str]) -> tuple[object, ...]:
    apart: tuple[object, ...] = (figure.label,)
    if each:
        apart = tuple(figure.knobs.get(name) for name in each)
        if x.metric:  # such as the number of ranks: they lie along it
            return (apart,)
    elif not x.metric:
        effort = effort_knobs(figure.workload.name)
        apart = tuple(sorted((k, v) for k, v in figure.knobs.items() if k not in effort and k != x.name))
    return figure.mode, figure.point.ranks, apart


def _group_names(groups: Sequence[Sequence[Figure]], but: str, each: Sequence[str]) -> list[str]:
    """Return what differs between groups: values of knobs, and placement; else the title of the request."""
    firsts = [mine[-1] for mine in groups]
    labels = [max(mine, key=mine.count) for mine in ([one.label for one in group] for group in groups)]
    knobs = [knob for knob in other_knobs(firsts, but) if knob in each or (not each and knob != "threads")]
    names = with_places(firsts, [[knob_of(one, knob) for knob in knobs if knob in one.knobs] for one in firsts])
    if len(groups) == 1 or not all(names):
        return labels
    return [name if names.count(name) == 1 else f"{name}: {label}" for name, label in zip(names, labels, strict=True)]


@dataclass(frozen=True)
class MeasuredLadder:
    """The curves of one workload along the footprint."""

    workload: Workload
    metric: Metric
    x: CurveAxis
    lines: tuple[FigureCurve, ...]
    curve: LevelCurve  # of the first line, whose levels are named
    left_out: int  # lines that are not shown

    @property
    def title(self) -> str:
        """The short name of most figures of the first line."""
        titles = [one.show.short or self.workload.name.rpartition("/")[2] for one in self.lines[0].figures]
        return units.capital(max(titles, key=titles.count))


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
        x = CurveAxis("bytes", "bytes", None, sized=True)
        at = sorted({size: one for one in measured if (size := x.place(one.knobs)) is not None}.items())
        return _curve_of(FigureCurve(title, tuple(at)), self.machine), metric

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
            return f"L{level} not distinguishable from {listed(curve.shared_with(level))}"
        return f"no plateau of an L{level} detected"

    def shown_sizes(self) -> dict[int, int]:
        """Return the cache sizes that no source and no ladder of the run disputes."""
        disputed = disputed_levels(self.machine)
        verdicts = {one: {ladder.curve.verdict(one) for ladder in self.rungs} for one in stated_sizes(self.machine)}
        seen = {one for one, found in verdicts.items() if found <= {"unknown"} or "distinct" in found}
        return {one: size for one, size in stated_sizes(self.machine).items() if one in seen and one not in disputed}

    def rates_like(self, threads: Threads) -> MeasuredLadder | None:
        """Return the ladder of rates that hardware threads of the same layout measured."""
        for one in (one for one in self.rungs if one.metric.unit == "B/s"):
            measured_on = one.lines[0].figures[0].point.hardware_threads
            if pattern(self.machine.topology, measured_on) == pattern(self.machine.topology, threads):
                return one
        return None

    def extents(self, threads: Threads) -> tuple[Extent, ...]:
        """Return the levels that have a roof of their own on such hardware threads, and those that share one.

        They are those of the run's ladder of rates: a level that it does not show has no roof. Without a ladder, and
        where too few footprints are in a level, stated sizes alone separate levels.
        """
        alike = self.rates_like(threads)
        ladder = alike or next((one for one in self.rungs if one.metric.unit == "B/s"), None)
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
    metric, x = workload.metric(shown.y), curve_axis(workload, figures, shown.x, shown.along)
    lines = collect_curves(summary.figure, x, figures, shown.y)
    if not has_curve(lines):
        return None
    sign = -1 if metric.better == "higher" else 1
    kept = sorted(
        thin(lines, MAX_SERIES),
        key=lambda line: (not any(_holds(line, one) for one in in_tiles), -line.xs[-1], sign * line.ys[-1]),
    )
    curve = _curve_of(kept[0], summary.run.machine)
    return MeasuredLadder(workload, metric, x, tuple(kept), curve, len(lines) - len(kept))


def _holds(line: FigureCurve, figures: Sequence[Figure]) -> bool:
    cells = {(one.identity.cell, one.metric.name) for one in line.figures}
    valued = [(one.identity.cell, one.metric.name) for one in figures if one.value]
    return bool(valued) and cells.issuperset(valued)


def _curve_of(line: FigureCurve, machine: Machine) -> LevelCurve:
    return level_curve([(x, one) for x, one in line.measurable.cells if x > 0], machine)
