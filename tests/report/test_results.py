"""Everything of a cell is shown with its headline: results, checks, further metrics, phases, readings, groups."""

import csv
import dataclasses
import io
import re
from dataclasses import replace
from pathlib import Path

import pytest

from fake_run import WORKLOADS, fake_run, point
from halo_run import KNOWN, halo_run
from octant.analysis.summary import summarise
from octant.record import Failure, KeptFile, Result
from octant.report import results
from octant.report.export import tidy
from octant.report.page import run_page
from octant.report.tables import text
from pages import row_details
from reports import report_of

SUMMARY = summarise(halo_run(), KNOWN, all_metrics=True)


def test_the_terminal_shows_named_results_and_the_failed_check_with_value_and_bound() -> None:
    page = [line.plain for line in text.lines(report_of(SUMMARY), 100)]
    assert page.count("    iterations 42.5 (2 values: 42 … 43); overlap 0.71") == 4
    assert any("WRONG RESULT: residual bound: 17.2 > 16" in line for line in page)
    assert any(re.search(r"Halo, n 64, 4 ranks +wrong result: no performance reported", line) for line in page)


def test_a_check_that_is_no_number_says_so() -> None:
    check = Result("residual", float("nan"), "1", 16.0)
    figure = dataclasses.replace(SUMMARY.figures[0], wrong=(check,))
    assert results.failed_texts(figure) == ["residual: not a number (maximum 16)"]


@pytest.mark.parametrize(
    ("check", "said"),
    [
        (Result("exit", float("nan"), bound=0.0, where="not checked: no end after 2 s"),
         "exit: could not be checked (no end after 2 s)"),
        (Result("error", 0.0010001, bound=0.001, where="byte 3"), "error: 0.0010001 > 0.001 (byte 3)"),
    ],
)  # fmt: skip
def test_a_failed_check_says_what_is_wrong_with_it(check: Result, said: str) -> None:
    assert results.failed_texts(dataclasses.replace(SUMMARY.figures[0], wrong=(check,))) == [said]


def test_further_figures_are_metrics_then_phases_and_readings_without_those_that_a_metric_is() -> None:
    names = [figure.metric.name for figure in results.further_figures(SUMMARY, SUMMARY.figures[0])]
    assert names == [
        "bandwidth", "pack share", "residual", "mean step", "phase/pack", "phase/solve", "phase/solve/halo",
    ]  # fmt: skip


def test_a_metric_that_keeps_groups_has_a_value_for_each() -> None:
    bandwidth = SUMMARY.figure(SUMMARY.figures[0], "bandwidth")
    assert bandwidth is not None
    values = results.group_values(bandwidth)
    assert [name for name, _ in values] == ["0 1", "2 3"]
    assert [value for _, value in values] == pytest.approx([1e9, 0.5e9])
    assert results.group_text(bandwidth) == "groups 500 MB/s … 1.00 GB/s (2)"
    assert results.group_text(SUMMARY.figures[0]) == ""


def test_the_page_has_them_in_the_details_of_a_figure() -> None:
    page = run_page.render(report_of(SUMMARY))
    details = row_details(page)["0"]
    for cells in (
        "<td>iterations</td><td>42.5 (2 values: 42 … 43)</td><td></td>",
        "<td>residual bound</td><td>3</td><td>16</td>",
        "<td>phase/pack</td><td>3.00 µs</td>",
        "<td>0 1</td><td>1.000 GB/s</td>",
    ):
        assert cells in details
    assert "wrong result: residual bound: 17.2 &gt; 16" in page


def exported(what: tidy.What) -> list[dict[str, str]]:
    file = io.BytesIO()
    tidy.write(SUMMARY, "csv", what, file)
    return list(csv.DictReader(io.StringIO(file.getvalue().decode(), newline="")))


def test_exports_have_results_checks_phases_and_readings() -> None:
    rows = exported("results")
    assert len(rows) == 4 * 2 * 3
    assert [row["passed"] for row in rows if row["result"] == "residual bound"].count("false") == 1
    assert {row["passed"] for row in rows if row["result"] == "overlap"} == {""}
    samples = exported("samples")
    assert {(row["series"], row["unit"]) for row in samples} == {
        ("step", "ns"), ("phase/pack", "ns"), ("phase/solve", "ns"), ("phase/solve/halo", "ns"),
        ("reading/residual", "1"),
    }  # fmt: skip
    assert {(row["group"], row["rank"]) for row in samples} == {("0", "0"), ("0", "1"), ("1", "2"), ("1", "3")}
    assert "phase/solve" in {row["metric"] for row in exported("figures")}


def test_a_failed_check_says_where_its_first_wrong_value_is() -> None:
    headline = next(figure for figure in SUMMARY.figures if figure.wrong)
    placed = dataclasses.replace(
        headline, wrong=tuple(dataclasses.replace(one, where="rank 1, byte 17") for one in headline.wrong)
    )
    assert results.failed_texts(placed) == [f"{text} (rank 1, byte 17)" for text in results.failed_texts(headline)]


def test_the_files_of_each_launch_are_one_row() -> None:
    stored = KeptFile("field.bin", "field", 2 << 20, rank=1, crc="0123abcd", stored="a-0.1/0.1.field.bin")
    unstored = KeptFile("log", "output", 20 << 20, left_out="larger than 16 MiB")
    many = tuple(replace(stored, name=f"f{number}") for number in range(10))
    points = [
        point(launch="a-0", files=(stored,)), point(launch="b-0"), point(launch="c-0", files=many),
        point(launch="a-0", files=(unstored,)),
    ]  # fmt: skip
    failure = Failure("program/app", "d-0", {}, 1, "ended", 1, files=(stored,))
    (first, both), (last, short), failed = results.kept_file_texts([*points, failure])
    assert failed == ("d-0", "field.bin (field, 2 MiB, rank 1)")
    assert (first, last) == ("a-0", "c-0")
    assert both == "field.bin (field, 2 MiB, rank 1); log (output, 20 MiB, rank 0, not stored: larger than 16 MiB)"
    assert short.endswith("f7 (field, 2 MiB, rank 1); and 2 more files")


def test_the_files_of_a_program_are_one_row_for_each_combination_of_knobs() -> None:
    def left(number: int, n: int, *names: str, why: str = "", request: str = "app-1") -> Failure:
        files = tuple(
            KeptFile(name, "output", 5, stored="" if why else f"{request}-{number}.{n}/0.0.{name}", left_out=why)
            for name in names
        )
        return Failure("program/app", f"{request}-{number}", {"n": str(n)}, 1, "ended", 1, files=files)

    launches = [left(number, n, "stdout") for number in range(6) for n in (1, 2)]
    launches += [left(6, 2, "stdout", "stderr"), left(7, 2), left(0, 4), left(7, 3, "big", why="larger than 16 MiB")]
    kernel = point(launch="a-0", files=(KeptFile("field.bin", "field", 5, stored="a-0.1/0.1.field.bin"),))
    folder = Path("store/runs/r")
    assert results.program_file_texts([*launches, kernel], folder) == [
        "in store/runs/r/files, one folder per launch",
        "n=1: 6 launches: stdout; for example app-1-5.1",
        "n=2: 8 launches: stdout (7 of 8), stderr (1 of 8); for example app-1-6.2",
        "n=3: 1 launch: big (not stored: larger than 16 MiB)",
    ]
    two = [left(0, 1, "stdout"), left(0, 1, "stdout", request="app-2")]
    assert results.program_file_texts(two, folder)[1] == "app-1 n=1: 1 launch: stdout; for example app-1-0.1"
    many = results.program_file_texts([left(0, n, *"abcdefghij") for n in range(20)], folder)
    assert (len(many), many[-1]) == (18, "and 4 more combinations of knobs")
    assert many[1] == "n=0: 1 launch: a, b, c, d, e, f, g, h, and 2 more names; for example app-1-0.0"
    assert results.program_file_texts([kernel], folder) == []


def test_table_and_json_list_the_files_of_launches() -> None:
    run = fake_run(repeats=1)
    file = KeptFile("field.bin", "field", 16, crc="0123abcd", stored="a-0.1/0.0.field.bin")
    last = replace(run.points[-1], files=(file,))
    summary = summarise(replace(run, points=(*run.points[:-1], last)), WORKLOADS)
    shown = [line.plain for line in text.lines(report_of(summary), 200)]
    assert shown[shown.index("Files") + 1] == f"  {last.launch}: field.bin (field, 16 B, rank 0)"
    assert tidy.document(report_of(summary))["files"] == [
        {"launch": last.launch, "name": "field.bin", "kind": "field", "bytes": 16, "rank": 0, "crc": "0123abcd",
         "stored": "a-0.1/0.0.field.bin", "left_out": ""}
    ]  # fmt: skip


def test_files_of_failed_launches_are_listed_with_the_others() -> None:
    run = fake_run(repeats=1)
    file = KeptFile("stderr", "output", 16, crc="0123abcd", stored="a-0.1/0.0.stderr")
    failure = Failure("program/app", "app-0", {}, 1, "ended", 1, files=(file,))
    report = report_of(summarise(replace(run, failures=(failure,)), WORKLOADS))
    shown = [line.plain for line in text.lines(report, 200)]
    place = shown.index("Files") + 1
    assert shown[place : place + 2] == [
        f"  in {run.folder / 'files'}, one folder per launch", "  1 launch: stderr; for example a-0.1",
    ]  # fmt: skip
    document = tidy.document(report)
    assert document["failures"] == [
        {"workload": "program/app", "launch": "app-0", "knobs": {}, "ranks": 1, "reason": "ended", "exit": 1,
         "share": None, "phase": ""}
    ]  # fmt: skip
    assert document["files"] == [{"launch": "app-0", **dataclasses.asdict(file)}]
    assert tidy.document(report, files=False)["files"] == []
