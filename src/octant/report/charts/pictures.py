"""The curves of a report as data: what is drawn, what stands in the table beside it, and what the caption says."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from octant import units
from octant.analysis import loggp
from octant.analysis.summary import EFFORT, Row, Summary

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from octant.workload import Metric, Workload

ZERO_BYTES = 0.5
"""Where a message of no bytes stands on an axis of powers of two."""
LAST_LEVEL = "last-level cache"
"""The subject of a disagreement about its size."""


@dataclass(frozen=True)
class Series:
    """Points in base units; `low` and `high` are ends of 95 % intervals, or empty."""

    name: str
    kind: Literal[
        "curve", "points", "line", "bars", "across"
    ]  # across: bars that lie, as long as `x`, at the places `y`
    x: tuple[float, ...]
    y: tuple[float, ...]
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()
    labels: tuple[str, ...] = ()  # what each point is, where x does not say it


@dataclass(frozen=True)
class Mark:
    """A labelled line across the picture at one x."""

    at: float
    label: str


@dataclass(frozen=True)
class Axis:
    """One axis, with the ticks that people read."""

    title: str
    log: bool
    ticks: tuple[tuple[float, str], ...]
    unit: str = ""
    down: bool = False  # the least at the top: places of bars, one under the other


@dataclass(frozen=True)
class Picture:
    """A picture with its text alternative: `header` and `rows` say the same as the curves."""

    id: str
    title: str
    caption: str
    x: Axis
    y: Axis
    series: tuple[Series, ...]
    marks: tuple[Mark, ...]
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def pictures(summary: Summary) -> list[Picture]:
    """All pictures for which the run has the points."""
    found = [roofline(summary)]
    for workload, rows in summary.by_workload():
        found.append(curves(summary, workload, rows))
        if workload.name == "node/noise":
            found.append(histogram(rows))
    return [picture for picture in found if picture is not None]


def roofline(summary: Summary) -> Picture | None:
    """Measured kernels under the measured roofs (Williams, Waterman and Patterson 2009); `None` without both roofs."""
    ceilings = summary.ceilings
    threads = sorted(set(ceilings.flops_per_s) & set(ceilings.memory_bytes_per_s))
    points = [(row, dot) for row in summary.rows if row.table for dot in [_dot(row)] if dot is not None]
    if not threads or not points:
        return None
    xs = [x for _, (x, _) in points]
    left, right = min([*xs, 0.05]) / 1.5, max([*xs, 10.0]) * 1.5
    roofs = []
    for count in (threads[0], threads[-1])[: 1 + (len(threads) > 1)]:
        peak, memory = ceilings.flops_per_s[count], ceilings.memory_bytes_per_s[count]
        ridge = min(max(peak / memory, left), right)
        x = (left, ridge, right)
        name = f"roof, {_plural(count, 'thread')}"
        roofs.append(Series(name, "line", x, tuple(min(peak, memory * v) for v in x)))
    groups: dict[str, list[tuple[Row, tuple[float, float]]]] = {}
    for row, dot in sorted(points, key=lambda point: (point[0].workload.order, _threads(point[0]))):
        groups.setdefault(f"{row.workload.name}, {_plural(_threads(row), 'thread')}", []).append((row, dot))
    dots = [
        Series(name, "points", tuple(x for _, (x, _) in mine), tuple(y for _, (_, y) in mine), labels=_names(mine))
        for name, mine in groups.items()
    ]
    every = [y for series in (*roofs, *dots) for y in series.y]
    table = tuple((row.title, row.mode, f"{x:.3g}", units.si_text(y, "flop/s")) for row, (x, y) in points)
    return Picture(
        "roofline",
        "Roofline",
        "Each point is a kernel: how much it computes a byte of memory traffic (write-allocates counted), and how "
        "fast. The lines are roofs that this run measured itself: memory traffic on the left, arithmetic in double "
        "precision on the right, which single precision may exceed twofold.",
        Axis("flop a byte", True, decades(left, right, lambda v: f"{v:g}")),
        Axis("rate", True, decades(min(every), max(every), si_ticks("flop/s")), "flop/s"),
        (*roofs, *dots),
        (),
        ("figure", "mode", "flop a byte", "rate"),
        table,
    )


def _names(points: Iterable[tuple[Row, object]]) -> tuple[str, ...]:
    return tuple(row.name for row, _ in points)


def _threads(row: Row) -> int:
    return row.points[0].ranks * row.points[0].threads


def _plural(count: int, what: str) -> str:
    return f"{count} {what}{'s'[: count > 1]}"


def _dot(row: Row) -> tuple[float, float] | None:
    work, steps_per_s = row.points[0].work, row.steps_per_s
    traffic = work.bytes_read + work.bytes_written + work.bytes_allocated
    if not work.flops or not traffic or steps_per_s is None:
        return None
    return work.flops / traffic, work.flops * steps_per_s


def curves(summary: Summary, workload: Workload, rows: Sequence[Row]) -> Picture | None:
    """The headline figure of a workload along its axis; `None` if no launch swept it."""
    swept = _lines(workload, rows)
    if not swept:
        return None
    metric = workload.metrics[0]
    lines = [line.series for line in swept]
    messages = any(row.points[0].work.messages for row in rows)
    xs = sorted({x for line in lines for x in line.x})
    limits = _limits(swept)
    ys = [y for line in (*lines, *limits) for y in (*line.low, *line.high, *line.y)]
    sized = workload.axis == "bytes"
    along = "message size" if messages else "footprint" if sized else workload.axis
    marks = () if messages or not sized else _cache_marks(summary, xs[0], xs[-1])
    fitted, told = _fit(lines) if messages and metric.kind == "time" else ([], "")
    caption = f"{workload.summary}. Medians with their 95 % intervals{'; ' + metric.note if metric.note else ''}."
    if marks:
        caption += " The vertical lines are the sizes of the caches of one core."
    if any("disputed" in mark.label for mark in marks):
        caption += " Disputed: sources disagree about that size; see what they say below the figures."
    return Picture(
        workload.name.replace("/", "-"),
        f"{workload.name}: {metric.name} against {along}",
        caption + told + _nowhere(workload, rows),
        Axis(along, True, size_ticks(xs) if sized else places(xs)),
        Axis(metric.name, True, decades(min(ys), max(ys), si_ticks(metric.unit)), metric.unit),
        (*lines, *limits, *fitted),
        marks,
        ("curve", workload.axis, metric.name, "95 % interval", "of limit", "what the limit is"),
        tuple(cells for line in swept for cells in _curve_cells(line, metric, sized)),
    )


def _limits(swept: Sequence[_Line]) -> list[Series]:
    """What the hardware could give, drawn where at least two points of a curve have a limit; equal ones once."""
    known: dict[tuple[tuple[float, float], ...], str] = {}
    for line in swept:
        if len(line.limits) > 1:
            known.setdefault(tuple(line.limits), line.series.name)
    return [
        Series(
            "limit" if len(known) == 1 else f"limit of {name}", "line", tuple(x for x, _ in at), tuple(y for _, y in at)
        )
        for at, name in known.items()
    ]


def _curve_cells(line: _Line, metric: Metric, sized: bool) -> Iterable[tuple[str, ...]]:
    one = line.series
    for x, y, low, high, row in zip(one.x, one.y, one.low, one.high, line.rows, strict=True):
        place = "0 B" if x == ZERO_BYTES else units.bytes_text(x) if sized else f"{x:g}"
        share = "" if row.of_limit is None else units.percent_text(row.of_limit)
        source = f"{units.si_text(row.limit.value, metric.unit, 4)}: {row.limit.source}" if row.limit else ""
        yield one.name, place, units.si_text(y, metric.unit, 4), _range(low, high, metric.unit), share, source


def _nowhere(workload: Workload, rows: Sequence[Row]) -> str:
    """Points whose value of the axis is a word, such as `scalar`: they have no place, but are not kept back."""
    words = [
        f"{workload.axis} {row.knobs[workload.axis]}: {units.si_text(row.value.middle, row.metric.unit, 4)}"
        for row in rows
        if not row.table and row.value and workload.axis in row.knobs and _place(workload.axis, row.knobs) is None
    ]
    return f" Without a place on the axis: {'; '.join(words)}." if words else ""


@dataclass(frozen=True)
class _Line:
    """A curve and the rows that its points came from."""

    series: Series
    rows: tuple[Row, ...]

    @property
    def limits(self) -> list[tuple[float, float]]:
        """Places and limits of the points that have one."""
        return [(x, row.limit.value) for x, row in zip(self.series.x, self.rows, strict=True) if row.limit]


def _lines(workload: Workload, rows: Sequence[Row]) -> list[_Line]:
    groups: dict[tuple[str, int, tuple[tuple[str, str], ...]], dict[float, Row]] = {}
    for row in sorted(rows, key=lambda row: not row.table):  # at the same place the curve's own point wins
        place = _place(workload.axis, row.knobs)
        if place is not None and row.value is not None:
            knobs = tuple(sorted((k, v) for k, v in row.knobs.items() if k not in EFFORT and k != workload.axis))
            groups.setdefault((row.mode, row.points[0].ranks, knobs), {})[place] = row
    found: list[_Line] = []
    swept = [(knobs, at) for (_, _, knobs), at in groups.items() if len(at) >= 3]
    alike = set.intersection(*(set(knobs) for knobs, _ in swept)) if swept else set()
    names = [_line_name(list(at.values())) for _, at in swept]
    for name, (knobs, at) in zip(names, swept, strict=True):
        xs = sorted(at)
        values = [value for x in xs for value in [at[x].value] if value is not None]
        middle, low, high = (tuple(getattr(v, part) for v in values) for part in ("middle", "low", "high"))
        told = ", ".join(f"{knob} {value}" for knob, value in knobs if (knob, value) not in alike)
        whole = f"{name}: {told}" if told and names.count(name) > 1 else name
        found.append(_Line(Series(whole, "curve", tuple(xs), middle, low, high), tuple(at[x] for x in xs)))
    return found


def _line_name(rows: Sequence[Row]) -> str:
    names = [row.label if row.mode in row.label else f"{row.label} ({row.mode})" for row in rows]
    return max(names, key=names.count)


def _place(axis: str, knobs: Mapping[str, str]) -> float | None:
    text = knobs.get(axis, "")
    try:
        value = float(units.parse_bytes(text)) if axis == "bytes" else float(text)
    except ValueError:
        return None
    return ZERO_BYTES if value == 0 and axis == "bytes" else value if value > 0 else None


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


def _fit(lines: Sequence[Series]) -> tuple[list[Series], str]:
    """The LogGP curve of the first line, and what the caption says of it."""
    line = lines[0]
    try:
        fit = loggp.fit([(0 if x == ZERO_BYTES else round(x), y) for x, y in zip(line.x, line.y, strict=True)])
    except ValueError:  # too few lengths
        return [], ""
    xs = [float(x) for x in np.geomspace(line.x[0], line.x[-1], 200)]
    caption = f" Fitted to “{line.name}”: {fit}"
    return [Series("LogGP fit", "line", tuple(xs), tuple(fit.seconds(x if x >= 1 else 0.0) for x in xs))], caption


def histogram(rows: Sequence[Row]) -> Picture | None:
    """How much longer than the fastest each sample took; `None` without samples."""
    series, table, marks, edges = [], [], [], np.logspace(-5, 4, 55)
    for row in [row for row in rows if row.table and row.figures]:
        taken = np.concatenate([np.asarray(lane.duration_ns, dtype=float) for p in row.points for lane in p.lanes])
        extra = taken / taken.min() - 1
        counts, _ = np.histogram(np.clip(extra, edges[0], edges[-1]), edges)
        used = np.arange(np.flatnonzero(counts)[0], np.flatnonzero(counts)[-1] + 1)
        middles = np.sqrt(edges[:-1] * edges[1:])
        series.append(Series(row.name, "bars", tuple(map(float, middles[used])), tuple(map(float, counts[used]))))
        levels = (0.5, 0.9, 0.99, 0.999)
        ranks = [level for level in levels if len(extra) * (1 - level) >= 5 or level == 0.5]
        cut = np.quantile(extra, ranks)
        table += [
            (row.title, row.mode, f"{100 * level:g} % of {len(extra)}", units.percent_text(float(q)))
            for level, q in zip(ranks, cut, strict=True)
        ]
        if len(series) == 1:
            marks = [Mark(max(float(q), edges[0]), f"{100 * level:g} %") for level, q in zip(ranks, cut, strict=True)]
    if not series:
        return None
    most = max(y for one in series for y in one.y)
    xs = [x for one in series for x in one.x]
    return Picture(
        "noise-histogram",
        "Noise: how much longer than the fastest",
        "The same fixed work, again and again: on a silent machine every sample would be the fastest. What lies to the "
        "right was taken by the system. The vertical lines are quantiles of the first series.",
        Axis(
            "longer than the fastest by",
            True,
            decades(min(xs), max(xs), lambda v: f"{100 * v:g} %" if v < 1 else f"{v:g} ×"),
        ),
        Axis("samples", True, decades(1, most, lambda v: f"{v:g}")),
        tuple(series),
        tuple(marks),
        ("figure", "mode", "share of samples", "took longer by at most"),
        tuple(table),
    )


def _range(low: float, high: float, unit: str) -> str:
    return f"{units.si_text(low, unit, 4)} … {units.si_text(high, unit, 4)}"


def si_ticks(unit: str) -> Callable[[float], str]:
    """Writes round values of a unit: `20 GB/s`."""

    def text(value: float) -> str:
        scale, prefix = units.si_scale(value)
        return f"{value / scale:g} {prefix}{unit}"

    return text


def even_ticks(most: float, text: Callable[[float], str]) -> tuple[tuple[float, str], ...]:
    """From 0 to `most` in five to nine round steps."""
    if most <= 0:
        return ((0.0, "0"),)
    decade = 10.0 ** math.floor(math.log10(most / 5))
    step = next(factor * decade for factor in (1.0, 2.0, 2.5, 5.0, 10.0) if factor * decade * 8 >= most)
    return tuple((step * i, text(step * i) if i else "0") for i in range(math.floor(most / step + 1e-9) + 1))


def decades(least: float, most: float, text: Callable[[float], str]) -> tuple[tuple[float, str], ...]:
    """Ticks at 1, 2 and 5 of each decade; only at 1 where there are many decades, at more places within one."""
    exponents = range(math.floor(math.log10(least)), math.ceil(math.log10(most)) + 1)
    steps: Iterable[float] = (1, 2, 5) if len(exponents) <= 4 else (1,)
    steps = (1, 1.5, 2, 3, 4, 5, 6, 8) if most / least < 8 else steps
    ticks = [float(f"{step}e{exponent}") for exponent in exponents for step in steps]
    return tuple((tick, text(tick)) for tick in ticks if least / 2.5 <= tick <= most * 2.5)


def places(xs: Sequence[float]) -> tuple[tuple[float, str], ...]:
    """Ticks at the values themselves where they are few."""
    return tuple((x, f"{x:g}") for x in xs) if len(xs) <= 8 else decades(xs[0], xs[-1], lambda v: f"{v:g}")


def size_ticks(xs: Sequence[float]) -> tuple[tuple[float, str], ...]:
    """Ticks at powers of two, in KiB, MiB and GiB."""
    positive = [x for x in xs if x >= 1]
    first, last = math.floor(math.log2(positive[0])), math.ceil(math.log2(positive[-1]))
    step = 5 if last - first > 12 else 2
    ticks = [2.0**power for power in range(first - first % step if first % step else first, last + 1, step)]
    zero = ((ZERO_BYTES, "0"),) if xs[0] == ZERO_BYTES else ()
    return (*zero, *((tick, units.bytes_text(tick).replace(" ", " ")) for tick in ticks if tick >= positive[0]))
