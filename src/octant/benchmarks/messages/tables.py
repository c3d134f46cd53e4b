"""Measured MPI patterns as tables in the formats of IMB and the OSU benchmarks, and as JSON."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

from octant import stats
from octant.benchmarks.messages.patterns import MessagePattern, find, pattern_of
from octant.benchmarks.rows import UNMEASURABLE
from octant.failure import Exit, Refusal
from octant.metric import Derived
from octant.record import NOT_STATED
from octant.units import bytes_text, counted, si_text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from octant.analysis.figures import Figure
    from octant.analysis.summary import Summary
    from octant.benchmarks import BenchmarkArguments

_MEGA = 1e6
_RULE = "#" + "-" * 79
_USED = re.compile(r"[0-9]+ B to ([0-9]+) B")  # note of a kernel that rounded a length


@dataclass(frozen=True)
class MessageRow:
    """One message length of a pattern; times in s, rates per second; `None`: not measured."""

    bytes: int | None
    repetitions: int | None  # of all launches; `None` for an imported run
    t_min: float | None
    t_max: float | None
    t_avg: float | None
    bytes_per_second: float | None  # with IMB's factor, of t_max
    messages_per_second: float | None
    whole: float | None  # with overlapped computation, from before the call to after the wait; as t_max
    compute: float | None  # computation alone, as t_max
    overlap: float | None  # of t_max, whole and compute, 0 to 1, by IMB's formula
    overall: float | None  # OSU's `whole`: mean over ranks
    osu_compute: float | None  # OSU's `compute`: mean over ranks
    time: float | None  # Octant's: median over steps of the slowest rank
    median_bytes_per_second: float | None  # with IMB's factor, of `time`
    low: float | None
    high: float | None
    launches: str
    caveats: tuple[str, ...]
    wrong: bool
    invalid: bool = False  # the grade of its figure is "not measurable"

    @property
    def as_data(self) -> dict[str, object]:
        """Fields for JSON; the grade of a figure is in the report."""
        return {name: value for name, value in asdict(self).items() if name != "invalid"}


@dataclass(frozen=True)
class MessageTable:
    """One pattern with one number of processes."""

    pattern: MessagePattern
    asked: str  # requested name: "osu_bw"
    processes: int | None  # `None`: an imported file does not state it
    groups: int
    rows: tuple[MessageRow, ...]
    settings: tuple[str, ...] = ()  # given or varying knobs: "buffers=rotating"
    rounded: tuple[str, ...] = ()  # lengths that the kernel rounded: "6 B to 4 B"
    differs: bool = True  # the pattern's note on definitions applies to these knobs


def tables(summary: Summary) -> tuple[MessageTable, ...]:
    """Return a table for each pattern, number of processes and setting of a run, in the order of the requests.

    Args:
        summary: the run, with all metrics.
    """
    found: dict[tuple[object, ...], dict[int | None, MessageRow]] = {}
    heads: dict[tuple[object, ...], MessageTable] = {}
    for figure in summary.figures:
        asked = _asked(summary, figure.point.launch)
        pattern = pattern_of(figure.workload.name, figure.knobs, asked, bool(summary.run.imported))
        if pattern is None:
            continue
        groups = figure.point.groups
        processes, at_once = len(groups[0]) if groups else figure.point.ranks, len(groups) or 1
        others = tuple(f"{name}={value}" for name, value in _others(summary, pattern, figure).items())
        key = (pattern.name, at_once, processes, others)
        head = MessageTable(pattern, pattern.called(asked), processes, at_once, (), others)
        holds = all(figure.knobs.get(name, value) == value for name, value in pattern.holds_with.items())
        rounded = figure.point.notes.get("rounded", "")
        head = heads.setdefault(key, replace(head, differs=holds))
        heads[key] = replace(head, rounded=(*head.rounded, *filter(None, [rounded])))
        row = _row(summary, pattern, figure)
        if not (rounded and row.bytes == 0):  # a length rounded to 0 repeats the row of 0 bytes
            found.setdefault(key, {}).setdefault(row.bytes, row)
    ordered = {key: sorted(found.get(key, {}).values(), key=lambda row: row.bytes or 0) for key in heads}
    return tuple(replace(table, rows=tuple(ordered[key])) for key, table in heads.items())


def columns(pattern: MessagePattern) -> tuple[str, ...]:
    """Return the heads of IMB's columns of a pattern, in order."""
    return tuple(_columns(pattern))


def osu_columns(pattern: MessagePattern) -> tuple[str, ...]:
    """Return the heads of OSU's columns of a pattern after the length, in order."""
    return tuple(_osu_columns(pattern))


def text(summary: Summary, arguments: BenchmarkArguments, below: Sequence[str] = ()) -> str:
    """Return the tables of a run, then what they do not show: failed patterns, caveats, differing definitions.

    Args:
        summary: the run, with all metrics.
        arguments: format of the tables, and names of patterns; none: all.
        below: further sentences.

    Raises:
        Refusal: a pattern without a table, or a run without tables.
    """
    shown = _shown(summary, arguments.names)
    style = arguments.text("as") or "imb"
    parts = [_table_text(table, style) for table in shown]
    parts += [_footnotes(summary, shown, style, below)]
    return "\n\n".join(part for part in parts if part)


def as_json(summary: Summary, arguments: BenchmarkArguments) -> str:
    """Return the tables as JSON; times in s, rates in B/s or messages per second.

    Raises:
        Refusal: a pattern without a table, or a run without tables.
    """
    found = [
        {
            "pattern": table.pattern.name, "asked": table.asked, "workload": table.pattern.workload,
            "processes": table.processes, "groups": table.groups, "settings": list(table.settings),
            "factor": _factor(table.pattern, table.processes),
            "rows": [row.as_data for row in table.rows],
        }
        for table in _shown(summary, arguments.names)
    ]  # fmt: skip
    return json.dumps({"run": summary.run.id, "tables": found, "failures": _failures(summary)}, indent=1)


def _shown(summary: Summary, names: Sequence[str]) -> tuple[MessageTable, ...]:
    """Return the tables of these patterns; all without names.

    Raises:
        Refusal: a run without tables, an unknown pattern, or a pattern without a table.
    """
    shown, run = tables(summary), summary.run
    if (run.points or run.imported) and not shown:
        why = f"it has no pattern of octant mpi; its title is `{run.title}`"
        raise Refusal(f"cannot print tables of {run.id} ({why}); try octant report {run.id}", Exit.WRONG_WORD)
    wanted = {find(name).name: name for name in names}
    there = {table.pattern.name: table.asked for table in shown}
    if missing := [name for pattern, name in wanted.items() if pattern not in there]:
        why = f"the run has {', '.join(there.values()) or 'no pattern'}"
        raise Refusal(f"cannot show {missing[0]} ({why}); try octant mpi {missing[0]}", Exit.WRONG_WORD)
    return tuple(table for table in shown if not wanted or table.pattern.name in wanted)


def _asked(summary: Summary, launch: str) -> str:
    """Return the requested name of a launch's pattern; "" if there is none."""
    request = summary.run.request_of(launch)
    return request.show.test if request else ""


def _others(summary: Summary, pattern: MessagePattern, figure: Figure) -> dict[str, str]:
    """Return the requested knobs that neither the name of the pattern nor the columns of a table show."""
    request = summary.run.request_of(figure.point.launch)
    placed = {"bytes", "groups", "pattern", "seconds"} | {*pattern.knobs}
    return {name: figure.knobs.get(name, "") for name in (request.knobs if request else ()) if name not in placed}


def _overlap(figure: Figure, pure: float | None, compute: float | None, whole: float | None) -> float | None:
    """Return the overlap by the workload's `overlap_imb`, from the values of the columns."""
    formula = next((one.value for one in figure.workload.metrics if one.name == "overlap_imb"), None)
    if not isinstance(formula, Derived) or not pure or not compute or whole is None:
        return None
    return formula.function(pure, compute, whole)


def _row(summary: Summary, pattern: MessagePattern, figure: Figure) -> MessageRow:
    """Return the row of a message length; times and rates of an imported run are those of the output."""

    def value(*metrics: str) -> float | None:
        found = (summary.figure(figure, metric) for metric in metrics)
        return next((one.value.middle for one in found if one and one.value), None)

    imported = bool(summary.run.imported)
    overall = value("t_ovrl") if imported else value("phase/overlapped") if pattern.times != "passive" else None
    pure, time = ("t_pure",) * imported, ("time",) * imported  # printed by tools instead of a mean over ranks
    length = figure.knobs.get("bytes", "") if pattern.has_length else ""
    used = _USED.fullmatch(figure.point.notes.get("rounded", ""))
    number = int(used[1] if used else length) if used or length.isdigit() else None
    t_max, whole, compute = value("t_max", *time), value("t_ovrl"), value("t_cpu")
    t_max = value("t_pure") if pattern.times == "passive" or (imported and whole) else t_max
    processes = len(figure.point.groups[0]) if figure.point.groups else figure.point.ranks
    factor = _factor(pattern, processes)
    moved = None if number is None or not factor else factor * number
    added = None if processes is None else pattern.times_of(processes)
    messages = pattern.messages * added / t_max if t_max and pattern.messages and added else None
    repetitions = sum(launch.count * launch.point.batch for launch in figure.counted)
    declared = figure.workload.name not in summary.unknown  # else it is the time of a whole step
    own = figure.value if figure.metric.unit == "s" and declared else None
    known = own if own and own.kind != "not measurable" else None
    return MessageRow(
        number, None if imported else repetitions, value("t_min"), t_max, value("t_avg", *pure, *time),
        value("bandwidth") if imported else _over(moved, t_max), value("message rate") if imported else messages,
        whole, compute, value("overlap_imb") if imported else _overlap(figure, t_max, compute, whole),
        overall, compute if imported else value("phase/compute"),
        own.middle if own else None, _over(moved, own.middle if own else None),
        known.low if known else None, known.high if known else None,
        figure.count_text, tuple(stats.warnings(figure.caveats)), bool(figure.wrong),
        figure.value is not None and figure.invalid,
    )  # fmt: skip


def _factor(pattern: MessagePattern, processes: int | None) -> int | None:
    """Return the number of messages in a rate; `None`: the number of processes is not stated."""
    return None if processes is None else pattern.factor * pattern.times_of(processes)


def _over(moved: int | None, seconds: float | None) -> float | None:
    return None if moved is None or not seconds else moved / seconds


def _table_text(table: MessageTable, style: str) -> str:
    if style == "octant":
        return _octant_text(table)
    return _osu_text(table) if style == "osu" else _imb_text(table)


def _processes_text(table: MessageTable) -> str:
    processes = NOT_STATED if table.processes is None else table.processes
    if table.groups == 1:
        return f"# #processes = {processes}"
    return f"# #processes = {processes}, {table.groups} groups at once"


def _imb_text(table: MessageTable) -> str:
    pattern = table.pattern
    columns = _columns(pattern)
    name = table.asked if table.asked in pattern.aliases else pattern.name
    lines = [_RULE, f"# Benchmarking {name}", _processes_text(table)]
    lines += [f"# {' '.join(table.settings)}"] * bool(table.settings)
    lines += [_RULE, *_mode_lines(table), "".join(f"{name:>13}" for name in columns)]
    for row in table.rows:
        lines.append("".join(f"{cell(row):>13}" for cell in columns.values()) + _mark(row))
    return "\n".join(lines)


def _mode_lines(table: MessageTable) -> list[str]:
    """Return IMB's lines on the number of operations per completion."""
    modes = table.pattern.modes
    settings = dict(one.split("=", 1) for one in table.settings) if modes else {}
    value = settings.get("aggregate") or settings.get(modes, "")  # yes or no in an output of IMB
    known = value.isdigit() or value in ("yes", "no")
    return ["#", f"#    MODE: {'NON-' if value in ('1', 'no') else ''}AGGREGATE", "#"] if known else []


def _columns(pattern: MessagePattern) -> dict[str, Callable[[MessageRow], str]]:
    """Return the columns of IMB's table, with the functions that write their cells."""
    found: dict[str, Callable[[MessageRow], str]] = {}
    if pattern.has_length:
        found["#bytes"] = lambda row: "-" if row.bytes is None else str(row.bytes)
    found["#repetitions"] = lambda row: "-" if row.repetitions is None else str(row.repetitions)
    if pattern.times == "overlap":
        found["t_ovrl[usec]"] = lambda row: _fixed(row.whole, 1 / _MEGA)
        found["t_pure[usec]"] = lambda row: _fixed(row.t_max, 1 / _MEGA)
        found["t_CPU[usec]"] = lambda row: _fixed(row.compute, 1 / _MEGA)
        found["overlap[%]"] = lambda row: _fixed(row.overlap, 0.01)
    elif pattern.times == "mean":
        found["t_avg[usec]"] = lambda row: _fixed(row.t_avg, 1 / _MEGA)
    elif pattern.times == "passive":
        found["t_pure[usec]"] = lambda row: _fixed(row.t_max, 1 / _MEGA)
        found["t_ovrl[usec]"] = lambda row: _fixed(row.whole, 1 / _MEGA)
    elif pattern.times == "one" and not pattern.messages:
        found["t[usec]"] = lambda row: _fixed(row.t_max, 1 / _MEGA)
    elif not pattern.messages:
        found["t_min[usec]"] = lambda row: _fixed(row.t_min, 1 / _MEGA)
        found["t_max[usec]"] = lambda row: _fixed(row.t_max, 1 / _MEGA)
        found["t_avg[usec]"] = lambda row: _fixed(row.t_avg, 1 / _MEGA)
    if pattern.factor and pattern.times != "overlap":
        found["Mbytes/sec"] = lambda row: _fixed(row.bytes_per_second, _MEGA)
    if pattern.messages:
        found["Msg/sec"] = lambda row: _fixed(row.messages_per_second, 1, 0)
    return found


def _osu_text(table: MessageTable) -> str:
    pattern = table.pattern
    name = table.asked if table.asked.startswith("osu_") else (*pattern.osu, pattern.name)[0]
    columns = _osu_columns(pattern)
    lines = [f"# {name}", _processes_text(table)]
    lines += [f"# {' '.join(table.settings)}"] * bool(table.settings)
    head = f"{'# Size':<10}" if pattern.has_length else "#"
    lines += [head + "".join(f"{column:>20}" for column in columns)]
    for row in table.rows:
        size = f"{row.bytes if row.bytes is not None else '-':<10}" if pattern.has_length else " "
        lines.append(size + "".join(f"{cell(row):>20}" for cell in columns.values()) + _mark(row))
    return "\n".join(lines)


def _osu_columns(pattern: MessagePattern) -> dict[str, Callable[[MessageRow], str]]:
    """Return the columns of OSU's table after the length, with the functions that write their cells."""
    if pattern.osu_shows == "overlap":
        return {
            "Overall(us)": lambda row: _fixed(row.overall, 1 / _MEGA),
            "Compute(us)": lambda row: _fixed(row.osu_compute, 1 / _MEGA),
            "Pure Comm.(us)": lambda row: _fixed(row.t_avg, 1 / _MEGA),
            "Overlap(%)": _osu_overlap,
        }
    if pattern.osu_shows == "rate":
        return {
            "MB/s": lambda row: _fixed(row.bytes_per_second, _MEGA),
            "Messages/s": lambda row: _fixed(row.messages_per_second, 1),
        }
    if pattern.osu_shows == "bandwidth":
        return {"Bandwidth (MB/s)": lambda row: _fixed(row.bytes_per_second, _MEGA)}
    return {"Avg Latency(us)": lambda row: _fixed(row.t_avg, 1 / _MEGA)}


def _osu_overlap(row: MessageRow) -> str:
    """Return the share of the operation that was overlapped with computation, from the other columns."""
    if row.overall is None or row.osu_compute is None or not row.t_avg:
        return "-"
    return _fixed(max(0.0, 1 - (row.overall - row.osu_compute) / row.t_avg), 0.01)


def _octant_text(table: MessageTable) -> str:
    head = ("length", "median", "low … high", "rate", "launches")
    cells = [head] + [
        (
            bytes_text(row.bytes) if row.bytes is not None else "",
            _time(row.time),
            "-" if row.low is None or row.high is None else f"{_time(row.low)} … {_time(row.high)}",
            si_text(row.median_bytes_per_second, "B/s") if row.median_bytes_per_second else "",
            row.launches + _mark(row),
        )
        for row in table.rows
    ]
    used = [column for column in zip(*cells, strict=True) if any(column[1:])]  # collectives have no rate
    widths = [max(map(len, column)) for column in used]
    rows = zip(*used, strict=True)
    lines = ["  ".join(f"{cell:>{wide}}" for cell, wide in zip(row, widths, strict=True)).rstrip() for row in rows]
    return "\n".join([" ".join([table.pattern.name, _processes_text(table)[2:], *table.settings]), *lines])


def _time(seconds: float | None) -> str:
    return "-" if seconds is None else si_text(seconds, "s")


def _fixed(value: float | None, unit: float, digits: int = 2) -> str:
    return "-" if value is None else f"{value / unit:.{digits}f}"


def _mark(row: MessageRow) -> str:
    return "  WRONG ANSWER" if row.wrong else f"  {UNMEASURABLE}" if row.invalid else " *" if row.caveats else ""


def _notes_of_marks(summary: Summary, shown: Sequence[MessageTable]) -> list[str]:
    """Return the explanations of marks in the tables."""
    rows = [row for table in shown for row in table.rows if not row.wrong]
    invalid, limited = any(row.invalid for row in rows), any(row.caveats and not row.invalid for row in rows)
    details = f"details: octant report {summary.run.id} --notes"
    return ["* limited reliability"] * limited + [details] * (limited or invalid)


def _failures(summary: Summary) -> list[str]:
    named = ((pattern_of(one.workload, one.knobs, _asked(summary, one.launch)), one) for one in summary.run.failures)
    return list(dict.fromkeys(f"{pattern.name if pattern else one.workload}: {one.reason}" for pattern, one in named))


def _notes_of_import(summary: Summary, shown: Sequence[MessageTable]) -> list[str]:
    """Return the source of imported values, the tests without a table, and the explanations of marks."""
    run = summary.run
    notes = [f"# The values are {run.source}. If there are several outputs, they are medians."]
    every = ((one.workload.name, one.knobs, _asked(summary, one.point.launch)) for one in summary.figures)
    without = dict.fromkeys(asked for name, knobs, asked in every if pattern_of(name, knobs, asked, True) is None)
    notes += [f"# Tests without a table (unknown to octant mpi): {', '.join(without)}."] * bool(without)
    return notes + [f"# {note}" for note in _notes_of_marks(summary, shown)]


def _footnotes(summary: Summary, shown: Sequence[MessageTable], style: str, below: Sequence[str]) -> str:
    failed = [f"# Not measured: {text}" for text in _failures(summary)]
    if not shown:
        return "\n".join(failed or ["# There are no measurements."])
    if summary.run.imported:
        return "\n".join([*failed, *_notes_of_import(summary, shown)])
    launches = max(len(figure.counted) for figure in summary.figures)
    means = f"Times are means over repetitions and ranks (as in IMB), medians over {counted(launches, 'launch')}."
    notes = [means if style != "octant" else "Times are medians over repetitions of the slowest rank."]
    if style == "imb" and any("Mbytes/sec" in _columns(table.pattern) for table in shown):
        factors = (f"{one.pattern.name} {one.pattern.factor_text}" for one in shown if one.pattern.factor)
        each = ", ".join(dict.fromkeys(factors))
        notes.append(f"Mbytes/sec = factor x #bytes / t_max, MB = 10^6; factors: {each}.")
    if style == "octant" and any(" of " in row.launches for table in shown for row in table.rows):
        notes.append("Launches: valid launches of all launches.")
    notes += dict.fromkeys(
        f"{one.pattern.name}: {one.pattern.differs}" for one in shown if one.pattern.differs and one.differs
    )
    notes += [
        f"{one.asked}: lengths are rounded to whole elements per rank: {', '.join(one.rounded[:8])}."
        for one in shown
        if one.rounded
    ]
    notes += below
    notes += _notes_of_marks(summary, shown)
    return "\n".join([*failed, *(f"# {note}" for note in notes)])
