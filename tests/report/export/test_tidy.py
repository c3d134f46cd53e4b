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

from fake_run import WORKLOADS, fake_run, lane, point, retitled
from octant.analysis.summary import summarise
from octant.failure import Refusal
from octant.record import Result
from octant.report.export import tidy
from octant.report.export.knob_columns import KnobColumns
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
    assert peak["width"] == "512"
    titles = {tuple(row[name] for name in ("workload", "title", "mode", "ranks", "metric")) for row in found}
    assert len(titles) == len(found)


def with_knobs(*cells: dict[str, str], workload: str = "fake/thing") -> StoredRun:
    """Return a run with a point for each of these knobs."""
    points = tuple(
        point(
            workload=workload, knobs=knobs, launch=f"{workload}-{n}", lanes=(lane([1000] * 20),), counts={"flops": 10}
        )
        for n, knobs in enumerate(cells)
    )
    return dataclasses.replace(RUN, points=points, failures=(), requests=(), order=())


CELLS = (
    {"bytes": "64KiB", "n": "8", "kernel": "triad", "seconds": "200ms", "mode": "direct", "threads": "1"},
    {"bytes": "1 MiB", "n": "16", "kernel": "=copy", "seconds": "200ms", "mode": "direct", "threads": "1"},
    {"bytes": "100", "n": "0.5", "kernel": "1e3", "seconds": "200ms", "mode": "direct", "threads": "1", "late": "yes"},
)


def knob_rows(form: str, what: tidy.What, run: StoredRun) -> list[dict[str, Any]]:
    if form == "csv":
        return list(rows(exported("csv", what, run)))
    found: list[dict[str, Any]] = read_parquet(exported("parquet", what, run)).to_pylist()
    return found


@pytest.mark.parametrize("what", ["figures", "samples", "results"])
def test_each_knob_has_a_column_with_its_unit_and_every_value_is_found_again(what: tidy.What) -> None:
    found = knob_rows("csv", what, with_knobs(*CELLS))
    expected = {
        "bytes [B]": ["65536", "1048576", "100"], "n": ["8", "16", "0.5"], "kernel": ["triad", "'=copy", "1e3"],
        "seconds [s]": ["0.2"] * 3, "late": ["", "", "yes"],
    }  # fmt: skip
    for header, values in expected.items():
        assert list(dict.fromkeys(row[header] for row in found)) == list(dict.fromkeys(values))
    assert {row["mode (knob)"] for row in found} == {"direct"}
    assert {row["mode"] for row in found} == {"one"}, "a knob does not hide another column"
    names = list(found[0])
    assert "knobs" not in names
    assert len(names) == len(set(names))
    before = names.index("metric" if what == "figures" else "launch")
    assert names[before - 4 : before] == ["bytes [B]", "n", "kernel", "late"], "those that vary"
    assert names[-1] in ("seconds [s]", "mode (knob)", "threads")
    typed = knob_rows("parquet", what, with_knobs(*CELLS))
    assert list(typed[0]) == names
    assert {row["bytes [B]"] for row in typed} == {65536, 1048576, 100}
    assert {row["n"] for row in typed} == {8.0, 16.0, 0.5}
    assert {row["kernel"] for row in typed} == {"triad", "=copy", "1e3"}
    assert {row["late"] for row in typed} == {None, "yes"}


def test_a_size_that_is_no_number_stays_a_text() -> None:
    run = with_knobs({"bytes": "64KiB"}, {"bytes": "auto"})
    assert [row["bytes [B]"] for row in knob_rows("csv", "samples", run)][::20] == ["65536", "auto"]
    assert [row["bytes [B]"] for row in knob_rows("parquet", "samples", run)][::20] == ["65536", "auto"]


def test_knobs_of_programs_have_no_unit_and_are_not_converted() -> None:
    run = with_knobs({"bytes": "64KiB", "threads": "2"}, {"bytes": "1 MiB", "threads": "4"}, workload="program/sort")
    found = knob_rows("csv", "figures", run)
    assert list(dict.fromkeys(row["bytes"] for row in found)) == ["64KiB", "1 MiB"]
    assert list(dict.fromkeys(row["threads (knob)"] for row in found)) == ["2", "4"]


def test_shared_knobs_are_cleaned_with_their_names() -> None:
    columns = KnobColumns([("program/x", {"token": "s3", "path": "/home/jdoe/a", "n": "3"})], ())

    def clean(text: str) -> str:
        return text.replace('"token": "s3"', '"token": "(hidden)"').replace("/home/jdoe/a", "(path)")

    varying, fixed = columns.cells("program/x", json.dumps({"token": "s3", "path": "/home/jdoe/a", "n": "3"}), clean)
    assert (varying, fixed) == ([], ["(hidden)", "(path)", "3"])


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
    read = [{name: row[name] for name in vars(line) if name != "knobs"} for row in table.to_pylist()]
    assert read == [{name: value for name, value in vars(one).items() if name != "knobs"} for one in lines]
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
