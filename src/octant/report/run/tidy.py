"""Figures and samples as tidy rows, for programs: CSV, Parquet and JSON say the same."""

from __future__ import annotations

import csv
import io
import json
import tempfile
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING

from octant.analysis.summary import Row, Summary, summarise
from octant.failure import Exit, Refusal

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from octant.store import StoredRun
    from octant.workload import Workload

FORMATS = ("csv", "parquet", "json")


@dataclass(frozen=True)
class FigureLine:
    """One figure. Numbers are in the base unit that `unit` names; `None` where there is no number."""

    run: str
    machine: str
    started: str
    workload: str
    title: str
    mode: str
    ranks: int
    threads: int
    knobs: str  # JSON object, names sorted
    metric: str
    unit: str
    better: str  # "higher" or "lower"
    median: float | None
    low: float | None  # ends of the 95 % interval
    high: float | None
    launches: int
    samples: int
    limit: float | None
    limit_source: str
    of_limit: float | None
    passed: bool
    flags: str  # "; " between them
    stopped_by: str
    mpi: str


@dataclass(frozen=True)
class SampleLine:
    """One timed sample, as measured. `duration_ns` covers `batch` chunks or steps."""

    run: str
    workload: str
    title: str
    mode: str
    ranks: int
    knobs: str
    launch: str
    rank: int
    thread: int
    sample: int
    begin_ns: int | None  # `None` for steps, whose beginnings are not kept
    duration_ns: int
    batch: int
    warmup: bool
    preempted: bool


def figure_lines(summary: Summary) -> list[FigureLine]:
    """One line a figure of the run."""
    return [_figure_line(summary.run, row) for row in summary.rows]


def _figure_line(run: StoredRun, row: Row) -> FigureLine:
    value, point = row.value, row.points[0]
    return FigureLine(
        run=run.id,
        machine=run.machine.name,
        started=run.started,
        workload=row.workload.name,
        title=row.title,
        mode=row.mode,
        ranks=point.ranks,
        threads=point.threads,
        knobs=json.dumps(dict(row.knobs), sort_keys=True),
        metric=row.metric.name,
        unit=row.metric.unit,
        better="higher" if row.metric.kind == "rate" else "lower",
        median=value.middle if value else None,
        low=value.low if value else None,
        high=value.high if value else None,
        launches=len(row.points),
        samples=sum(len(figure.samples) for figure in row.figures),
        limit=row.limit.value if row.limit else None,
        limit_source=row.limit.source if row.limit else "",
        of_limit=row.of_limit,
        passed=not row.wrong,
        flags="; ".join(row.flags),
        stopped_by=point.stopped_by,
        mpi=" ".join(point.mpi.split()),
    )


def sample_lines(summary: Summary) -> Iterator[SampleLine]:
    """One line a sample of the run, warm-up included."""
    for row in summary.rows:
        knobs = json.dumps(dict(row.knobs), sort_keys=True)
        for point in row.points:
            for lane in point.lanes:
                begins: Sequence[int | None] = lane.begin_ns or [None] * len(lane.duration_ns)
                for i, (begin_ns, duration_ns) in enumerate(zip(begins, lane.duration_ns, strict=True)):
                    yield SampleLine(
                        summary.run.id, row.workload.name, row.title, row.mode, point.ranks, knobs, point.launch,
                        lane.rank, lane.thread, i, begin_ns, duration_ns, point.batch,
                        i < point.warmup, i in lane.preempted,
                    )  # fmt: skip


def as_json(run: StoredRun, known: Mapping[str, Workload] | None = None, report: Path | None = None) -> str:
    """The whole summary: run, figures, failures, disagreements, and the path of an HTML report that was written."""
    summary = summarise(run, known)
    machine = run.machine
    document = {
        "run": run.id,
        "title": run.title,
        "started": run.started,
        "complete": run.complete,
        "machine": machine.name,
        "processor": machine.processor.model,
        "figures": [_structured(line) for line in figure_lines(summary)],
        "failures": [asdict(failure) for failure in run.failures],
        "disagreements": [asdict(disagreement) for disagreement in machine.disagreements],
        "torn_lines": run.torn_lines,
        "unknown_workloads": list(summary.unknown),
        **({"report": str(report)} if report else {}),
    }
    return json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False)


def _structured(line: FigureLine) -> dict[str, object]:
    return {**asdict(line), "knobs": json.loads(line.knobs), "flags": line.flags.split("; ") if line.flags else []}


def export(run: StoredRun, form: str, samples: bool, known: Mapping[str, Workload] | None = None) -> bytes:
    """The file of a format: figures, or samples.

    Raises:
        Refusal: no such format, or Parquet without DuckDB.
    """
    if form not in FORMATS:
        raise Refusal(f"cannot export to {form!r} (no such format); try {', '.join(FORMATS)}", Exit.WRONG_ANSWER)
    summary = summarise(run, known)
    kind = SampleLine if samples else FigureLine
    lines: Iterable[SampleLine | FigureLine] = sample_lines(summary) if samples else figure_lines(summary)
    if form == "json" and not samples:
        return as_json(run, known).encode() + b"\n"
    if form == "json":
        return b"".join(json.dumps(asdict(line), ensure_ascii=False).encode() + b"\n" for line in lines)
    text = _csv([field.name for field in fields(kind)], lines)
    return text.encode() if form == "csv" else _parquet(text, kind)


def _csv(names: list[str], lines: Iterable[SampleLine | FigureLine]) -> str:
    """RFC 4180, decimal points whatever the locale, floats in the shortest form that reads back exactly."""
    file = io.StringIO(newline="")
    writer = csv.writer(file, lineterminator="\r\n")
    writer.writerow(names)
    for line in lines:
        values = vars(line).values()
        writer.writerow("" if v is None else str(v).lower() if isinstance(v, bool) else v for v in values)
    return file.getvalue()


SQL_TYPES = {"str": "VARCHAR", "int": "BIGINT", "float": "DOUBLE", "bool": "BOOLEAN"}


def _parquet(text: str, kind: type[SampleLine] | type[FigureLine]) -> bytes:
    try:
        import duckdb  # noqa: PLC0415 - slow to load, and needed here only
    except ImportError as error:
        raise Refusal("cannot write Parquet (DuckDB is not installed); try pip install duckdb, or --to csv") from error
    types = {field.name: SQL_TYPES[str(field.type).split(" ")[0]] for field in fields(kind)}
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "lines.csv", Path(folder) / "lines.parquet"
        source.write_text(text, encoding="utf-8", newline="")
        with duckdb.connect() as connection:
            query = "SELECT * FROM read_csv(?, header = true, columns = ?, force_not_null = ?)"
            words = [name for name, sort in types.items() if sort == "VARCHAR"]
            connection.sql(query, params=[str(source), types, words]).write_parquet(str(target))
        return target.read_bytes()
