"""Bars of a run: a metric by the value of a knob, phases of a step, the cost of choices, and CPU time of ranks."""

import math
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from octant import units
from octant.analysis.choices import RankedFigures, choices
from octant.analysis.figures import Figure
from octant.analysis.names import knob_of, knob_text, picture_title, short_name
from octant.analysis.program import SYSTEM, USER, values_of_ranks
from octant.analysis.series import STEP
from octant.report import claims
from octant.report.charts.curves import figure_curves as curves
from octant.report.charts.curves.curve import share_text, value_cells, value_columns
from octant.report.charts.curves.figure_curves import MeasuredCells, MetricOf
from octant.report.charts.picture import MAX_BARS, Axis, ChartSeries, Mark, Note, Panel, Picture, Role, thin
from octant.report.charts.texts import thinned_text
from octant.report.charts.ticks import decades, even_ticks, si_ticks
from octant.stats import Estimate, Interval
from octant.workload import Bars, Choice, Histogram, RankBars, Stacked

_LABEL = 26  # characters of a line of a bar's label
REST = "rest of the step"
_ROOM, _WIDE_ROOM = 1.25, 1.9  # the axis against the longest bar, for a value or for words at its end
_LABELLED = 0.04  # the least share of a step that is written at its part
LEVELS = (0.5, 0.9, 0.99, 0.999)
LEAST_BEYOND = 5  # samples beyond a quantile that are required to state it
_BINS = 60
_LEAST_FACTOR = 1.025  # between the edges of a bin: several bins of a sketch, whose own edges are then not visible
_Times: TypeAlias = tuple[NDArray[np.float64], NDArray[np.int64]]
"""Times of one step or chunk in s, ascending, and the number of samples of each."""


def bars(cells: MeasuredCells, shown: Bars) -> Picture | None:
    """Draw a bar per value of the knob; return `None` if it has only one value."""
    workload, figures = cells.workload, cells.figures
    metric = workload.metric(shown.y)
    with_knob = [figure for figure in figures if shown.x in figure.knobs]
    every = [one for cell in with_knob for one in [cells.figure(cell, shown.y)] if one and one.value]
    if len({figure.knobs[shown.x] for figure in every}) < 2:
        return None
    kept = thin(every, MAX_BARS)
    labels, values = bar_labels(kept, shown.x), [figure.value for figure in kept if figure.value]
    is_open = tuple(figure.invalid for figure in kept)
    most = max(end for value in values for end in (value.middle, value.high)) or 1.0  # all may be 0
    axis = Axis(metric.name, False, even_ticks(most, si_ticks(metric.unit)), metric.unit, ends=(0.0, _ROOM * most))
    return Picture(
        "bars", shown.title or picture_title(figures, f"{metric.name} by {shown.x}"),
        f"{workload.summary}. Medians{'; ' + metric.note if metric.note else ''}."
        + " Open bars are not measurable." * any(is_open)
        + claims.caption(values)
        + thinned_text(len(kept), len(every), "bars"),
        (_lying_bars(axis, shown.x, labels, values, [value_cells(figure)[0] for figure in kept], is_open),),
        (shown.x, *value_columns(metric), "of limit"),
        tuple((label, *value_cells(figure), share_text(figure)) for label, figure in zip(labels, kept, strict=True)),
        width=564,
    )  # fmt: skip


def _lying_bars(
    axis: Axis, title: str, labels: Sequence[str], values: Sequence[Estimate | Interval], texts: Sequence[str],
    is_open: tuple[bool, ...] = (),
) -> Panel:  # fmt: skip
    """Return a panel of bars with intervals, and a text at the end of each."""
    middle, low, high = zip(*((value.middle, value.low, value.high) for value in values), strict=True)
    at = tuple(map(float, range(len(values))))
    series = ChartSeries(axis.title, "across", middle, at, low, high, tuple(labels), role="grey", open=is_open)
    notes = tuple(Note(max(x, end), y, text) for x, end, y, text in zip(middle, high, at, texts, strict=True))
    return Panel(axis, places_axis(title, labels), (series,), notes=notes)


def stacked(cells: MeasuredCells, shown: Stacked) -> Picture | None:
    """Draw the phases of each cell's step next to each other; return `None` if no cell has phases."""
    workload, figures = cells.workload, cells.figures
    every = [(figure, parts) for figure in figures if (parts := own_times(cells.figure, figure, shown.phases))]
    if not every:
        return None
    kept = thin(every, MAX_BARS)
    labels = bar_labels([figure for figure, _ in kept], shown.x)
    names = [*dict.fromkeys(name for _, parts in kept for name in parts if name != REST), REST]
    totals = [sum(parts.values()) for _, parts in kept]
    series, rows = [], []
    for name in names:
        times = tuple(parts.get(name, 0.0) for _, parts in kept)
        shares = [time / total if total else 0.0 for time, total in zip(times, totals, strict=True)]
        words = tuple(units.percent_text(share) if share >= _LABELLED else "" for share in shares)
        role: Role = "grey" if name in shown.waiting else "faint" if name == REST else ""
        at = tuple(map(float, range(len(kept))))
        series.append(ChartSeries(name, "stack", times, at, labels=words, role=role, names="legend"))
    for label, (_, parts), total in zip(labels, kept, totals, strict=True):
        for name, time in parts.items():
            rows.append((label, name, units.si_text(time, "s", 4), units.percent_text(time / (total or 1.0))))
    axis = Axis("time of a step", False, even_ticks(max(totals), si_ticks("s")), "s")
    return Picture(
        "phases", picture_title(figures, "where the time of a step goes"),
        f"{workload.summary}. Mean time of each phase over steps and ranks, without the phases inside it."
        + " Grey: ranks wait for others." * bool(set(shown.waiting) & set(names))
        + thinned_text(len(kept), len(every), "configurations"),
        (Panel(axis, places_axis(shown.x, labels), tuple(series)),),
        (shown.x or "configuration", "phase", "time", "share of the step"), tuple(rows),
    )  # fmt: skip


def own_times(metric_of: MetricOf, headline: Figure, phases: Sequence[str] = ()) -> Mapping[str, float]:
    """Return the seconds per step of each phase without the phases inside it, and of the rest; empty without phases.

    Args:
        phases: names without `phase/`; none: all that were recorded.
    """
    heads = dict.fromkeys(head.name for point in headline.points for head in point.heads)
    names = phases or [name.removeprefix("phase/") for name in heads if name.startswith("phase/")]
    known = {name: metric_of(headline, f"phase/{name}") for name in names}
    times = {name: one.value.middle for name, one in known.items() if one and one.value}
    step = metric_of(headline, STEP)
    if not times or step is None or step.value is None:
        return {}
    parents = {name: _parent(name, times) for name in times}
    children = {name: sum(times[child] for child, parent in parents.items() if parent == name) for name in times}
    outermost = sum(time for name, time in times.items() if parents[name] is None)
    own = {name: max(0.0, time - children[name]) for name, time in times.items()}
    return {**own, REST: max(0.0, step.value.middle - outermost)}


def _parent(name: str, known: Mapping[str, float]) -> str | None:
    """Return the innermost known phase around this one: `solve` of `solve/halo`."""
    while "/" in name:
        name = name.rpartition("/")[0]
        if name in known:
            return name
    return None


def choice(cells: MeasuredCells, shown: Choice) -> Picture | None:
    """Draw how many times as good the best value of a knob is as the worst, for each combination of the others."""
    every = choices(cells.figures, shown.x)
    if not every:
        return None
    kept = thin(every, MAX_BARS)
    costs = [one.cost for one in kept]
    most = max(end for cost in costs for end in (cost.middle, cost.high))
    axis = Axis("worst over best", False, even_ticks(most, lambda v: f"×{v:g}"), "1", ends=(0.0, _WIDE_ROOM * most))
    rows = tuple((case or "all", *texts) for case, *texts in map(_choice_cells, kept))
    return Picture(
        "choice", picture_title([one.best for one in kept], f"best {shown.x}, and what the worst costs"),
        f"{cells.workload.summary}. How many times as good the best {shown.x} is as the worst, in launches that have "
        "both. Both are selected by their medians, so noise alone raises the ratio above 1."
        + thinned_text(len(kept), len(every), "bars"),
        (_lying_bars(axis, "", [label for label, *_ in rows], costs, [f"{best} best" for _, best, *_ in rows]),),
        ("case", f"best {shown.x}", "value", "as good", "worst", "value", "best over worst"), rows,
    )  # fmt: skip


def choice_texts(figures: Iterable[Figure], knob: str) -> list[str]:
    """Return a line per case: `8 B, single: isend-mprobe best (712 ns); as good: sendrecv; worst ordered, ×2.6`."""
    texts = []
    for case, best, value, also, worst, of_worst, cost in map(_choice_cells, choices(figures, knob)):
        first = f"{f'{case}: ' if case else ''}{best} best ({value})"
        texts.append("; ".join([first, *[f"as good: {also}"] * bool(also), f"worst {worst} ({of_worst}), {cost}"]))
    return texts


def _choice_cells(one: RankedFigures) -> tuple[str, ...]:
    """Return the other knobs, the best and its value, those as good, the worst and its value, and their ratio."""
    low, middle, high = (f"{end:.3g}" for end in (one.cost.low, one.cost.middle, one.cost.high))
    best, worst = (
        (figure.knobs[one.knob], units.si_text(figure.value.middle, figure.metric.unit) if figure.value else "")
        for figure in (one.best, one.worst)
    )
    also = ", ".join(figure.knobs[one.knob] for figure in one.equivalents)
    case = ", ".join(knob_text(name, value) for name, value in one.others.items())
    return case, *best, also, *worst, f"×{middle}" + f" [{low}, {high}]" * (low != high)


def rank_bars(cells: MeasuredCells, shown: RankBars) -> Picture | None:
    """Draw user and system time of each rank of the cell with most ranks, medians over its launches.

    `None` if no cell has CPU times of several ranks.

    Raises:
        RecordError: the samples of a point can no longer be read.
    """
    counted = [figure for figure in cells.figures if figure.counted]
    figure = max(counted, key=lambda one: one.point.ranks or 0, default=None)
    if figure is None:
        return None
    times = {name: _rank_medians(figure, f"reading/{name}") for name in (USER, SYSTEM)}
    ranks = sorted(times[USER].keys() & times[SYSTEM].keys())
    if len(ranks) < 2:
        return None
    kept = thin(ranks, MAX_BARS)
    places = tuple(map(float, range(len(kept))))
    series = tuple(
        ChartSeries(name, "stack", tuple(mine[rank] for rank in kept), places, role=role, names="legend")
        for (name, mine), role in zip(times.items(), curves.ROLES, strict=False)
    )
    sums = {rank: times[USER][rank] + times[SYSTEM][rank] for rank in ranks}
    busiest, least = max(ranks, key=sums.__getitem__), min(ranks, key=sums.__getitem__)
    axis = Axis("CPU time", False, even_ticks(sums[busiest] or 1.0, si_ticks("s")), "s")
    return Picture(
        "ranks", shown.title,
        f"CPU time of each rank of {short_name(figure)} with its descendants. Medians over launches."
        + thinned_text(len(kept), len(ranks), "bars"),
        (Panel(axis, places_axis("rank", [str(rank) for rank in kept]), series),), ("rank", USER, SYSTEM),
        tuple((str(rank), *(units.si_text(mine[rank], "s", 4) for mine in times.values())) for rank in kept),
        label=f"CPU time by rank: most on rank {busiest} with {units.si_text(sums[busiest], 's')}, "
        f"least on rank {least} with {units.si_text(sums[least], 's')}.",
    )  # fmt: skip


def _rank_medians(figure: Figure, series: str) -> Mapping[int, float]:
    values: dict[int, list[float]] = {}
    for launch in figure.counted:
        for rank, value in values_of_ranks(launch.point.read(), series).items():
            values.setdefault(rank, []).append(value)
    return {rank: float(np.median(of)) for rank, of in values.items()}


def bar_labels(figures: Sequence[Figure], knob: str) -> list[str]:
    """Return the label of each bar: the knob's value, or the title, and what else differs among the bars."""
    if not knob:
        return [figure.name for figure in figures]
    others = [name for name in curves.other_knobs(figures, knob) if name != "threads"]  # the place has their number
    return curves.with_places(
        figures, [[one.knobs.get(knob, ""), *(knob_of(one, name) for name in others)] for one in figures]
    )


def places_axis(title: str, labels: Sequence[str]) -> Axis:
    """Return the axis along which bars are, one below the other."""
    ticks = tuple((float(place), textwrap.fill(label, _LABEL)) for place, label in enumerate(labels))
    return Axis(title, False, ticks, down=True)


def histogram(cells: MeasuredCells, shown: Histogram) -> Picture | None:
    """Draw the times of the figures of the table; return `None` without samples."""
    workload, figures = cells.workload, cells.figures
    every = [one for one in figures if one.show.table and one.value and one.launches[0].times.count]
    kept = thin(every, curves.MAX_LINES)
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
