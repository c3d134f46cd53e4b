"""Curves of a run: a metric against a knob or another metric, with its limits, the caches and a fitted model."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from octant import units
from octant.analysis import loggp
from octant.ask import EFFORT
from octant.report import claims
from octant.report.charts.picture import (
    MOST_LINES,
    MOST_POINTS,
    Axis,
    Mark,
    Panel,
    Picture,
    Series,
    thin,
    thinned_text,
)
from octant.report.charts.ticks import WIDE, ZERO_BYTES, decades, even_ticks, places, si_ticks, size_ticks

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from octant.analysis.figures import Figure
    from octant.analysis.summary import Summary
    from octant.metric import Metric
    from octant.workload import Curve, Workload

LAST_LEVEL = "last-level cache"
"""The subject of a disagreement about its size."""
LEAST_POINTS = 3
"""Fewer points are no curve."""
_WORDS = 8  # values without a place on the axis that a caption names


@dataclass(frozen=True)
class _Line:
    """A curve and the figures that its points came from."""

    series: Series
    figures: tuple[Figure, ...]

    @property
    def limits(self) -> tuple[tuple[float, float], ...]:
        """Places and limits of the points that have one."""
        pairs = zip(self.series.x, (figure.at_limit for figure in self.figures), strict=True)
        return tuple((x, limit) for x, limit in pairs if limit)


@dataclass(frozen=True)
class _X:
    """What lies along the curve: a knob of sizes, a knob of numbers, or a metric."""

    name: str  # of the knob or metric
    title: str
    metric: Metric | None
    sized: bool

    def place(self, knobs: Mapping[str, str]) -> float | None:
        """Where the knob's value stands; `None` for a word."""
        text = knobs.get(self.name, "")
        try:
            value = float(units.parse_bytes(text)) if self.sized else float(text)
        except ValueError:
            return None
        return ZERO_BYTES if value == 0 and self.sized else value

    def text(self, x: float) -> str:
        """The place as it stands in the table."""
        if self.metric:
            return units.si_text(x, self.metric.unit, 4)
        return "0 B" if x == ZERO_BYTES and self.sized else units.bytes_text(x) if self.sized else f"{x:g}"

    def axis(self, xs: Sequence[float]) -> Axis:
        """The axis with its ticks; `xs` ascend."""
        if self.sized:
            return Axis(self.title, True, size_ticks(xs), "B")
        if self.metric:
            return value_axis(self.title, xs, self.metric.unit)
        if xs[0] > 0:
            return Axis(self.title, True, places(xs))
        return Axis(self.title, False, even_ticks(xs[-1], lambda v: f"{v:g}"))


def curve(summary: Summary, workload: Workload, figures: Sequence[Figure], shown: Curve) -> Picture | None:
    """A metric along x; `None` if fewer than three points lie on each line."""
    metric, x = workload.metric(shown.y), _x(workload, figures, shown)
    every = _lines(summary, x, figures, shown)
    if not every:
        return None
    swept = [_thin(line) for line in thin(every, MOST_LINES)]
    lines, limits = [line.series for line in swept], _limits(swept)
    xs = sorted({at for line in lines for at in line.x})
    marks = _cache_marks(summary, xs[0], xs[-1]) if shown.marks == "caches" else ()
    fitted, fit_text = _fit(swept[0]) if shown.fit == "loggp" else ([], "")
    ys = [y for line in (*lines, *limits) for y in (*line.low, *line.high, *line.y)]
    most = max(len(line.figures) for line in every)
    return Picture(
        "curve",
        f"{workload.name}: {metric.name} against {x.title}",
        f"{workload.summary}. Medians{'; ' + metric.note if metric.note else ''}."
        + claims.caption(figure.value for line in swept for figure in line.figures)
        + _marks_text(marks)
        + fit_text
        + _words_text(x, figures)
        + thinned_text(len(swept), len(every), "lines")
        + thinned_text(min(most, MOST_POINTS), most, "points of the longest line"),
        (Panel(x.axis(xs), value_axis(metric.name, ys, metric.unit, log=True), (*lines, *limits, *fitted), marks),),
        ("curve", x.title, *value_columns(metric), "of limit", "what the limit is"),
        tuple(cells for line in swept for cells in _table_rows(line, x)),
    )


def value_axis(title: str, values: Iterable[float], unit: str, log: bool = False) -> Axis:
    """An axis of rates or times: logarithmic if asked, or where values are far apart, as long as all are positive."""
    known = list(values)
    least, most = min(known), max(known)
    if least > 0 and (log or most / least > WIDE):
        return Axis(title, True, decades(least, most, si_ticks(unit)), unit)
    return Axis(title, False, even_ticks(most, si_ticks(unit)), unit)


def other_knobs(figures: Sequence[Figure], but: str) -> list[str]:
    """Names of the knobs that differ among the figures, without `but` and without effort."""
    names = dict.fromkeys(name for figure in figures for name in figure.knobs)
    return [
        name
        for name in names
        if name != but and name not in EFFORT and len({figure.knobs.get(name) for figure in figures}) > 1
    ]


def is_sized(knob: str, values: Iterable[str]) -> bool:
    """Whether a knob's values are sizes: the knob is `bytes`, or a value has a unit of bytes."""
    return knob == "bytes" or any(value.endswith("B") and value[:1].isdigit() for value in values)


def _x(workload: Workload, figures: Sequence[Figure], shown: Curve) -> _X:
    metric = next((metric for metric in workload.metrics if metric.name == shown.x), None)
    sized = metric is None and is_sized(shown.x, (figure.knobs.get(shown.x, "") for figure in figures))
    return _X(shown.x, shown.along or shown.x, metric, sized)


def _lines(summary: Summary, x: _X, figures: Sequence[Figure], shown: Curve) -> list[_Line]:
    groups: dict[tuple[object, ...], list[tuple[float, Figure]]] = {}
    for headline in sorted(figures, key=lambda figure: not figure.show.table):
        figure, across = summary.figure(headline, shown.y), None
        if x.metric:
            other = summary.figure(headline, x.name)
            across = other.value.middle if other and other.value else None
        elif figure:
            across = x.place(figure.knobs)
        if figure is not None and figure.value is not None and across is not None and math.isfinite(across):
            groups.setdefault(_line_key(x, figure, shown), []).append((across, figure))
    if not x.metric:  # at the same place the point of a sweep wins, which comes last
        groups = {key: sorted(dict(mine).items(), key=lambda one: one[0]) for key, mine in groups.items()}
    found = [mine for mine in groups.values() if len(mine) >= LEAST_POINTS]
    differing = other_knobs([mine[0][1] for mine in found], x.name)
    names = [_line_name([figure for _, figure in mine]) for mine in found]
    return [
        _line(name if names.count(name) == 1 else _distinct_name(name, mine[0][1], differing), mine)
        for name, mine in zip(names, found, strict=True)
    ]


def _line_key(x: _X, figure: Figure, shown: Curve) -> tuple[object, ...]:
    if shown.each:
        apart: tuple[object, ...] = tuple(figure.knobs.get(name) for name in shown.each)
    elif x.metric:
        apart = (figure.label,)
    else:
        knobs = figure.knobs.items()
        apart = tuple(sorted((k, v) for k, v in knobs if k not in EFFORT and k != x.name))
    return figure.mode, figure.point.ranks, apart


def _line_name(figures: Sequence[Figure]) -> str:
    names = [figure.label if figure.mode in figure.label else f"{figure.label} ({figure.mode})" for figure in figures]
    return max(names, key=names.count)


def _distinct_name(name: str, figure: Figure, knobs: Sequence[str]) -> str:
    words = ", ".join(f"{knob} {figure.knobs[knob]}" for knob in knobs if knob in figure.knobs)
    return f"{name}: {words}" if words else name


def _line(name: str, mine: Sequence[tuple[float, Figure]]) -> _Line:
    values = [figure.value for _, figure in mine if figure.value is not None]
    middle, low, high = (tuple(getattr(value, part) for value in values) for part in ("middle", "low", "high"))
    series = Series(name, "curve", tuple(x for x, _ in mine), middle, low, high)
    return _Line(series, tuple(figure for _, figure in mine))


def _thin(line: _Line) -> _Line:
    return _line(line.series.name, thin(list(zip(line.series.x, line.figures, strict=True)), MOST_POINTS))


def _limits(swept: Sequence[_Line]) -> list[Series]:
    """What the hardware could give, drawn where at least two points of a line have a limit; equal ones once."""
    known: dict[tuple[tuple[float, float], ...], str] = {}
    for line in swept:
        if len(line.limits) > 1:
            known.setdefault(line.limits, line.series.name)
    return [
        Series(
            "limit" if len(known) == 1 else f"limit of {name}", "line", tuple(x for x, _ in at), tuple(y for _, y in at)
        )
        for at, name in known.items()
    ]


def _table_rows(line: _Line, x: _X) -> Iterable[tuple[str, ...]]:
    for at, figure in zip(line.series.x, line.figures, strict=True):
        yield line.series.name, x.text(at), *value_cells(figure), share_text(figure), _source(figure)


def value_columns(metric: Metric) -> tuple[str, str, str]:
    """The titles of `value_cells`."""
    return metric.name, "low … high", "which is"


def value_cells(figure: Figure) -> tuple[str, str, str]:
    """The value with its unit, its ends, and what they are."""
    texts = claims.value_texts(figure.value, figure.metric.unit)
    return f"{texts.number} {texts.unit}".strip(), texts.ends, texts.claim


def share_text(figure: Figure) -> str:
    """The share of the limit; `limit` for a figure that is one; empty where there is none."""
    if figure.is_limit:
        return "limit"
    return "" if figure.of_limit is None else units.percent_text(figure.of_limit)


def _source(figure: Figure) -> str:
    limit = figure.at_limit
    return f"{units.si_text(limit, figure.metric.unit, 4)}: {figure.limit.source}" if limit and figure.limit else ""


def _words_text(x: _X, figures: Sequence[Figure]) -> str:
    """Points whose value of the knob is a word, such as `scalar`: they have no place, but are not kept back."""
    if x.metric:
        return ""
    words = [
        f"{x.name} {figure.knobs[x.name]}: {units.si_text(figure.value.middle, figure.metric.unit, 4)}"
        for figure in figures
        if not figure.show.table and figure.value and x.name in figure.knobs and x.place(figure.knobs) is None
    ]
    more = f" and {len(words) - _WORDS} more" if len(words) > _WORDS else ""
    return f" Without a place on the axis: {'; '.join(words[:_WORDS])}{more}." if words else ""


def _cache_marks(summary: Summary, least: float, most: float) -> tuple[Mark, ...]:
    machine = summary.run.machine
    sizes = [(level, machine.cache_bytes(level)) for level in range(1, 5)]
    doubt = {entry.subject for entry in machine.disagreements}
    last = max((level for level, size in sizes if size), default=0)
    return tuple(
        Mark(float(size), f"L{level} {units.bytes_text(size)}{', disputed' * (level == last and LAST_LEVEL in doubt)}")
        for level, size in sizes
        if size and least <= size <= most
    )


def _marks_text(marks: Sequence[Mark]) -> str:
    text = " The vertical lines are the sizes of the caches of one core." if marks else ""
    if any("disputed" in mark.label for mark in marks):
        text += " Disputed: sources disagree about that size; see what they say below the figures."
    return text


def _fit(line: _Line) -> tuple[list[Series], str]:
    """The LogGP curve of a line over sizes, and what the caption says of it; no curve where it is far off a point."""
    xs, ys = line.series.x, line.series.y
    try:
        fit = loggp.fit(
            [(0 if x == ZERO_BYTES else round(x), y) for x, y in zip(xs, ys, strict=True)],
            noise=max(loggp.LEAST_NOISE, _spread(line.figures)),
        )
    except ValueError:  # too few lengths
        return [], ""
    if not fit.is_trusted:
        worst, most = units.percent_text(fit.worst), units.percent_text(loggp.TRUSTED)
        return [], f" No LogGP fit is drawn: the best is {worst} off “{line.series.name}” at worst, over {most}."
    drawn = fit.line(0.0 if x < 1 else float(x) for x in np.geomspace(xs[0], xs[-1], 200))
    fitted = Series("LogGP fit", "line", tuple(x or ZERO_BYTES for x, _ in drawn), tuple(y for _, y in drawn))
    return [fitted], f" Fitted to “{line.series.name}”: {fit}"


def _spread(figures: Sequence[Figure]) -> float:
    """By how much launches of a point differ typically (relative standard deviation); 0 without repeats."""
    repeated = [[launch.value.middle for launch in figure.launches] for figure in figures if len(figure.launches) > 1]
    return float(np.median([np.std(np.log(values), ddof=1) for values in repeated])) if repeated else 0.0
