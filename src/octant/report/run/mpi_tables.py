"""Measured MPI patterns as the tables that users of IMB and of the OSU benchmarks know, and for programs."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Literal

from octant.catalogue.mpi_patterns import Pattern, pattern_of
from octant.metric import Metric, groups, ranks, seconds, steps
from octant.report import claims
from octant.units import bytes_text, counted, si_text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from octant.analysis.figures import Figure
    from octant.analysis.summary import Summary
    from octant.metric import How
    from octant.workload import Workload

Style = Literal["imb", "osu", "octant"]
_MEGA = 1e6
_OVER_RANKS: Mapping[str, How] = {"t_min": "min", "t_max": "max", "t_avg": "mean"}
_TIMES = tuple(
    Metric(name, "s", "lower", seconds(over=(steps("mean"), ranks(how), groups("max"))))
    for name, how in _OVER_RANKS.items()
)
_RULE = "#" + "-" * 79


@dataclass(frozen=True)
class Row:
    """One message length of a pattern; times in seconds, rates in units a second; what was not measured is `None`."""

    bytes: int | None
    repetitions: int  # of all launches together
    t_min: float | None
    t_max: float | None
    t_avg: float | None
    bytes_per_second: float | None  # with IMB's factor
    messages_per_second: float | None
    whole: float | None  # beside computing, from before the call to after the wait
    compute: float | None  # the computing alone
    overlap: float | None  # of both, 0 to 1, by IMB's formula
    time: float | None  # Octant's: median over steps of the slowest rank
    low: float | None
    high: float | None
    launches: str
    doubts: tuple[str, ...]
    wrong: bool


@dataclass(frozen=True)
class Table:
    """One pattern with one number of processes."""

    pattern: Pattern
    processes: int
    groups: int
    rows: tuple[Row, ...]
    settings: tuple[str, ...] = ()  # other knobs that vary: "buffers=rotating"


def with_times(known: Mapping[str, Workload]) -> dict[str, Workload]:
    """These workloads with IMB's times of a step, where they do not define such times themselves.

    `t_min`, `t_max` and `t_avg` are of means over repetitions, over ranks; of groups, that of the slowest.
    """
    found = {}
    for name, workload in known.items():
        named = {metric.name for metric in workload.metrics}
        found[name] = replace(workload, metrics=(*workload.metrics, *(one for one in _TIMES if one.name not in named)))
    return found


def tables(summary: Summary) -> tuple[Table, ...]:
    """A table for each pattern, number of processes and other setting of a run, in the order in which they were asked.

    Args:
        summary: with all metrics.
    """
    found: dict[tuple[object, ...], list[Row]] = {}
    heads: dict[tuple[object, ...], Table] = {}
    for figure in summary.figures:
        pattern = pattern_of(figure.workload.name, figure.knobs)
        if pattern is None:
            continue
        at_once = figure.point.groups or (tuple(range(figure.point.ranks)),)
        others = tuple(f"{name}={value}" for name, value in _others(summary, figure).items())
        key = (pattern.name, len(at_once), len(at_once[0]), others)
        heads.setdefault(key, Table(pattern, len(at_once[0]), len(at_once), (), others))
        found.setdefault(key, []).append(_row(summary, pattern, figure))
    ordered = {key: tuple(sorted(rows, key=lambda row: row.bytes or 0)) for key, rows in found.items()}
    return tuple(replace(table, rows=ordered[key]) for key, table in heads.items())


def text(summary: Summary, style: Style = "imb") -> str:
    """The tables of a run, then what they do not show: patterns that failed, doubts, and how definitions differ."""
    shown = tables(summary)
    parts = [_table_text(table, style) for table in shown]
    parts += [_footnotes(summary, shown, style)]
    return "\n\n".join(part for part in parts if part)


def as_json(summary: Summary) -> str:
    """The same for programs; times in seconds, rates in bytes or messages a second."""
    run = summary.run
    found = [
        {
            "pattern": table.pattern.name, "workload": table.pattern.workload, "processes": table.processes,
            "groups": table.groups, "settings": list(table.settings),
            "factor": table.pattern.factor * table.pattern.times_of(table.processes),
            "rows": [asdict(row) for row in table.rows],
        }
        for table in tables(summary)
    ]  # fmt: skip
    return json.dumps({"run": run.id, "tables": found, "failures": _failures(summary)}, indent=1)


def _others(summary: Summary, figure: Figure) -> dict[str, str]:
    """The knobs with several values in what was asked, besides those that a table has places for."""
    ask = summary.run.ask_of(figure.point.launch)
    varied = [name for name, values in ask.knobs.items() if "," in values] if ask else []
    placed = {"bytes", "groups", "pattern"}
    return {name: figure.knobs.get(name, "") for name in varied if name not in placed}


def _row(summary: Summary, pattern: Pattern, figure: Figure) -> Row:
    def value(metric: str) -> float | None:
        found = summary.figure(figure, metric)
        return found.value.middle if found and found.value else None

    length = figure.knobs.get("bytes", "") if pattern.sizes else ""
    number = int(length) if length.isdigit() else None
    t_max = value("t_max")
    processes = len(figure.point.groups[0]) if figure.point.groups else figure.point.ranks
    added = pattern.times_of(processes)
    moved = None if number is None else pattern.factor * added * number
    rate = moved / t_max if t_max and moved is not None and pattern.factor else None
    messages = pattern.messages * added / t_max if t_max and pattern.messages else None
    repetitions = sum(launch.count * launch.point.batch for launch in figure.counted)
    own = figure.value
    return Row(
        number, repetitions, value("t_min"), t_max, value("t_avg"), rate, messages,
        value("phase/whole"), value("phase/compute"), value("overlap_imb"),
        own.middle if own else None, own.low if own else None, own.high if own else None,
        claims.count_text(figure), tuple(claims.warnings(figure.doubts)), bool(figure.wrong),
    )  # fmt: skip


def _table_text(table: Table, style: Style) -> str:
    if style == "octant":
        return _octant_text(table)
    return _osu_text(table) if style == "osu" else _imb_text(table)


def _processes_text(table: Table) -> str:
    if table.groups == 1:
        return f"# #processes = {table.processes}"
    return f"# #processes = {table.processes}, {table.groups} groups at once"


def _imb_text(table: Table) -> str:
    pattern = table.pattern
    columns = _columns(pattern)
    lines = [_RULE, f"# Benchmarking {pattern.name}", _processes_text(table)]
    lines += [f"# {' '.join(table.settings)}"] * bool(table.settings)
    lines += [_RULE, "".join(f"{name:>13}" for name in columns)]
    for row in table.rows:
        lines.append("".join(f"{cell(row):>13}" for cell in columns.values()) + _mark(row))
    return "\n".join(lines)


def _columns(pattern: Pattern) -> dict[str, Callable[[Row], str]]:
    """The columns of IMB's table, each with what stands in it."""
    found: dict[str, Callable[[Row], str]] = {}
    if pattern.sizes:
        found["#bytes"] = lambda row: "-" if row.bytes is None else str(row.bytes)
    found["#repetitions"] = lambda row: str(row.repetitions)
    if pattern.times == "overlap":
        found["t_ovrl[usec]"] = lambda row: _fixed(row.whole, 1 / _MEGA)
        found["t_pure[usec]"] = lambda row: _fixed(row.t_max, 1 / _MEGA)
        found["t_CPU[usec]"] = lambda row: _fixed(row.compute, 1 / _MEGA)
        found["overlap[%]"] = lambda row: _fixed(row.overlap, 0.01)
    elif pattern.times == "one" and not pattern.messages:
        found["t[usec]"] = lambda row: _fixed(row.t_max, 1 / _MEGA)
    elif not pattern.messages:
        found["t_min[usec]"] = lambda row: _fixed(row.t_min, 1 / _MEGA)
        found["t_max[usec]"] = lambda row: _fixed(row.t_max, 1 / _MEGA)
        found["t_avg[usec]"] = lambda row: _fixed(row.t_avg, 1 / _MEGA)
    if pattern.factor:
        found["Mbytes/sec"] = lambda row: _fixed(row.bytes_per_second, _MEGA)
    if pattern.messages:
        found["Msg/sec"] = lambda row: _fixed(row.messages_per_second, 1, 0)
    return found


def _osu_text(table: Table) -> str:
    pattern = table.pattern
    name = pattern.osu[0] if pattern.osu else pattern.name
    rate = pattern.osu_shows == "bandwidth"
    column = "Bandwidth (MB/s)" if rate else "Avg Latency(us)"
    head = f"{'# Size':<10}" if pattern.sizes else "#"
    lines = [f"# {name}", _processes_text(table)]
    lines += [f"# {' '.join(table.settings)}"] * bool(table.settings)
    lines += [f"{head}{column:>20}"]
    for row in table.rows:
        size = f"{row.bytes if row.bytes is not None else '-':<10}" if pattern.sizes else " "
        cell = _fixed(row.bytes_per_second, _MEGA) if rate else _fixed(row.t_avg, 1 / _MEGA)
        lines.append(f"{size}{cell:>20}{_mark(row)}")
    return "\n".join(lines)


def _octant_text(table: Table) -> str:
    head = ("length", "median", "low … high", "rate", "launches")
    cells = [head] + [
        (
            bytes_text(row.bytes) if row.bytes is not None else "",
            _time(row.time),
            f"{_time(row.low)} … {_time(row.high)}",
            si_text(row.bytes_per_second, "B/s") if row.bytes_per_second else "",
            row.launches + _mark(row),
        )
        for row in table.rows
    ]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = ["  ".join(f"{cell:>{wide}}" for cell, wide in zip(row, widths, strict=True)).rstrip() for row in cells]
    return "\n".join([" ".join([table.pattern.name, _processes_text(table)[2:], *table.settings]), *lines])


def _time(seconds: float | None) -> str:
    return "-" if seconds is None else si_text(seconds, "s")


def _fixed(value: float | None, unit: float, digits: int = 2) -> str:
    return "-" if value is None else f"{value / unit:.{digits}f}"


def _mark(row: Row) -> str:
    return "  WRONG ANSWER" if row.wrong else " *" if row.doubts else ""


def _failures(summary: Summary) -> list[str]:
    named = ((pattern_of(one.workload, one.knobs), one) for one in summary.run.failures)
    return list(dict.fromkeys(f"{pattern.name if pattern else one.workload}: {one.reason}" for pattern, one in named))


def _footnotes(summary: Summary, shown: Sequence[Table], style: Style) -> str:
    failed = [f"# Not measured: {text}" for text in _failures(summary)]
    if not shown:
        return "\n".join(failed or ["# Nothing was measured."])
    launches = max(len(figure.counted) for figure in summary.figures)
    means = (
        f"Times are IMB's: means over repetitions, then over ranks; here the median of {counted(launches, 'launch')}."
    )
    notes = [means if style != "octant" else "Times are medians over repetitions of the slowest rank."]
    if style == "imb" and any(table.pattern.factor for table in shown):
        factors = (f"{one.pattern.name} {one.pattern.factor_text}" for one in shown if one.pattern.factor)
        each = ", ".join(dict.fromkeys(factors))
        notes.append(f"Mbytes/sec = factor x #bytes / t_max, MB = 10^6; factors: {each}.")
    notes += dict.fromkeys(f"{one.pattern.name}: {one.pattern.differs}" for one in shown if one.pattern.differs)
    notes += [claims.link_text(link) for link in dict.fromkeys(one.link for one in summary.figures if one.link)]
    if any(row.doubts for table in shown for row in table.rows):
        notes.append(f"* doubtful here; octant report {summary.run.id} says why, and has medians with intervals.")
    return "\n".join([*failed, *(f"# {note}" for note in notes)])
