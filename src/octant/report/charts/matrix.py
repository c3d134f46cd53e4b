"""A metric of every pair of ranks or of hardware threads as a matrix of squares.

Of ranks, pairs that are far from the others are named; hardware threads lie beside those with which they share most,
with lines between the groups that are told, and the groups that the values show are named.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from octant import units
from octant.analysis.clusters import UNITS, clusters, groups_text, in_order, values_of_pairs
from octant.analysis.names import knob_text
from octant.report.charts.picture import Axis, ChartSeries, Panel, Picture, thin, thinned_text
from octant.report.charts.ticks import even_ticks
from octant.request import EFFORT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from octant.analysis.clusters import Clusters, Partition
    from octant.machine import Topology
    from octant.metric import Metric
    from octant.report.charts.cells import MeasuredCells
    from octant.report.charts.picture import Role
    from octant.workload import Matrix

LEAST_PAIRS = 3
MOST_PANELS = 4
MOST_RANKS = 256
MOST_GROUPS = 32
BORDERS = ("package", "numa", "l3", "core")
"""Units between whose groups there are lines, where they are few enough."""
MOST_NAMED = 5
"""Pairs whose names stand in the picture; the table has all."""
FAR = 3.5
"""Modified z-score from which a pair is far from the others (Iglewicz and Hoaglin, 1993)."""
LEAST_FAR = 0.1
"""Part of the median by which it differs at least."""

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
        """Between which places groups meet that are told, if they are not too many to be seen; between cores grey."""
        told = self.clusters.told if self.clusters else {}
        few = [unit for unit in BORDERS if unit in told and len(told[unit]) <= MOST_GROUPS]
        group = {cpu: [_place(told[unit], cpu) for unit in few] for cpu in self.order}
        apart = [
            (i + 0.5, [x != y for x, y in zip(group[a], group[b], strict=True)])
            for i, (a, b) in enumerate(pairwise(self.order))
        ]
        coarse = sum(unit != "core" for unit in few)
        return [(at, "ink" if any(these[:coarse]) else "grey") for at, these in apart if any(these)]

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
    """The pairs of ranks of cells whose groups are pairs, or of hardware threads; `None` for fewer than three pairs."""
    workload = cells.workload
    metric = workload.metric(shown.y)
    every = [one for one in _by_knobs(cells, shown.y) if len(one.values) >= LEAST_PAIRS]
    drawn = [one for one in thin(every, MOST_PANELS) if len(one.order) <= MOST_RANKS]
    if not drawn:
        return None
    who = f"{drawn[0].who}s"
    title = shown.title or f"{metric.name.capitalize()} of {workload.name} by pairs of {who}"
    darker = "greater" if metric.better == "higher" else "smaller"
    marked = (
        f"Pairs are marked that are more than {FAR} robust standard deviations and {LEAST_FAR:.0%} from the median."
        if drawn[0].topology is None
        else "Those that share most lie beside each other, with lines between caches, nodes and packages as the system "
        "tells them."
    )
    return Picture(
        "matrix",
        title,
        f"{workload.summary}. Each square is a pair, the darker the {darker}: the median over launches. {marked}"
        + thinned_text(len(drawn), len(every), "matrices"),
        tuple(_panel(one, metric) for one in drawn),
        ("what", who, metric.name, "against the median", "far" if drawn[0].topology is None else "share"),
        tuple(row for one in every for row in _rows(one, metric)),
        label=f"{title}: {_span(drawn[0], metric)}.",
        facts=tuple(fact for one in drawn for fact in _facts(one, metric)),
        beside=len(drawn) > 1,
        width=564 if len(drawn) == 1 else 780,
    )


def _by_knobs(cells: MeasuredCells, name: str) -> list[_Pairs]:
    """Cells that differ in their groups only are one matrix; a pair that several have is the mean of them."""
    found: dict[tuple[tuple[str, str], ...], dict[_Pair, list[float]]] = {}
    topology: Topology | None = None
    for headline in cells.figures:
        figure = cells.figure(headline, name)
        point = headline.point
        if figure is None or figure.invalid:
            continue
        if by_threads := values_of_pairs(figure):
            topology = cells.ladders.machine.topology
            of_threads = tuple((n, v) for n, v in point.knobs.items() if n not in EFFORT)
            found.setdefault(of_threads, {}).update({pair: [value] for pair, value in by_threads.items()})
            continue
        if not point.groups or any(len(group) != 2 for group in point.groups):
            continue
        launches = [one.by_group for one in figure.counted if len(one.by_group) == len(point.groups)]
        key = tuple((n, v) for n, v in point.knobs.items() if n != "groups" and n not in EFFORT)
        for place, group in enumerate(point.groups):
            if launches:
                value = float(np.median([one[place] for one in launches]))
                found.setdefault(key, {}).setdefault((min(group), max(group)), []).append(value)
    varying = {name for key in found for name, value in key if any((name, value) not in other for other in found)}
    return [
        _Pairs(
            ", ".join(knob_text(name, value) for name, value in key if name in varying),
            {pair: float(np.mean(values)) for pair, values in sorted(pairs.items())},
            topology,
        )
        for key, pairs in found.items()
    ]


def _panel(one: _Pairs, metric: Metric) -> Panel:
    number = len(one.order)
    place = {number: i for i, number in enumerate(one.order)}
    cells = [(a, b, value) for pair, value in one.values.items() for a, b in (pair, pair[::-1])]
    low, high = min(one.values.values()), max(one.values.values())
    shades = [_shade(value, low, high, ratios=one.topology is not None) for _, _, value in cells]
    if metric.better == "lower":
        shades = [1 - shade for shade in shades]
    ends = (-0.5, number - 0.5)
    ticks = even_ticks(number - 1, lambda v: f"{v:g}")
    if one.topology is not None:
        ticks = tuple((float(i), str(cpu)) for i, cpu in enumerate(one.order))
    axis = [Axis(one.who, False, ticks, ends=ends) for _ in range(2)]
    far = one.far
    ends_of = (low, high) if metric.better == "lower" else (high, low)
    dark, pale = (units.si_text(value, metric.unit) for value in ends_of)
    series = [
        ChartSeries(
            f"dark {dark} … pale {pale}", "cells",
            tuple(float(place[a]) for a, _, _ in cells), tuple(float(place[b]) for _, b, _ in cells),
            labels=tuple(f"{one.who}s {a} and {b}: {units.si_text(v, metric.unit)}" for a, b, v in cells),
            shades=tuple(shades), role="series-1", names="legend",
        )
    ]  # fmt: skip
    for border, role in one.borders:
        for x, y in (((border, border), ends), (ends, (border, border))):
            series.append(ChartSeries("", "line", x, y, role=role, names="none"))
    if far:
        series.append(
            ChartSeries(
                "far from the others", "points", tuple(float(a) for a, _ in far), tuple(float(b) for _, b in far),
                labels=tuple(_named(pair) if n < MOST_NAMED else "" for n, pair in enumerate(far)),
                role="ink", marker="diamond", names="points",
            )
        )  # fmt: skip
    return Panel(axis[0], axis[1], tuple(series), title=one.name, height=1.5)


def _rows(one: _Pairs, metric: Metric) -> list[tuple[str, ...]]:
    far, middle = set(one.far), one.middle
    return [
        (
            one.name or metric.name,
            _named(pair),
            units.si_text(value, metric.unit, 4),
            f"×{units.fixed_text(value / middle, 3)}" if middle else "",
            ("far" if pair in far else "") if one.topology is None else _shared(one.clusters, pair),
        )
        for pair, value in one.values.items()
    ]


def _facts(one: _Pairs, metric: Metric) -> list[tuple[str, str]]:
    facts = [(one.name or "all pairs", _span(one, metric))]
    found = one.clusters
    for cut in found.found if found else ():
        told = found.names(cut.groups) if found else ""
        ends = f"{units.si_text(cut.within, metric.unit)} within, {units.si_text(cut.between, metric.unit)} between"
        facts.append((told or "groups that are not told", f"{groups_text(cut.groups)}: {ends}"))
    if found and found.unseen:
        facts.append(("told, but not seen", ", ".join(UNITS[unit] for unit in found.unseen)))
    if one.far:
        more = len(one.far) - MOST_NAMED
        names = "; ".join(
            f"{_named(pair)} {units.si_text(one.values[pair], metric.unit)}" for pair in one.far[:MOST_NAMED]
        )
        facts.append(("far from the others", f"{names}{f' and {more} more' if more > 0 else ''}"))
    return facts


def _span(one: _Pairs, metric: Metric) -> str:
    low, middle, high = (
        units.si_text(v, metric.unit) for v in (min(one.values.values()), one.middle, max(one.values.values()))
    )
    return f"{low} … {high}, median {middle}, {units.counted(len(one.values), 'pair')}"


def _named(pair: _Pair) -> str:
    return f"{pair[0]} and {pair[1]}"


def _shared(found: Clusters | None, pair: _Pair) -> str:
    """The smallest unit that a pair of hardware threads shares, as the system tells it."""
    for unit, groups in found.told.items() if found else ():
        if any(set(pair) <= group for group in groups):
            return UNITS[unit].removesuffix("s")
    return ""


def _place(groups: Partition, cpu: int) -> int:
    return next((i for i, group in enumerate(groups) if cpu in group), -1)


def _shade(value: float, low: float, high: float, ratios: bool) -> float:
    """From 0 for the lowest to 1 for the highest; `ratios`: by these, as between levels of a machine."""
    if high <= low:
        return 0.5
    return float(np.log(value / low) / np.log(high / low)) if ratios and low > 0 else (value - low) / (high - low)
