"""Stored numbers that no unit has a prefix for: every view for people prints them with few digits."""

import html
import json
import re
from pathlib import Path

from typer.testing import CliRunner

from octant.analysis.summary import summarise
from octant.cli import application
from octant.foreign import ImportedRow, ImportedValue, Output, Table
from octant.report.export import tidy
from octant.store import Store
from octant.store.imported import create

TINY, SMALL, HUGE = 2.3654123456e-310, 1.2345678e-13, 1.23456789e300
LONG = re.compile(r"\d{18}|0\.0{13}|\b[1-9]\d{6,}\.\d|\b\d\.\d{7,}")
"""Rows of digits in a text for people; identifiers of runs have 17."""


def run_with(store: Store, factor: float) -> str:
    tables = []
    for line, number in enumerate((TINY, SMALL, HUGE, 1.0), 1):
        values = (
            ImportedValue("rate", number * factor, "flop/s", line),
            ImportedValue("time", number * factor, "s", line),
        )
        rows = (ImportedRow(line, {}, (*values, ImportedValue("residual", number, "1", line, HUGE))),)
        tables.append(Table("hpl", line, rows, {"n": str(line)}, 2))
    output = Output("HPCC", "1", str(factor), tuple(tables))
    return create(store, "hpcc", [(Path(f"{factor}.txt"), output)], "far").id


def printed(store: Store, *words: str) -> str:
    done = CliRunner().invoke(application(), [*words, "--store", str(store.root)])
    assert done.exit_code in (0, 1), (words, done.output, done.exception)
    return done.output


def test_no_view_prints_rows_of_digits(tmp_path: Path) -> None:
    store = Store(tmp_path)
    first, second = run_with(store, 1.0), run_with(store, 1.5)
    views = {
        "report": printed(store, "report", first),
        "runs": printed(store, "runs"),
        "compare": printed(store, "compare", first, second),
        "hpcc": printed(store, "hpcc", "--run", first),
    }
    page = (store.read(first).records.parent / "report.html").read_text()  # the command report wrote it
    plain = re.sub(r"(?s)<(script|style)\b.*?</\1>", "", page)
    views["page"] = html.unescape(re.sub(r"<[^>]*>", " ", plain))
    for view, text in views.items():
        found = LONG.search(text)
        assert not found, (view, text[max(0, found.start() - 60) : found.end() + 20])
    assert "2.37e-310 flop/s" in views["report"]
    assert "1.23e+300 flop/s" in views["report"]


def test_exports_for_programs_keep_every_digit(tmp_path: Path) -> None:
    store = Store(tmp_path)
    run = run_with(store, 1.0)
    figures = json.loads(printed(store, "report", run, "--json"))["figures"]
    assert {TINY, SMALL, HUGE} <= {figure["median"] for figure in figures}
    lines = list(tidy.figure_lines(summarise(store.read(run))))
    assert SMALL in {line.median for line in lines}, "CSV and Parquet write these"
