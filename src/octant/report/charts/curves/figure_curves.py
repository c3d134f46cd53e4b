"""Curves of figures along a knob or a metric: collected, named, and converted to series."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from octant import units
from octant.analysis.names import knob_of, place_text
from octant.analysis.segments import half_length
from octant.report.charts.layout.series import MOST_MARKS
from octant.report.charts.picture import ChartSeries, Role
from octant.request import effort_knobs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from octant.analysis.figures import Figure
    from octant.metric import Metric
    from octant.workload import Workload

LEAST_POINTS = 3
"""Lines with fewer points are shown only if no line has so many."""
MOST_SERIES = 4
"""More curves in a panel are not distinguishable: they are divided among several panels."""
MetricOf: TypeAlias = "Callable[[Figure, str], Figure | None]"
"""Returns another metric of the cell of a headline figure, as `Summary.figure` does."""
ROLES: tuple[Role, ...] = ("series-1", "series-2", "series-3", "series-4")


@dataclass(frozen=True)
class Along:
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
    """A curve: its places, ascending unless they are values of a metric, and its figures, each with a value."""

    name: str
    xs: tuple[float, ...]
    figures: tuple[Figure, ...]

    @cached_property
    def ys(self) -> tuple[float, ...]:
        """The medians over launches."""
        return tuple(figure.value.middle for figure in self.figures if figure.value)

    @property
    def points(self) -> list[tuple[float, float]]:
        """Places and medians."""
        return list(zip(self.xs, self.ys, strict=True))

    @cached_property
    def measurable(self) -> FigureCurve:
        """The measurable points, from which levels, segments and the best rate are read."""
        kept = [(x, one) for x, one in zip(self.xs, self.figures, strict=True) if not one.invalid]
        return FigureCurve(self.name, tuple(x for x, _ in kept), tuple(figure for _, figure in kept))

    @property
    def half_length(self) -> float | None:
        """N½ in bytes of the measurable points of a rate; `None` for a time, or if the shortest length reaches it."""
        if not self.figures or self.figures[0].metric.better != "higher":
            return None
        return half_length([(at, y) for at, y in self.measurable.points if at > 0 and y > 0])

    @property
    def limits(self) -> tuple[tuple[float, float], ...]:
        """Places and limits of the points that have one."""
        return tuple((x, one.at_limit) for x, one in zip(self.xs, self.figures, strict=True) if one.at_limit)

    @property
    def noise(self) -> float:
        """Typical relative standard deviation of a point's median between launches; 0 without repeats."""
        repeated = [[launch.value.middle for launch in figure.counted] for figure in self.figures]
        spreads = [1.2 * np.std(np.log(one), ddof=1) / math.sqrt(len(one)) for one in repeated if len(one) > 1]
        return float(np.median(spreads)) if spreads else 0.0


def along(workload: Workload, figures: Sequence[Figure], name: str, title: str) -> Along:
    """Return the axis of a declared picture: a metric of the workload of that name, else the knob."""
    metric = next((metric for metric in workload.metrics if metric.name == name), None)
    values = (figure.knobs.get(name, "") for figure in figures)
    sized = name == "bytes" or any(value.endswith("B") and value[:1].isdigit() for value in values)
    return Along(name, title or name, metric, metric is None and sized)


def lines_of(
    metric_of: MetricOf, x: Along, figures: Sequence[Figure], y: str = "", each: Sequence[str] = ()
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
    return [FigureCurve(name, *map(tuple, zip(*mine, strict=True))) for name, mine in zip(names, kept, strict=True)]


def lead_somewhere(lines: Iterable[FigureCurve]) -> bool:
    """Return whether any line has two points: a single place is shown in the table."""
    return any(len(line.xs) > 1 for line in lines)


def other_knobs(figures: Sequence[Figure], but: str) -> list[str]:
    """Return the names of the knobs that differ among the figures, without `but` and without effort."""
    names = dict.fromkeys(name for figure in figures for name in figure.knobs)
    effort = {name for figure in figures for name in effort_knobs(figure.workload.name)} | {but}
    return [one for one in names if one not in effort and len({figure.knobs.get(one) for figure in figures}) > 1]


def zero_place(xs: Iterable[float]) -> float:
    """Return the place of 0 on a logarithmic axis: left of the least positive place, and of a gap."""
    return min((x for x in xs if x > 0), default=1.0) / 4


def dressed(
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
            series.append(_series(FigureCurve("", (zero,), line.figures[:1]), "points", role, named=False))
        xs = tuple(x or zero if at_zero else x for x in line.xs[begin:])
        series.append(_series(FigureCurve(line.name, xs, line.figures[begin:]), "curve", role, named))
    return tuple(series)


def _series(line: FigureCurve, kind: Literal["curve", "points"], role: Role, named: bool) -> ChartSeries:
    repeated = [(x, one.counted) for x, one in zip(line.xs, line.figures, strict=True) if len(one.counted) > 1]
    dots = tuple((x, launch.value.middle) for x, launches in repeated for launch in launches)
    return ChartSeries(
        line.name, kind, line.xs, line.ys, role=role, names="end" if named else "none",
        dots=dots if len(line.xs) <= MOST_MARKS else (), open=tuple(figure.invalid for figure in line.figures),
    )  # fmt: skip


def _band(line: FigureCurve, role: Role) -> list[ChartSeries]:
    """Return the quartiles over groups of ranks of all launches, if the metric does not reduce groups."""
    groups = [
        (x, [value for launch in figure.counted for value in launch.by_group])
        for x, figure in zip(line.xs, line.figures, strict=True)
    ]
    known = [(x, *map(float, np.quantile(of, (0.25, 0.5, 0.75)))) for x, of in groups if x > 0 and len(of) > 2]
    if len(known) < LEAST_POINTS:
        return []
    xs, low, middle, high = zip(*known, strict=True)
    pairs = max(len(launch.by_group) for figure in line.figures for launch in figure.counted)
    name = f"the middle half of {pairs} groups"
    return [ChartSeries(name, "band", xs, middle, low, high, role=role, names="legend")]


def _group_key(x: Along, figure: Figure, each: Sequence[str]) -> tuple[object, ...]:
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
    places = [place_text(one) for one in firsts]
    several = len(set(places)) > 1
    names = [
        ", ".join([knob_of(one, knob) for knob in knobs if knob in one.knobs] + [place] * (several and bool(place)))
        for one, place in zip(firsts, places, strict=True)
    ]
    if len(groups) == 1 or not all(names):
        return labels
    return [name if names.count(name) == 1 else f"{name}: {label}" for name, label in zip(names, labels, strict=True)]
