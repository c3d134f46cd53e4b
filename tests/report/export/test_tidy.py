"""Exports: three formats, the same numbers, whatever the locale."""

import csv
import dataclasses
import io
import json
import locale
import math
import sys
from datetime import datetime
from typing import Any

import pyarrow
import pytest
from pyarrow import parquet

from fake_run import WORKLOADS, fake_run, retitled
from octant.analysis.summary import summarise
from octant.failure import Refusal
from octant.record import Result
from octant.report.export import tidy
from octant.store import StoredRun

RUN = fake_run(repeats=2)


def exported(form: str, what: tidy.What = "figures", run: StoredRun = RUN) -> bytes:
    file = io.BytesIO()
    tidy.write(summarise(run, WORKLOADS, all_metrics=True), form, what, file)
    return file.getvalue()


def rows(content: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(content.decode(), newline="")))


def test_csv_has_one_row_per_metric_with_the_numbers_that_were_put_in() -> None:
    found = rows(exported("csv"))
    peak = next(row for row in found if row["workload"] == "node/peakflops" and row["mode"] == "one")
    assert float(peak["median"]) == pytest.approx(9_380_000 / 100e-6)
    assert float(peak["of_limit"]) == pytest.approx(93.8 / 95.7)
    assert (peak["launches"], peak["unit"], peak["better"], peak["passed"]) == ("2", "flop/s", "higher", "true")
    assert json.loads(peak["knobs"])["width"] == "512"
    titles = {tuple(row[name] for name in ("workload", "title", "mode", "ranks", "knobs", "metric")) for row in found}
    assert len(titles) == len(found)


def test_every_sample_of_the_run_is_exported() -> None:
    found = rows(exported("csv", "samples"))
    series = [one for p in RUN.points for one in p.read().series]
    assert len(found) == sum(len(one.values) for one in series)
    assert sum(float(row["value"]) for row in found) == sum(one.values.sum() for one in series)
    assert {(row["series"], row["unit"]) for row in found} == {("step", "ns")}


@pytest.mark.parametrize(("what", "column"), [("figures", "median"), ("samples", "value"), ("results", "value")])
def test_parquet_and_csv_say_the_same(what: tidy.What, column: str) -> None:
    text = rows(exported("csv", what))
    table = read_parquet(exported("parquet", what))
    assert table.column_names == list(text[0])
    assert table[column].to_pylist() == [float(row[column]) for row in text]
    assert table["mode"].to_pylist() == [row["mode"] for row in text]


def read_parquet(content: bytes) -> Any:
    return parquet.read_table(io.BytesIO(content))


def test_parquet_keeps_types_and_missing_values(monkeypatch: pytest.MonkeyPatch) -> None:
    line = tidy.SampleLine(
        "r", "node/stream", 'a "title",\nof two lines: é', "one", 1, "{}", "l", "step", "", 0, 0, None, 0, 2**62 + 1,
        1e-310, "ns", 1, None, True, False,
    )  # fmt: skip
    missing = dataclasses.replace(line, rank=None, thread=3, begin_ns=None, value=math.inf, title="", warmup=False)
    lines = [line, missing] * 3
    monkeypatch.setattr(tidy, "_ROWS", 4)
    monkeypatch.setattr(tidy, "sample_lines", lambda _: iter(lines))
    file = io.BytesIO(exported("parquet", "samples"))
    table = parquet.read_table(file)
    assert table.to_pylist() == [vars(one) for one in lines]
    assert parquet.ParquetFile(file).num_row_groups == 2
    found = {field.name: (str(field.type), field.nullable) for field in table.schema}
    assert {name: found[name] for name in ("title", "rank", "begin_ns", "value", "warmup")} == {
        "title": ("string", False), "rank": ("int64", True), "begin_ns": ("int64", True), "value": ("double", False),
        "warmup": ("bool", False),
    }  # fmt: skip


def test_times_in_parquet_are_texts_with_their_offset() -> None:
    table = read_parquet(exported("parquet"))
    assert table.schema.field("first_start").type == pyarrow.string()
    starts = [datetime.fromisoformat(text) for text in table["first_start"].to_pylist() if text]
    assert starts
    assert all(start.tzinfo for start in starts)


def test_a_run_without_rows_has_the_columns_in_parquet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tidy, "result_lines", lambda _: iter(()))
    table = read_parquet(exported("parquet", "results"))
    assert (table.num_rows, table.column_names[:2]) == (0, ["run", "workload"])


def test_json_and_csv_say_the_same() -> None:
    document = json.loads(exported("json"))
    text = rows(exported("csv"))
    assert [figure["median"] for figure in document["figures"]] == [float(row["median"]) for row in text]
    assert document["failures"][0]["reason"].startswith("no 1 GiB pages")
    lines = exported("json", "samples").splitlines()
    assert len(lines) == len(rows(exported("csv", "samples")))
    assert json.loads(lines[0])["value"] > 0


def test_a_wrong_result_has_no_number() -> None:
    wrong = (Result("sum of the array", 3.0, "1", 1e-9),)
    run = dataclasses.replace(RUN, points=tuple(dataclasses.replace(p, results=wrong) for p in RUN.points))
    for row in rows(exported("csv", run=run)):
        assert (row["median"], row["low"], row["of_limit"], row["passed"]) == ("", "", "", "false")


def test_a_locale_with_decimal_commas_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    before = exported("csv")
    kept = locale.setlocale(locale.LC_NUMERIC)
    known = [name for name in ("de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8") if _settable(name)]
    if not known:
        pytest.skip("no locale with decimal commas is installed here")
    try:
        locale.setlocale(locale.LC_NUMERIC, known[0])
        assert exported("csv") == before
    finally:
        locale.setlocale(locale.LC_NUMERIC, kept)


def _settable(name: str) -> bool:
    kept = locale.setlocale(locale.LC_NUMERIC)
    try:
        locale.setlocale(locale.LC_NUMERIC, name)
    except locale.Error:
        return False
    locale.setlocale(locale.LC_NUMERIC, kept)
    return True


def test_an_unknown_format_is_refused_with_the_known_ones() -> None:
    with pytest.raises(Refusal, match="csv, parquet, json"):
        exported("xls")


def test_titles_with_quotes_commas_and_line_ends_survive() -> None:
    nasty = 'a "quoted", title\nof two lines'
    assert rows(exported("csv", run=retitled(RUN, nasty)))[0]["title"] == nasty


def test_parquet_without_pyarrow_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(Refusal, match=r"pip install 'octant-hpc\[parquet\]'"):
        exported("parquet", "figures")


@pytest.mark.parametrize(
    ("title", "cell"),
    [
        ("=cmd|' /C calc'!A0", "'=cmd|' /C calc'!A0"),
        ("+1+1", "'+1+1"),
        ("-1-1", "'-1-1"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("\t=1", "'\t=1"),
        ("\r=1", "�=1"),
        ("'=1", "''=1"),
        ("-1.5e3", "-1.5e3"),
        ("a=b", "a=b"),
        ("\x1b[31mred", "�[31mred"),
    ],
)
def test_no_cell_is_a_formula_and_numbers_stay(title: str, cell: str) -> None:
    assert rows(exported("csv", run=retitled(RUN, title)))[0]["title"] == cell


def test_formulas_are_texts_in_parquet_and_control_characters_are_shown() -> None:
    assert "=1+1" in read_parquet(exported("parquet", run=retitled(RUN, "=1+1")))["title"].to_pylist()
    assert "�[31mred" in read_parquet(exported("parquet", run=retitled(RUN, "\x1b[31mred")))["title"].to_pylist()
