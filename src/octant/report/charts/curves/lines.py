"""The curves that figures make along a knob or a metric: found, named, and dressed as series."""

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
"""Fewer points are no curve: they are shown only where there is none."""
MOST_SERIES = 4
"""More curves in a panel cannot be told apart: they are shared out among several."""
Names: TypeAlias = Literal["end", "none"]
MetricOf: TypeAlias = "Callable[[Figure, str], Figure | None]"
"""Returns another metric of the cell of a headline figure, as `Summary.figure` does."""
ROLES: tuple[Role, ...] = ("series-1", "series-2", "series-3", "series-4")


@dataclass(frozen=True)
class Along:
    """What lies along a curve: a knob of sizes, a knob of numbers, or a metric."""

    name: str  # of the knob or metric
    title: str
    metric: Metric | None
    sized: bool

    def place(self, knobs: Mapping[str, str]) -> float | None:
        """The value of the knob; `None` for a word."""
        text = knobs.get(self.name, "")
        try:
            return float(units.parse_bytes(text)) if self.sized else float(text)
        except ValueError:
            return None

    def text(self, x: float) -> str:
        """A place as it stands in the table."""
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
        """The points that levels, segments and the best rate are read from: those that are measurable."""
        kept = [(x, one) for x, one in zip(self.xs, self.figures, strict=True) if not one.invalid]
        return FigureCurve(self.name, tuple(x for x, _ in kept), tuple(figure for _, figure in kept))

    @property
    def half_length(self) -> float | None:
        """N½ in bytes, of the measurable points of a rate; `None` of a time, and where the shortest reaches it."""
        if not self.figures or self.figures[0].metric.better != "higher":
            return None
        return half_length([(at, y) for at, y in self.measurable.points if at > 0 and y > 0])

    @property
    def limits(self) -> tuple[tuple[float, float], ...]:
        """Places and limits of the points that have one."""
        pairs = zip(self.xs, (figure.at_limit for figure in self.figures), strict=True)
        return tuple((x, limit) for x, limit in pairs if limit)

    @property
    def noise(self) -> float:
        """Relative standard deviation of a point's median, as launches differ typically; 0 without repeats."""
        repeated = [[launch.value.middle for launch in figure.counted] for figure in self.figures]
        found = [1.2 * np.std(np.log(some), ddof=1) / math.sqrt(len(some)) for some in repeated if len(some) > 1]
        return float(np.median(found)) if found else 0.0


def along(workload: Workload, figures: Sequence[Figure], name: str, title: str) -> Along:
    """What a declared picture has along its curves: a metric of the workload by that name, else the knob."""
    metric = next((metric for metric in workload.metrics if metric.name == name), None)
    sized = metric is None and is_sized(name, (figure.knobs.get(name, "") for figure in figures))
    return Along(name, title or name, metric, sized)


def lines_of(
    metric_of: MetricOf, x: Along, figures: Sequence[Figure], y: str = "", each: Sequence[str] = ()
) -> list[FigureCurve]:
    """The curves of a metric (the headline unless named), those asked for first; of single points only if all are.

    Args:
        each: knobs that tell curves apart, along a metric alone; none: all that vary or, along a metric, the requests.
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
            groups.setdefault(_key(x, figure, each), []).append((across, figure))
    if each or not x.metric:  # at the same place the point of a sweep wins, which comes last
        groups = {key: sorted(dict(mine).items(), key=lambda one: one[0]) for key, mine in groups.items()}
    most = min(LEAST_POINTS, max(map(len, groups.values()), default=0))
    found = [mine for mine in groups.values() if len(mine) >= most]
    names = _names([[figure for _, figure in mine] for mine in found], x.name, each)
    return [
        FigureCurve(name, tuple(at for at, _ in mine), tuple(figure for _, figure in mine))
        for name, mine in zip(names, found, strict=True)
    ]


def lead_somewhere(lines: Iterable[FigureCurve]) -> bool:
    """Whether any has two points: what was measured at one place says nothing along an axis, and the table has it."""
    return any(len(line.xs) > 1 for line in lines)


def other_knobs(figures: Sequence[Figure], but: str) -> list[str]:
    """Names of the knobs that differ among the figures, without `but` and without effort."""
    names = dict.fromkeys(
        name
        for figure in figures
        for name in figure.knobs
        if name != but and name not in effort_knobs(figure.workload.name)
    )
    return [name for name in names if len({figure.knobs.get(name) for figure in figures}) > 1]


def is_sized(knob: str, values: Iterable[str]) -> bool:
    """Whether a knob's values are sizes: the knob is `bytes`, or a value has a unit of bytes."""
    return knob == "bytes" or any(value.endswith("B") and value[:1].isdigit() for value in values)


def zero_place(xs: Iterable[float]) -> float:
    """Where 0 stands on a logarithmic axis: left of the least positive place, and of a gap."""
    return min((x for x in xs if x > 0), default=1.0) / 4


def dressed(
    lines: Sequence[FigureCurve], every: Sequence[float], named: bool = True, at_zero: bool = False
) -> tuple[ChartSeries, ...]:
    """Lines as series with their launches as dots, and the middle half of groups of ranks as a band.

    Args:
        every: the places of all lines of the picture.
        named: whether names stand at the ends of the lines.
        at_zero: a place of 0 stands left of a gap, over which no line leads.
    """
    zero = zero_place(every)
    names: Names = "end" if named else "none"
    found: list[ChartSeries] = []
    for line, role in zip(lines, ROLES, strict=False):
        found += _band(line, role)
        begin = int(at_zero and len(line.xs) > 1 and line.xs[0] == 0)
        alone = FigureCurve("", (zero,), line.figures[:1])
        found += [_series(alone, "points", role, "none")] * begin
        rest = FigureCurve(line.name, tuple(x or zero if at_zero else x for x in line.xs[begin:]), line.figures[begin:])
        found.append(_series(rest, "curve", role, names))
    return tuple(found)


def _series(line: FigureCurve, kind: Literal["curve", "points"], role: Role, names: Names) -> ChartSeries:
    repeated = [(x, figure.counted) for x, figure in zip(line.xs, line.figures, strict=True) if len(figure.counted) > 1]
    dots = tuple((x, launch.value.middle) for x, launches in repeated for launch in launches)
    return ChartSeries(
        line.name, kind, line.xs, line.ys, role=role, names=names, dots=dots if len(line.xs) <= MOST_MARKS else (),
        open=tuple(figure.invalid for figure in line.figures),
    )  # fmt: skip


def _band(line: FigureCurve, role: Role) -> list[ChartSeries]:
    """The quartiles over groups of ranks of all launches, where the metric does not reduce groups."""
    groups = [
        (x, [v for one in figure.counted for v in one.by_group])
        for x, figure in zip(line.xs, line.figures, strict=True)
    ]
    known = [(x, np.quantile(values, (0.25, 0.5, 0.75))) for x, values in groups if x > 0 and len(values) > 2]
    if len(known) < LEAST_POINTS:
        return []
    pairs = max(len(launch.by_group) for figure in line.figures for launch in figure.counted)
    low, middle, high = (tuple(map(float, column)) for column in zip(*(q for _, q in known), strict=True))
    name = f"the middle half of {pairs} groups"
    return [ChartSeries(name, "band", tuple(x for x, _ in known), middle, low, high, role=role, names="legend")]


def _key(x: Along, figure: Figure, each: Sequence[str]) -> tuple[object, ...]:
    if each:
        apart: tuple[object, ...] = tuple(figure.knobs.get(name) for name in each)
        if x.metric:  # such as the number of ranks: they lie along it
            return (apart,)
    elif x.metric:
        apart = (figure.label,)
    else:
        effort = effort_knobs(figure.workload.name)
        apart = tuple(sorted((k, v) for k, v in figure.knobs.items() if k not in effort and k != x.name))
    return figure.mode, figure.point.ranks, apart


def _names(groups: Sequence[Sequence[Figure]], but: str, each: Sequence[str]) -> list[str]:
    """What tells each group from the others: the values of knobs, and how many worked; else the title of its request."""
    firsts = [mine[-1] for mine in groups]
    labels = [max(requests, key=requests.count) for requests in ([one.label for one in mine] for mine in groups)]
    knobs = [knob for knob in other_knobs(firsts, but) if knob in each or (not each and knob != "threads")]
    where = [place_text(one) for one in firsts]
    apart = len(set(where)) > 1
    names = [
        ", ".join([knob_of(one, knob) for knob in knobs if knob in one.knobs] + [place] * (apart and bool(place)))
        for one, place in zip(firsts, where, strict=True)
    ]
    if len(groups) == 1 or not all(names):
        return labels
    return [name if names.count(name) == 1 else f"{name}: {label}" for name, label in zip(names, labels, strict=True)]
