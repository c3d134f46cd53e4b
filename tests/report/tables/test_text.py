"""The terminal table: it fits, it aligns, it says what is wrong, and nothing from outside steers the terminal."""

import dataclasses
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fake_run import WORKLOADS, fake_run, machine
from octant.analysis import summary
from octant.analysis.summary import summarise
from octant.machine import Disagreement
from octant.record import Result
from octant.report import claims
from octant.report.charts import terminal
from octant.report.page import run_page
from octant.report.tables import text
from octant.store import StoredRun
from reports import report_of


def shown(run: StoredRun, width: int = 100) -> str:
    return "\n".join(line.plain for line in text.lines(report_of(summarise(run, WORKLOADS)), width))


@pytest.mark.parametrize("width", [60, 80, 100, 120, 200])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    assert max(map(len, shown(fake_run(), width).splitlines())) <= width


def test_a_row_reads_as_written_here() -> None:
    page = shown(fake_run(), 120)
    row = "Double, 512-bit, 1 core             93.8 Gflop/s    93.6 … 94.0         1   98 % ███████▉"
    assert row in page
    assert "32 flop per cycle at 2.99 GHz (measured)" in page
    assert "other processes used CPU time during the measurement" not in page, "a note"
    assert "latency pages=1GiB: no 1 GiB pages are reserved" in page
    assert "stated: 2.00 GHz; measured: 2.99 GHz" in page
    assert "triad ladder" not in page  # curves belong to the report


def test_a_figure_that_provides_a_limit_is_shown_as_the_limit_and_has_no_share() -> None:
    run = fake_run()
    alone = dataclasses.replace(run, points=tuple(p for p in run.points if "triad" in p.knobs.get("kernel", "")))
    rows = [line for line in shown(alone, 100).splitlines() if line.startswith("  Triad, ")]
    assert all(row.endswith("  best of this run") for row in rows[:2])
    assert "%" not in "".join(rows[:2])
    page = run_page.render(report_of(summarise(alone, WORKLOADS)))
    assert page.count('<td class="share">best of this run</td>') == 2


def test_the_narrow_table_says_what_the_limits_are_below() -> None:
    page = shown(fake_run(), 80)
    assert " 98 %  a" in page
    assert "a  100 % is 32 flop per cycle at 2.99 GHz (measured)" in page


def test_limits_beyond_the_alphabet_have_marks_of_their_own() -> None:
    marks = [claims.mark(number) for number in range(1000)]
    assert len(set(marks)) == 1000
    assert (marks[25], marks[26], marks[52]) == ("z", "aa", "ba")


def test_sizes_that_a_launch_swept_are_named_as_people_read_them() -> None:
    knobs = {"bytes": "134217728", "n": "134217728"}
    assert [summary._value_text(name, value) for name, value in knobs.items()] == ["128 MiB", "134217728"]
    assert [summary._value_text("bytes", value) for value in ("0", "1000000", "1GiB")] == ["0 B", "1000000", "1GiB"]


def test_no_column_is_empty_if_no_figure_has_a_limit() -> None:
    run = fake_run()
    assert "of limit" in shown(run, 200)
    unlimited = dataclasses.replace(run, points=tuple(p for p in run.points if p.workload == "node/noise"))
    assert "limit" not in shown(unlimited, 200).replace("Limits", "")


def test_the_same_failure_is_shown_once() -> None:
    run = fake_run()
    page = shown(dataclasses.replace(run, failures=run.failures * 3))
    assert page.count("no 1 GiB pages are reserved") == 1


def test_repeated_launches_are_one_row_that_says_so() -> None:
    page = shown(fake_run(repeats=3), 120)
    assert page.count("8 B, hot buffers") == 1


def test_a_wrong_result_has_no_speed() -> None:
    run = fake_run()
    wrong = (Result("sum of the array", 3.0, "1", 1e-9), Result("iterations", 42.0))
    page = shown(dataclasses.replace(run, points=tuple(dataclasses.replace(p, results=wrong) for p in run.points)), 120)
    assert "wrong result: no performance reported" in page
    assert "sum of the array: 3 > 1e-09" in page
    assert "Gflop/s" not in page


class Terminal(io.TextIOWrapper):
    """A stream of a chosen encoding."""


def test_a_piped_table_is_as_wide_as_columns_says(monkeypatch: pytest.MonkeyPatch) -> None:
    widths = []
    for named in ("70", "140"):
        monkeypatch.setenv("COLUMNS", named)
        file = io.StringIO()
        text.show(report_of(summarise(fake_run(), WORKLOADS)), file)
        widths.append(max(map(len, file.getvalue().splitlines())))
    assert widths[0] <= 70 < widths[1] <= 140


def test_a_pipe_gets_no_colours_and_an_ascii_locale_only_ascii() -> None:
    for encoding in ("utf-8", "ascii", "iso-8859-1"):
        raw = io.BytesIO()
        stream = Terminal(raw, encoding=encoding, newline="\n")
        text.show(report_of(summarise(fake_run(on=machine(name="knoten-ä-\x1b[31m")), WORKLOADS)), stream)
        stream.flush()
        content = raw.getvalue()
        assert b"\x1b" not in content
        if encoding == "ascii":
            content.decode("ascii")
            assert b"98 % ########" in content
            assert b"knoten-\\xe4" in content


def test_an_unfinished_run_says_how_to_go_on() -> None:
    run = fake_run()
    page = shown(dataclasses.replace(run, points=run.points[:-1]))
    assert f"octant resume {run.id}" in page


@pytest.mark.parametrize(("sources", "said"), [("all", "Trusted: measured"), ("names", "see octant machine")])
def test_sources_that_disagree_are_said_as_often_as_asked(sources: text.Sources, said: str) -> None:
    """In full in a report, once by name after an evaluation, and not after every run."""
    disagreement = Disagreement("clock", (("stated", "2.6 GHz"), ("measured", "3.5 GHz")), "measured")
    disputed = dataclasses.replace(machine(), disagreements=(disagreement,))
    found = summarise(dataclasses.replace(fake_run(), machine=disputed), WORKLOADS)
    page = "\n".join(line.plain for line in text.lines(report_of(found), 100, sources=sources))
    assert said in page
    assert "clock" in page
    quiet = "\n".join(line.plain for line in text.lines(report_of(found), 100, sources="none"))
    assert "disagree" not in quiet


def test_an_empty_run_is_said_to_be_empty() -> None:
    assert "Nothing was measured." in shown(dataclasses.replace(fake_run(), points=()))


def test_workloads_that_are_not_here_are_shown_from_their_records_and_mentioned() -> None:
    known = {name: workload for name, workload in WORKLOADS.items() if name != "node/gemm"}
    page = "\n".join(line.plain for line in text.lines(report_of(summarise(fake_run(), known)), 200))
    assert "  this installation has no workload node/gemm; its figures come from the records alone" in page
    rows = page.partition("node/gemm · step time, s\n")[2].splitlines()[:3]
    assert [row.split()[:4] for row in rows] == [["Double,", "n", "=", "448,"]] * 3
    assert all("2.00 ms" in row for row in rows)


@given(st.floats(0, 2), st.integers(1, 20))
def test_a_bar_is_as_long_as_asked(share: float, cells: int) -> None:
    assert len(terminal.bar(share, cells)) == cells
    assert (terminal.bar(share, cells) == "█" * cells) == (share * 8 * cells >= 8 * cells - 0.5)
