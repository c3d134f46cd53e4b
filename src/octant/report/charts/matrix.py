"""A metric of every pair of ranks or of hardware threads as a matrix of squares.

Pairs of ranks that are far from the others are named. Hardware threads are next to those with which they share most,
with lines between the reported groups; the groups that the values show are named.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from octant import units
from octant.analysis.clusters import UNITS, Clusters, clusters, groups_text, in_order, values_of_pairs
from octant.analysis.names import knob_text
from octant.machine import Topology
from octant.metric import Metric
from octant.report.charts.curves.figure_curves import MeasuredCells
from octant.report.charts.picture import Axis, ChartSeries, Panel, Picture, Role, thin
from octant.report.charts.texts import picture_texts
from octant.report.charts.ticks import even_ticks
from octant.request import EFFORT
from octant.workload import Matrix

LEAST_PAIRS = 3
MAX_PANELS = 4
MAX_RANKS = 256
MAX_GROUPS = 32
BORDERS = ("package", "numa", "l3", "core")
"""Units whose groups are separated by lines, if they are few enough."""
MAX_NAMED = 5
"""Pairs that are named in the picture; the table has all."""
FAR = 3.5
"""Modified z-score from which a pair is far from the others (Iglewicz and Hoaglin, 1993)."""
LEAST_FAR = 0.1
"""Least relative difference of such a pair from the median."""

_Pair = tuple[int, int]


@dataclass(frozen=True)
class _Pairs:
    """The value of every pair of one choice of the other knobs, the lower number first."""

    name: str
    values: Mapping[_Pair, float]
    topology: Topology | None = None  # of hardware threads; `None`: they are ranks

    @property
    def who(self) -> str:
        """What the numbers are."""
        return "rank" if self.topology is None else "hardware thread"

    @cached_property
    def order(self) -> list[int]:
        """The numbers in the order in which they are drawn."""
        if self.topology is None:
            return list(range(max(map(max, self.values)) + 1))
        return in_order(self.topology, {number for pair in self.values for number in pair})

    @cached_property
    def clusters(self) -> Clusters | None:
        """The groups of hardware threads that the values show."""
        return clusters(self.values, self.topology) if self.topology else None

    @property
    def borders(self) -> list[tuple[float, Role]]:
        """The places between reported groups, if these are not too many to be seen; between cores grey."""
        reported = self.clusters.reported if self.clusters else {}
        few = [unit for unit in BORDERS if unit in reported and len(reported[unit]) <= MAX_GROUPS]
        borders: list[tuple[float, Role]] = []
        for i, pair in enumerate(pairwise(self.order)):
            apart = [unit for unit in few if any(len(group & {*pair}) == 1 for group in reported[unit])]
            if apart:
                borders.append((i + 0.5, "grey" if apart == ["core"] else "ink"))
        return borders

    @property
    def middle(self) -> float:
        return float(np.median(list(self.values.values())))

    @property
    def far(self) -> list[_Pair]:
        """Pairs of ranks that are far from the others, the farthest first."""
        if self.topology is not None:
            return []
        off = {pair: abs(value - self.middle) for pair, value in self.values.items()}
        spread = 1.4826 * float(np.median(list(off.values())))
        least = max(FAR * spread, LEAST_FAR * self.middle)
        return sorted((pair for pair in off if off[pair] > least), key=lambda pair: -off[pair])


def matrix(cells: MeasuredCells, shown: Matrix) -> Picture | None:
    """Draw the pairs of ranks of cells whose groups are pairs, or of hardware threads; `None` for fewer than three."""
    workload = cells.workload
    metric = workload.metric(shown.y)
    every = [one for one in _by_knobs(cells, shown.y) if len(one.values) >= LEAST_PAIRS]
    drawn = [one for one in thin(every, MAX_PANELS) if len(one.order) <= MAX_RANKS]
    if not drawn:
        return None
    of_ranks, who = drawn[0].topology is None, f"{drawn[0].who}s"
    title = shown.title or f"{metric.name.capitalize()} of {workload.name} by pairs of {who}"
    texts = picture_texts(
        "matrix", workload=workload, metric=metric, of_ranks=of_ranks, far=FAR, least=LEAST_FAR, drawn=drawn,
        title=title, span=_span, units=UNITS, groups_text=groups_text, named=MAX_NAMED, kept=len(drawn),
        total=len(every),
    )  # fmt: skip
    return Picture(
        "matrix", title, panels=tuple(_panel(one, metric) for one in drawn),
        header=("what", who, metric.name, "against the median", "far" if of_ranks else "share"),
        rows=tuple(row for one in every for row in _rows(one, metric)), beside=len(drawn) > 1,
        width=564 if len(drawn) == 1 else 780, **texts,
    )  # fmt: skip


def _by_knobs(cells: MeasuredCells, name: str) -> list[_Pairs]:
    """Return a matrix per choice of knobs other than the groups; a pair of several cells is their mean."""
    by_knobs: dict[tuple[tuple[str, str], ...], dict[_Pair, list[float]]] = {}
    topology: Topology | None = None
    for headline in cells.figures:
        figure, point = cells.figure(headline, name), headline.point
        if figure is None or figure.invalid:
            continue
        knobs = [(n, v) for n, v in point.knobs.items() if n not in EFFORT]
        if by_threads := values_of_pairs(figure):
            topology = cells.ladders.machine.topology
            by_knobs.setdefault(tuple(knobs), {}).update({pair: [value] for pair, value in by_threads.items()})
        elif point.groups and all(len(group) == 2 for group in point.groups):
            launches = [one.by_group for one in figure.counted if len(one.by_group) == len(point.groups)]
            pairs = by_knobs.setdefault(tuple(one for one in knobs if one[0] != "groups"), {})
            for group, values in zip(point.groups, zip(*launches, strict=True), strict=False):
                pairs.setdefault((min(group), max(group)), []).append(float(np.median(values)))
    varying = {name for key in by_knobs for name, value in key if any((name, value) not in other for other in by_knobs)}
    return [
        _Pairs(
            ", ".join(knob_text(name, value) for name, value in key if name in varying),
            {pair: float(np.mean(values)) for pair, values in sorted(pairs.items())},
            topology,
        )
        for key, pairs in by_knobs.items()
        if pairs
    ]


def _panel(one: _Pairs, metric: Metric) -> Panel:
    order, lower, values = one.order, metric.better == "lower", one.values.values()
    place = {number: i for i, number in enumerate(order)}
    low, high = min(values), max(values)
    at_x, at_y, labels, shades = list[float](), list[float](), list[str](), list[float]()
    for pair, value in one.values.items():
        shade = _shade(value, low, high, ratios=one.topology is not None)
        for a, b in (pair, pair[::-1]):
            at_x.append(float(place[a]))
            at_y.append(float(place[b]))
            labels.append(f"{one.who}s {a} and {b}: {units.si_text(value, metric.unit)}")
            shades.append(1 - shade if lower else shade)
    ends = (-0.5, len(order) - 0.5)
    ticks = even_ticks(len(order) - 1, lambda v: f"{v:g}")
    if one.topology is not None:
        ticks = tuple((float(i), str(cpu)) for i, cpu in enumerate(order))
    axis = Axis(one.who, False, ticks, ends=ends)
    dark, pale = (units.si_text(value, metric.unit) for value in ((low, high) if lower else (high, low)))
    series = [
        ChartSeries(
            f"dark {dark} … pale {pale}", "cells", tuple(at_x), tuple(at_y), labels=tuple(labels), shades=tuple(shades),
            role="series-1", names="legend",
        )
    ]  # fmt: skip
    for border, role in one.borders:
        for x, y in (((border, border), ends), (ends, (border, border))):
            series.append(ChartSeries("", "line", x, y, role=role, names="none"))
    if far := one.far:
        xs, ys = (tuple(map(float, side)) for side in zip(*far, strict=True))
        names = tuple(_pair_text(pair) if n < MAX_NAMED else "" for n, pair in enumerate(far))
        title = "far from the others"
        series.append(ChartSeries(title, "points", xs, ys, labels=names, role="ink", marker="diamond", names="points"))
    return Panel(axis, axis, tuple(series), title=one.name, height=1.5)


def _rows(one: _Pairs, metric: Metric) -> list[tuple[str, ...]]:
    far, middle, rows = set(one.far), one.middle, list[tuple[str, ...]]()
    for pair, value in one.values.items():
        ratio = f"×{units.fixed_text(value / middle, 3)}" if middle else ""
        last = "far" * (pair in far) if one.topology is None else _shared(one.clusters, pair)
        rows.append((one.name or metric.name, _pair_text(pair), units.si_text(value, metric.unit, 4), ratio, last))
    return rows


def _span(one: _Pairs, metric: Metric) -> str:
    values = one.values.values()
    low, middle, high = (units.si_text(v, metric.unit) for v in (min(values), one.middle, max(values)))
    return f"{low} … {high}, median {middle}, {units.counted(len(values), 'pair')}"


def _pair_text(pair: _Pair) -> str:
    return f"{pair[0]} and {pair[1]}"


def _shared(found: Clusters | None, pair: _Pair) -> str:
    """Return the smallest unit that a pair of hardware threads shares, as reported by the system."""
    for unit, groups in found.reported.items() if found else ():
        if any(set(pair) <= group for group in groups):
            return UNITS[unit].removesuffix("s")
    return ""


def _shade(value: float, low: float, high: float, ratios: bool) -> float:
    """Return 0 for the lowest to 1 for the highest; `ratios`: on a logarithmic scale, as for levels of a machine."""
    if high <= low:
        return 0.5
    return float(np.log(value / low) / np.log(high / low)) if ratios and low > 0 else (value - low) / (high - low)
