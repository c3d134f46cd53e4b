"""Exports: three formats, the same numbers, whatever the locale."""

import csv
import dataclasses
import io
import json
import locale
from pathlib import Path

import duckdb
import pytest

from fake_run import WORKLOADS, fake_run
from octant.failure import Refusal
from octant.record import Check
from octant.report.run import tidy

RUN = fake_run(repeats=2)


def rows(content: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(content.decode(), newline="")))


def test_csv_has_one_row_a_figure_with_the_numbers_that_were_put_in() -> None:
    found = rows(tidy.export(RUN, "csv", False, WORKLOADS))
    peak = next(row for row in found if row["workload"] == "node/peakflops" and row["mode"] == "one")
    assert float(peak["median"]) == pytest.approx(9_380_000 / 100e-6)
    assert float(peak["of_limit"]) == pytest.approx(93.8 / 95.7)
    assert (peak["launches"], peak["unit"], peak["better"], peak["passed"]) == ("2", "flop/s", "higher", "true")
    assert json.loads(peak["knobs"])["width"] == "512"
    titles = {(row["workload"], row["title"], row["mode"], row["ranks"], row["knobs"]) for row in found}
    assert len(titles) == len(found)


def test_every_sample_of_the_run_is_exported() -> None:
    found = rows(tidy.export(RUN, "csv", True, WORKLOADS))
    assert len(found) == sum(len(lane.duration_ns) for p in RUN.points for lane in p.lanes)
    assert sum(int(row["duration_ns"]) for row in found) == sum(
        sum(lane.duration_ns) for p in RUN.points for lane in p.lanes
    )


@pytest.mark.parametrize("samples", [False, True])
def test_parquet_and_csv_say_the_same(tmp_path: Path, samples: bool) -> None:
    file = tmp_path / "run.parquet"
    file.write_bytes(tidy.export(RUN, "parquet", samples, WORKLOADS))
    text = rows(tidy.export(RUN, "csv", samples, WORKLOADS))
    table = duckdb.read_parquet(str(file))
    assert table.columns == list(text[0])
    column = "duration_ns" if samples else "median"
    assert [row[0] for row in table.select(column).fetchall()] == [float(row[column]) for row in text]
    assert {row[0] for row in table.select("mode").fetchall()} == {row["mode"] for row in text}


def test_json_and_csv_say_the_same() -> None:
    document = json.loads(tidy.export(RUN, "json", False, WORKLOADS))
    text = rows(tidy.export(RUN, "csv", False, WORKLOADS))
    assert [figure["median"] for figure in document["figures"]] == [float(row["median"]) for row in text]
    assert document["failures"][0]["reason"].startswith("no 1 GiB pages")
    lines = tidy.export(RUN, "json", True, WORKLOADS).splitlines()
    assert len(lines) == len(rows(tidy.export(RUN, "csv", True, WORKLOADS)))
    assert json.loads(lines[0])["duration_ns"] > 0


def test_a_wrong_answer_has_no_number() -> None:
    wrong = Check("sum of the array", 3.0, 1e-9, False)
    run = dataclasses.replace(RUN, points=tuple(dataclasses.replace(p, verdict=wrong) for p in RUN.points))
    for row in rows(tidy.export(run, "csv", False, WORKLOADS)):
        assert (row["median"], row["low"], row["of_limit"], row["passed"]) == ("", "", "", "false")


def test_a_locale_with_decimal_commas_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    before = tidy.export(RUN, "csv", False, WORKLOADS)
    kept = locale.setlocale(locale.LC_NUMERIC)
    known = [name for name in ("de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8") if _settable(name)]
    if not known:
        pytest.skip("no locale with decimal commas is installed here")
    try:
        locale.setlocale(locale.LC_NUMERIC, known[0])
        assert tidy.export(RUN, "csv", False, WORKLOADS) == before
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
        tidy.export(RUN, "xls", False, WORKLOADS)


def test_titles_with_quotes_commas_and_line_ends_survive() -> None:
    nasty = 'a "quoted", title\nof two lines'
    run = dataclasses.replace(RUN, launches=tuple(dataclasses.replace(x, title=nasty) for x in RUN.launches))
    assert rows(tidy.export(run, "csv", False, WORKLOADS))[0]["title"] == nasty
