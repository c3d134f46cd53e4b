"""Bars of a run: a metric by the value of a knob, and the phases of a step side by side."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from octant import units
from octant.analysis.names import knob_of, picture_title, place_text
from octant.analysis.series import STEP
from octant.report import claims
from octant.report.charts.curves.curve import share_text, value_cells, value_columns
from octant.report.charts.curves.figure_curves import other_knobs
from octant.report.charts.picture import MOST_BARS, Axis, ChartSeries, Note, Panel, Picture, thin, thinned_text
from octant.report.charts.ticks import even_ticks, si_ticks

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from octant.analysis.figures import Figure
    from octant.report.charts.curves.figure_curves import MetricOf
    from octant.report.charts.curves.ladders import MeasuredCells
    from octant.report.charts.picture import Role
    from octant.workload import Bars, Stacked

_LABEL = 26  # characters of a line of a bar's label
REST = "rest of the step"
_ROOM = 1.25  # the axis against the longest bar, for the value at its end
_LABELLED = 0.04  # the least share of a step that is written at its part


def bars(cells: MeasuredCells, shown: Bars) -> Picture | None:
    """A bar for each value of the knob; `None` if it has one value only."""
    workload, figures = cells.workload, cells.figures
    metric = workload.metric(shown.y)
    with_knob = [figure for figure in figures if shown.x in figure.knobs]
    found = [one for cell in with_knob for one in [cells.figure(cell, shown.y)] if one and one.value]
    if len({figure.knobs[shown.x] for figure in found}) < 2:
        return None
    kept = thin(found, MOST_BARS)
    labels = bar_labels(kept, shown.x)
    values = [figure.value for figure in kept if figure.value]
    series = ChartSeries(
        metric.name, "across", tuple(value.middle for value in values), tuple(map(float, range(len(values)))),
        tuple(value.low for value in values), tuple(value.high for value in values), tuple(labels),
        role="grey", open=tuple(figure.invalid for figure in kept),
    )  # fmt: skip
    most = max((*series.x, *series.high)) or 1.0  # all may be 0
    return Picture(
        "bars",
        shown.title or picture_title(figures, f"{metric.name} by {shown.x}"),
        f"{workload.summary}. Medians{'; ' + metric.note if metric.note else ''}."
        + " Open bars are not measurable." * any(series.open)
        + claims.caption(values)
        + thinned_text(len(kept), len(found), "bars"),
        (
            Panel(
                Axis(
                    metric.name,
                    False,
                    even_ticks(most, si_ticks(metric.unit)),
                    metric.unit,
                    ends=(0.0, _ROOM * most),
                ),
                places_axis(shown.x, labels),
                (series,),
                notes=tuple(
                    Note(max(value.middle, value.high), float(i), value_cells(figure)[0])
                    for i, (figure, value) in enumerate(zip(kept, values, strict=True))
                ),
            ),
        ),
        (shown.x, *value_columns(metric), "of limit"),
        tuple((label, *value_cells(figure), share_text(figure)) for label, figure in zip(labels, kept, strict=True)),
        width=564,
    )


def stacked(cells: MeasuredCells, shown: Stacked) -> Picture | None:
    """The phases of each cell's step side by side; `None` if no cell has phases."""
    workload, figures = cells.workload, cells.figures
    found = [
        (figure, parts) for figure in figures for parts in [own_times(cells.figure, figure, shown.phases)] if parts
    ]
    if not found:
        return None
    kept = thin(found, MOST_BARS)
    labels = bar_labels([figure for figure, _ in kept], shown.x)
    names = [*dict.fromkeys(name for _, parts in kept for name in parts if name != REST), REST]
    places = tuple(map(float, range(len(kept))))
    totals = [sum(parts.values()) for _, parts in kept]
    series = []
    for name in names:
        times = tuple(parts.get(name, 0.0) for _, parts in kept)
        shares = [time / total if total else 0.0 for time, total in zip(times, totals, strict=True)]
        words = tuple(units.percent_text(share) if share >= _LABELLED else "" for share in shares)
        role: Role = "grey" if name in shown.waiting else "faint" if name == REST else ""
        series.append(ChartSeries(name, "stack", times, places, labels=words, role=role, names="legend"))
    most = max(totals)
    return Picture(
        "phases",
        picture_title(figures, "where the time of a step goes"),
        f"{workload.summary}. Mean time of each phase over steps and ranks, without the phases inside it."
        + " Grey: ranks wait for others." * bool(set(shown.waiting) & set(names))
        + thinned_text(len(kept), len(found), "cells"),
        (
            Panel(
                Axis("time of a step", False, even_ticks(most, si_ticks("s")), "s"),
                places_axis(shown.x, labels),
                tuple(series),
            ),
        ),
        (shown.x or "cell", "phase", "time", "share of the step"),
        tuple(
            (label, name, units.si_text(time, "s", 4), units.percent_text(time / (sum(parts.values()) or 1.0)))
            for label, (_, parts) in zip(labels, kept, strict=True)
            for name, time in parts.items()
        ),
    )


def own_times(metric_of: MetricOf, headline: Figure, phases: Sequence[str] = ()) -> Mapping[str, float]:
    """Seconds per step of each phase without the phases inside it, and of the rest; empty without phases.

    Args:
        phases: names without `phase/`; none: all that were recorded.
    """
    heads = dict.fromkeys(head.name for point in headline.points for head in point.heads)
    names = phases or [name.removeprefix("phase/") for name in heads if name.startswith("phase/")]
    known = {name: _middle(metric_of(headline, f"phase/{name}")) for name in names}
    times = {name: time for name, time in known.items() if time is not None}
    step = _middle(metric_of(headline, STEP))
    if not times or step is None:
        return {}
    inside = {name: _parent(name, times) for name in times}
    own = {
        name: max(0.0, time - sum(times[child] for child, parent in inside.items() if parent == name))
        for name, time in times.items()
    }
    outermost = sum(time for name, time in times.items() if inside[name] is None)
    return {**own, REST: max(0.0, step - outermost)}


def _parent(name: str, known: Mapping[str, float]) -> str | None:
    """The innermost known phase around this one: `solve` of `solve/halo`."""
    while "/" in name:
        name = name.rpartition("/")[0]
        if name in known:
            return name
    return None


def _middle(figure: Figure | None) -> float | None:
    return figure.value.middle if figure and figure.value else None


def bar_labels(figures: Sequence[Figure], knob: str) -> list[str]:
    """What each bar is: the knob's value, or the title, and what else differs among the bars."""
    if not knob:
        return [figure.name for figure in figures]
    places = [place_text(figure) for figure in figures]
    several = len(set(places)) > 1
    others = [name for name in other_knobs(figures, knob) if name != "threads"]  # the place says how many
    return [
        ", ".join([figure.knobs.get(knob, ""), *(knob_of(figure, name) for name in others)])
        + f", {place}" * (several and bool(place))
        for figure, place in zip(figures, places, strict=True)
    ]


def places_axis(title: str, labels: Sequence[str]) -> Axis:
    """The axis along which bars lie one under the other."""
    ticks = tuple((float(place), textwrap.fill(label, _LABEL)) for place, label in enumerate(labels))
    return Axis(title, False, ticks, down=True)
