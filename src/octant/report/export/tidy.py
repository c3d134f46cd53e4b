"""Export of figures, results and samples as tidy rows: CSV, Parquet and JSON with the same content."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, fields, replace
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, Literal, TypeAlias

from octant.advice.findings import RunFinding
from octant.analysis.figures import Figure
from octant.analysis.summary import Summary
from octant.failure import Exit, Refusal, suggestion
from octant.program import shell_text
from octant.record import Failure, Point
from octant.report.claims import NARROW
from octant.report.export.knob_columns import Cell, KnobColumn, KnobColumns
from octant.report.export.sharing import cleaned
from octant.report.plain import clean_lines, escaped
from octant.report.results import further_figures, shown_results
from octant.report.screen.first_screen import RunReport, first_screen
from octant.stats.caveats import Caveat
from octant.store import StoredRun

FORMATS = ("csv", "parquet", "json")
What = Literal["figures", "results", "samples"]
_ROWS = 2**16
"""Rows of a row group of Parquet; so many are in memory at a time."""


@dataclass(frozen=True)
class FigureLine:
    """One metric of a cell. Numbers are in the base unit that `unit` names; `None` where there is no number."""

    run: str
    machine: str
    started: str
    workload: str
    title: str
    mode: str
    ranks: int | None  # `None`: an imported file does not state it
    threads: int | None
    knobs: str  # JSON object, names sorted; CSV and Parquet have a column for each knob
    metric: str  # the headline comes first; phases and readings have the names of their series
    unit: str
    better: str  # "higher" or "lower"
    median: float | None
    low: float | None  # what low and high are, `claim` says
    high: float | None
    kind: str  # "order statistics", "student": ends of a 95 % interval; "two values"; "one launch"; "not measurable"
    claim: str  # "95 % interval for the median over 6 launches between 07:35 and 07:38"
    launches: int  # that the median is made of; those of equal points of the run count
    tried: int  # the others lost most of their time, failed, or have no value
    first_start: str  # of these launches, ISO 8601 with offset
    last_start: str
    next_low: float | None  # where the next launch would lie (95 %), from six launches on
    next_high: float | None
    samples: int
    limit: float | None
    limit_source: str
    of_limit: float | None  # `None` where there is no limit, or the figure is one
    is_limit: bool
    passed: bool
    caveats: str  # "limited: …; note: …", the worst first
    stopped_by: str
    mpi: str
    source: str  # of an imported figure: "of IMB 2021.11, read from a.txt, line 35"; "": it was measured


@dataclass
class CellLine:
    """What results and samples have in common."""

    run: str
    workload: str
    title: str
    mode: str
    ranks: int | None
    knobs: str
    launch: str


@dataclass
class ResultLine(CellLine):
    """One named result or check of one launch and group."""

    group: int
    result: str
    value: float | None  # `None` where it is no number
    unit: str
    bound: float | None  # of a check
    passed: bool | None  # whether the check's value is within its bound


@dataclass  # not frozen: there are millions, and that takes three times as long
class SampleLine(CellLine):
    """One sample of one series, as measured. A time in ns covers `batch` chunks or steps."""

    series: str  # "step", "phase/pack", "reading/residual"
    role: str
    group: int
    rank: int | None  # `None`: the slowest rank's, where the record keeps no other
    thread: int | None
    sample: int
    begin_ns: int | None  # from the common start; `None` where it is not recorded
    value: float
    unit: str
    batch: int
    entries: int | None  # how often a phase was entered
    warmup: bool
    preempted: bool


Line: TypeAlias = FigureLine | CellLine


def _all_figures(summary: Summary) -> Iterator[Figure]:
    """Yield each figure, followed by the further metrics of its cell."""
    for headline in summary.figures:
        yield from (headline, *further_figures(summary, headline))


def figure_lines(summary: Summary) -> Iterator[FigureLine]:
    """Yield one row per cell and metric, the headline first."""
    return (_figure_line(summary.run, figure) for figure in _all_figures(summary))


def _figure_line(run: StoredRun, figure: Figure) -> FigureLine:
    value, point, following, limit = figure.value, figure.point, figure.next_launch, figure.limit
    ends = value if value and value.kind != "not measurable" else None
    notes = point.notes
    return FigureLine(
        run.id, run.machine.name, run.started, figure.workload.name, figure.title, figure.mode, point.ranks,
        point.threads, _knobs_json(figure), figure.metric.name, figure.metric.unit, figure.metric.better,
        median=number(value.middle) if value else None,
        low=number(ends.low) if ends else None, high=number(ends.high) if ends else None,
        kind=value.kind if value else "", claim=value.text if value else "",
        launches=value.number if value else 0, tried=figure.tried,
        first_start=value.period.begin.isoformat(timespec="seconds") if value else "",
        last_start=value.period.end.isoformat(timespec="seconds") if value else "",
        next_low=number(following.low) if following else None,
        next_high=number(following.high) if following else None,
        samples=sum(launch.count for launch in figure.counted),
        limit=figure.at_limit, limit_source=limit.source if limit else "", of_limit=figure.of_limit,
        is_limit=figure.is_limit, passed=not figure.wrong,
        caveats="; ".join(f"{one.grade.name.lower()}: {one.text}" for one in figure.caveats),
        stopped_by=point.stopped_by, mpi=" ".join(point.process.mpi.split()),
        source=f"{notes['imported']}, line {notes.get('lines', '?')}" if "imported" in notes else "",
    )  # fmt: skip


def _knobs_json(figure: Figure) -> str:
    return json.dumps(dict(figure.knobs), sort_keys=True)


def number(value: float) -> float | None:
    """Return the value, or `None` if it is not finite."""
    return value if math.isfinite(value) else None


def _points(summary: Summary) -> Iterator[tuple[Figure, Point, tuple[str, str, str, str, int | None, str, str]]]:
    """Yield the measurements of all figures, with the columns of `CellLine`."""
    for figure in summary.figures:
        cell, knobs = (summary.run.id, figure.workload.name, figure.title, figure.mode), _knobs_json(figure)
        yield from ((figure, point, (*cell, point.ranks, knobs, point.launch)) for point in figure.points)


def result_lines(summary: Summary) -> Iterator[ResultLine]:
    """Yield one row per launch, group and named result or check; programs that failed verification only have checks."""
    for figure, point, cell in _points(summary):
        for one in shown_results(figure, point):
            passed = None if one.bound is None else one.passed
            yield ResultLine(*cell, one.group, one.name, number(one.value), one.unit, one.bound, passed)


def sample_lines(summary: Summary) -> Iterator[SampleLine]:
    """Yield one row per sample of the run, including warm-up; only one point's samples are in memory.

    Raises:
        RecordError: the samples of a point can no longer be read.
    """
    for _, point, cell in _points(summary):
        samples = point.read()
        for series in samples.series:
            head, is_step = series.head, series.head.name == "step"
            begins, entries, batch = series.begin_ns, series.entries, point.batch_of(head.group, head.role)
            for i, value in enumerate(series.values.tolist()):
                yield SampleLine(
                    *cell, head.name, head.role, head.group, head.rank, head.thread, i,
                    int(begins[i]) if is_step and begins is not None else None, value, head.unit, batch,
                    None if entries is None else int(entries[i]), is_step and i < point.warmup, i in series.preempted,
                )  # fmt: skip
        for kept in samples.reduced:
            batch = point.batch_of(kept.group, kept.role)
            for i, value in enumerate(() if kept.slowest_ns is None else kept.slowest_ns.tolist()):
                yield SampleLine(
                    *cell, kept.name, kept.role, kept.group, None, None, i, None, value, "ns", batch, None,
                    i < point.warmup, False,
                )  # fmt: skip


def as_json(report: RunReport, page: Path | None = None, clean: Callable[[str], str] = str, files: bool = True) -> str:
    """Return the report as JSON: run, figures, results, failures, disagreements, and the path of the page.

    Args:
        clean: what every text goes through (`sharing.cleaner`).
        files: as in `document`, if nothing is cleaned.
    """
    found = document(report, page, files=files and clean is str)
    return json.dumps(cleaned(found, clean), indent=2, ensure_ascii=False, allow_nan=False)


def document(report: RunReport, page: Path | None = None, files: bool = True) -> dict[str, object]:
    """Return the report as an object of JSON types.

    Args:
        files: list the files that launches left; not for others, since programs choose the names.
    """
    summary, first = report.summary, report.first
    run, machine = summary.run, summary.run.machine
    findings = [_without("effect", one) for one in first.findings]
    records: list[Point | Failure] = [*run.points, *run.failures]
    return {
        "run": run.id,
        "title": run.title,
        "started": run.started,
        "complete": run.complete,
        "imported": [asdict(one) for one in run.imported],
        "machine": machine.name,
        "processor": machine.processor.model,
        "first_screen": _plain({**asdict(replace(first, findings=())), "findings": findings}),
        "figures": [
            _structure(_figure_line(run, figure)) | {"caveats": caveats_json(figure.caveats)}
            for figure in _all_figures(summary)
        ],
        "results": [_structure(line) for line in result_lines(summary)],
        "failures": [_without("files", failure) for failure in run.failures],
        "files": [{"launch": one.launch, **asdict(file)} for one in records if files for file in one.files],
        "disagreements": [asdict(disagreement) for disagreement in machine.disagreements],
        "damaged_lines": list(run.unread),
        "unknown_workloads": list(summary.unknown),
        **({"programs": programs} if (programs := _programs(run)) else {}),
        **report.documents,
        **({"report": str(page)} if page else {}),
    }  # fmt: skip


def caveats_json(caveats: Iterable[Caveat]) -> list[dict[str, str]]:
    """Return caveats as objects of JSON."""
    return [{"kind": one.kind, "grade": one.grade.name.lower(), "text": one.text} for one in caveats]


def _programs(run: StoredRun) -> list[dict[str, object]]:
    """Return the programs of the user with their command lines, quoted for a shell."""
    return [
        {
            "workload": request.subject.name,
            "command": shell_text(request.subject.command),
            "knobs": dict(request.knobs),
            "environment": dict(request.subject.environment),
            "input": request.subject.input,
            "directory": request.subject.directory,
            "values": [value.name for value in request.subject.values],
            "checks": [check.name for check in request.subject.checks],
        }
        for request in run.requests
        if request.subject.command
    ]


def _plain(value: Any) -> Any:
    """Return a value of JSON types with normal spaces, and `None` for numbers that are not finite."""
    if isinstance(value, dict):
        return {name: _plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if isinstance(value, str):
        return value.replace(NARROW, " ")
    return number(value) if isinstance(value, float) else value


def _without(field: str, value: RunFinding | Failure) -> dict[str, object]:
    return {name: one for name, one in asdict(value).items() if name != field}


def _structure(line: FigureLine | ResultLine) -> dict[str, object]:
    return {**vars(line), "knobs": json.loads(line.knobs)}


def write(summary: Summary, form: str, what: What, file: BinaryIO, clean: Callable[[str], str] = str) -> None:
    """Write figures, results or samples in a format; only one point's samples are in memory.

    Args:
        clean: what every text goes through (`sharing.cleaner`).

    Raises:
        Refusal: no such format, or Parquet without pyarrow.
        RecordError: the samples of a point can no longer be read.
    """
    if form not in FORMATS:
        raise Refusal(f"cannot export to {form!r} (no such format); {suggestion(form, FORMATS)}", Exit.WRONG_WORD)
    if form == "json" and what == "figures":
        own = not any(request.subject.command for request in summary.run.requests)  # a program prints whatever it likes
        text = as_json(RunReport(summary, first_screen(summary)), clean=clean, files=own)
        file.write(escaped(text).encode() + b"\n")
        return
    of: dict[What, tuple[type[Line], Iterable[Line]]] = {
        "figures": (FigureLine, figure_lines(summary)), "results": (ResultLine, result_lines(summary)),
        "samples": (SampleLine, sample_lines(summary)),
    }  # fmt: skip
    kind, lines = of[what]
    if form == "json":
        for line in lines:
            file.write(escaped(json.dumps(cleaned(vars(line), clean), ensure_ascii=False)).encode() + b"\n")
        return
    cells = ((figure.workload.name, figure.knobs) for figure in summary.figures)
    columns = KnobColumns(cells, (field.name for field in fields(kind)))
    headers = _headers(kind, columns)
    place = [field.name for field in fields(kind)].index("knobs")
    rows = _rows(lines, place, columns, clean, typed=form == "parquet")
    if form == "csv":
        _write_csv(headers, rows, file)
    else:
        _write_parquet(headers, rows, file)


def _headers(kind: type[Line], columns: KnobColumns) -> dict[str, tuple[str, bool]]:
    """Return the columns of a table with their type, and whether values may be missing.

    The knobs that vary replace the field `knobs`, and the others are last.
    """
    found: dict[str, tuple[str, bool]] = {}
    for field in fields(kind):
        sort, none, _ = str(field.type).partition(" | ")
        found |= _knob_headers(columns.varying) if field.name == "knobs" else {field.name: (sort, bool(none))}
    return found | _knob_headers(columns.fixed)


def _knob_headers(columns: Iterable[KnobColumn]) -> dict[str, tuple[str, bool]]:
    return {one.header: (one.type, True) for one in columns}


def _rows(
    lines: Iterable[Line], place: int, columns: KnobColumns, clean: Callable[[str], str], typed: bool
) -> Iterator[list[Cell]]:
    """Yield the values of each line in the order of the headers.

    Args:
        place: of the knobs in a line.
        typed: as in `KnobColumns.cells`.
    """
    known: dict[tuple[str, str], tuple[list[Cell], list[Cell]]] = {}
    for line in lines:
        values = list(vars(line).values())
        if (key := (line.workload, line.knobs)) not in known:
            known[key] = columns.cells(*key, clean, typed)
        varying, fixed = known[key]
        if clean is not str:
            values = cleaned(values, clean)
        yield [*values[:place], *varying, *values[place + 1 :], *fixed]


def neutral(cell: str) -> str:
    """Return a text of a CSV file that spreadsheets do not evaluate: an apostrophe precedes possible formulas.

    So that removing the apostrophe from the cells that begin with one gives the texts back, those that begin with one
    get another. Numbers stay as they are.
    """
    shown = clean_lines(cell)
    with contextlib.suppress(ValueError):
        if math.isfinite(float(shown)):
            return shown
    return f"'{shown}" if shown.startswith(tuple("=+-@\t'")) else shown


def _write_csv(headers: Iterable[str], rows: Iterable[Iterable[Cell]], file: BinaryIO) -> None:
    """Write RFC 4180 with decimal points in all locales, and floats in the shortest exact form."""
    text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(map(neutral, headers))
    for row in rows:
        writer.writerow(map(_cell, row))
    text.detach()


def _cell(value: Cell) -> str | float:
    if isinstance(value, str):
        return neutral(value)
    return "" if value is None else str(value).lower() if isinstance(value, bool) else value


def _write_parquet(headers: Mapping[str, tuple[str, bool]], rows: Iterable[list[Cell]], file: BinaryIO) -> None:
    try:
        import pyarrow  # noqa: PLC0415 - slow to load, and needed here only
        from pyarrow import parquet  # noqa: PLC0415
    except ImportError as error:
        raise Refusal(
            "cannot write Parquet (pyarrow is not installed); try pip install 'octant-hpc[parquet]', or --to csv",
            Exit.NOT_SUPPORTED,
        ) from error
    types = {"str": pyarrow.string(), "int": pyarrow.int64(), "float": pyarrow.float64(), "bool": pyarrow.bool_()}
    schema = pyarrow.schema(pyarrow.field(name, types[sort], nullable=none) for name, (sort, none) in headers.items())
    left = iter(rows)
    with parquet.ParquetWriter(file, schema) as writer:
        while part := list(islice(left, _ROWS)):
            columns = zip(*part, strict=True)
            cleaned_columns = [
                [clean_lines(one) if isinstance(one, str) else one for one in column] for column in columns
            ]
            arrays = [pyarrow.array(*both) for both in zip(cleaned_columns, schema.types, strict=True)]
            writer.write_batch(pyarrow.RecordBatch.from_arrays(arrays, schema=schema))
