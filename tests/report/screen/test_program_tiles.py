"""The first screen of a run of a user's program: its times, those of the last run, and its placement."""

import datetime
import json
import re
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fake_run import GIB, machine
from octant.analysis.compare import compare
from octant.analysis.summary import Summary
from octant.program import ProgramValue
from octant.report import claims
from octant.report.charts.pictures import pictures
from octant.report.comparison import statements
from octant.report.export import tidy
from octant.report.page import run_page
from octant.report.screen.answer import Tile
from octant.report.screen.first_screen import RunReport, first_screen
from octant.report.screen.tiles import answer_text, tiles
from octant.report.tables import text
from octant.units import NARROW
from program_run import BEGUN, RankSeen, Seen, launches, program_summary, request_of
from reports import report_of

TWO = RankSeen(user=1.9, system=0.05, cpus=(0, 1), masks=((0, 1), (0, 1)), nodes={"0": 3 * GIB}, huge=GIB)
ONE = Seen(ranks=[TWO], memory=int(3.2 * GIB))
LATER = BEGUN + datetime.timedelta(days=1)


def shown(summary: Summary) -> dict[str, Tile]:
    """The tiles by name, with plain spaces."""

    def plain(text: str) -> str:
        return text.replace(NARROW, " ")

    return {
        tile.name: replace(
            tile, of=plain(tile.of), interval=plain(tile.interval), also=tuple(map(plain, tile.also))
        )
        for tile in tiles(summary)
    }  # fmt: skip


def of_one(root: Path, seen: Seen = ONE, **changes: Any) -> Summary:
    return program_summary(root, changes.pop("request", request_of()), [launches(seen)], **changes)


def test_cpu_utilisation_is_in_percent_in_tables_and_a_number_in_exports(tmp_path: Path) -> None:
    summary = of_one(tmp_path)
    found = summary.figure(summary.figures[0], "CPU utilisation")
    assert found is not None
    texts = claims.figure_texts(found)
    assert (texts.number, texts.unit) == ("97.5", "%")
    figures = json.loads(tidy.as_json(report_of(summary)))["figures"]
    (row,) = [one for one in figures if one["metric"] == "CPU utilisation"]
    assert (row["unit"], row["median"]) == ("1", pytest.approx(0.975))


def test_one_cell_has_time_memory_processors_lost_time_and_placement(tmp_path: Path) -> None:
    found = shown(of_one(tmp_path))
    assert list(found) == ["Wall time", "Memory", "CPU utilisation", "Time lost", "Placement"]
    assert (found["Wall time"].number, found["Wall time"].unit) == ("1.000", "s")
    assert found["Wall time"].also == ("launches differ by 1.0 %",)
    assert (found["Memory"].number, found["Memory"].unit) == ("3.20", "GiB")
    assert found["Memory"].also == ("private memory 3.00 GiB", "33 % of it on huge pages")
    assert (found["CPU utilisation"].number, found["CPU utilisation"].what) == ("97.5", "of 2 hardware threads")
    assert found["CPU utilisation"].also == ("1.95 cores used", "2.6 % of the CPU time in the kernel")
    assert found["Time lost"].number == "0"
    placement = found["Placement"]
    assert (placement.number, placement.unit, placement.what) == ("2", "threads", "observed on 0-1")
    assert placement.also == ("memory on node 0", "33 % on huge pages")


def test_a_value_of_the_user_is_the_headline_and_the_wall_time_follows(tmp_path: Path) -> None:
    request = request_of(values=(ProgramValue("rate", "flop/s", "higher", pattern="(.*)"),))
    found = shown(of_one(tmp_path, replace(ONE, values={"rate": (2.5e9, "flop/s")}), request=request))
    assert list(found)[:2] == ["rate", "Wall time"]
    assert (found["rate"].number, found["rate"].unit) == ("2.50", "Gflop/s")


@pytest.mark.parametrize(
    ("unit", "value", "number"),
    [
        ("Mop/s", 1234.5, "1234"), ("Gflop/s", 0.000451, "0.000451"), ("%", 0.25, "0.250"), ("ms", 2500, "2500"),
        ("min", 0.5, "0.500"), ("keV", 1e6, "1000000"),
    ],
)  # fmt: skip
def test_a_unit_that_has_a_prefix_gets_no_second_one(tmp_path: Path, unit: str, value: float, number: str) -> None:
    request = request_of(values=(ProgramValue("rate", unit, "higher", pattern="(.*)"),))
    found = shown(program_summary(tmp_path, request, [[replace(ONE, values={"rate": (value, unit)})]]))
    assert (found["rate"].number, found["rate"].unit) == (number, unit)


def test_the_answer_is_a_sentence(tmp_path: Path) -> None:
    one = of_one(tmp_path / "one")
    assert answer_text(one, tiles(one)).replace(NARROW, " ") == (
        "solve took 1.000 s, kept 1.95 of 2 hardware threads busy and used at most 3.20 GiB in a process."
    )
    request = request_of(("./solve", "{n}", "{s}"), knobs={"n": "1,2", "s": "static,guided"})
    cells = [launches(replace(ONE, wall=wall)) for wall in (1.0, 1.1, 2.0, 2.2)]
    several = program_summary(tmp_path / "several", request, cells)
    assert answer_text(several, tiles(several)).replace(NARROW, " ") == (
        "solve: the best wall time of 4 combinations is 1.000 s (n 1, static), the worst 2.200 s (n 2, guided)."
    )
    assert list(shown(several))[:2] == ["n 1, static", "n 2, guided"]
    assert [figure.name for figure in several.figures][:2] == ["solve, n 1, s static", "solve, n 1, s guided"]


def test_a_wrong_result_has_no_speed(tmp_path: Path) -> None:
    wrong = replace(ONE, checks={"residual: difference from 0": (1.0, 1e-9)})
    summary = of_one(tmp_path, wrong)
    assert shown(summary)["Wall time"].number == "wrong result"
    assert "took" not in answer_text(summary, tiles(summary))
    first = first_screen(summary)
    assert first.findings[0].rule == "wrong results"
    assert "no performance" not in first.findings[0].body.lower(), "the table of reliability states it"
    assert any("No performance is reported" in row.so for row in first.reliability.rows)


def test_the_ends_of_a_share_have_its_unit(tmp_path: Path) -> None:
    for repeats in (2, 6):
        cells = [launches(ONE, repeats, 0.02)]
        tile = shown(program_summary(tmp_path / str(repeats), request_of(), cells))["CPU utilisation"]
        assert tile.unit == "%"
        low, high = (float(end) for end in re.split(" … | and ", tile.ends))
        assert low <= float(tile.number) <= high, tile


@pytest.mark.parametrize(("wall", "word"), [(0.97, "faster"), (1.0, "no difference"), (1.1, "slower")])
def test_the_time_is_compared_with_the_last_comparable_run(tmp_path: Path, wall: float, word: str) -> None:
    of_one(tmp_path)
    other = request_of(("./solve", "other"))
    of_one(tmp_path, replace(ONE, wall=5.0), request=other, begun=BEGUN + datetime.timedelta(hours=3))
    found = shown(of_one(tmp_path, replace(ONE, wall=wall), begun=LATER))["Wall time"].of
    assert word in found
    assert "of 25 Nov" in found
    if word == "no difference":
        assert "smallest detectable difference: " in found
    else:
        change = abs(100 * (1 / wall - 1))
        assert f"{change:.1f} % {word} than run 2026" in found
        assert "95 % interval of these two sessions)" in found


def test_launches_of_two_runs_that_overlap_prove_no_difference(tmp_path: Path) -> None:
    program_summary(tmp_path, request_of(), [launches(ONE, spread=0.1)])
    later = program_summary(tmp_path, request_of(), [launches(replace(ONE, wall=1.05), spread=0.1)], begun=LATER)
    assert "no difference to run" in shown(later)["Wall time"].of
    few = program_summary(tmp_path, request_of(), [launches(ONE, 2)], begun=LATER + datetime.timedelta(days=1))
    assert "too few launches for an interval" in shown(few)["Wall time"].of


def test_a_run_without_another_one_is_compared_with_nothing(tmp_path: Path) -> None:
    assert shown(of_one(tmp_path))["Wall time"].of == ""
    of_one(tmp_path / "b", on=machine(cores=4))
    assert shown(of_one(tmp_path / "b", begun=LATER))["Wall time"].of == "", "that was another machine"
    of_one(tmp_path / "c", begun=LATER)
    assert shown(of_one(tmp_path / "c"))["Wall time"].of == "", "that was later"


def test_what_the_system_took_is_shown_by_cause(tmp_path: Path) -> None:
    taken = replace(TWO, user=1.2, throttled=0.2, stolen=0.1)
    found = shown(of_one(tmp_path, replace(ONE, ranks=[taken], pressure=0.3)))["Time lost"]
    assert found.unit == "% of time"
    assert found.interval == "sum over 6 launches"
    assert found.also == (
        "in addition, at most 10 % of a launch waiting for a CPU",
        "5 involuntary switches in a launch",
    )
    assert found.bar is not None
    assert dict(found.bar.shares).keys() == {"a CPU quota", "the host"}


def test_what_is_lost_at_most_makes_time_doubtful_and_memory_not(tmp_path: Path) -> None:
    found = shown(of_one(tmp_path, replace(ONE, ranks=[replace(TWO, user=0.2)], pressure=0.99, preemptions=500)))
    assert (found["Time lost"].number, found["Time lost"].grade) == ("0", "reliable"), "a bound is no value"
    assert found["Wall time"].grade == "limited"
    assert found["Memory"].grade == "reliable"


def test_a_program_that_nothing_looked_at_says_so(tmp_path: Path) -> None:
    short = replace(ONE, wall=0.01, ranks=[RankSeen(0.009, 0.001, (), ((0, 1),), stolen=None)])
    found = shown(of_one(tmp_path, short))
    assert found["Placement"].missing == "the program ended before its threads could be observed"
    assert found["Time lost"].missing == "not recorded"


ODD = ("./Grid Solve.v2", "<script>alert(1)</script>", "名前", "a" * 80, "x,y")


@pytest.mark.parametrize("name", ODD)
def test_a_program_of_any_name_has_a_page(tmp_path: Path, name: str) -> None:
    request = request_of((name, "{n}", "{s}"), ranks=2, knobs={"n": "1,2", "s": "static,guided"})
    rank = RankSeen(user=0.5, system=0.1)
    cells = [launches(Seen(wall=wall, ranks=[rank, replace(rank, user=0.6)])) for wall in (1.0, 1.1, 2.0, 2.1)]
    summary = program_summary(tmp_path, request, cells)
    drawn = pictures(summary)
    kinds = ["curve", "bars", "ranks"]
    assert [one.id.rpartition("-")[2] for one in drawn] == kinds
    assert all(one.id.isascii() and not {" ", "<", "/"} & set(one.id) for one in drawn)
    report = RunReport(summary, first_screen(summary), drawn)
    html = run_page.render(report)
    assert "<script>alert(1)" not in html
    for width in (60, 80, 100, 200):
        for line in text.lines(report, width):
            assert len(line.plain) <= width or line.plain.strip().startswith(("octant", "sudo", "run 2026"))
    assert not first_screen(summary).absent


def test_a_comparison_of_stored_programs_advises_a_line_that_names_them_again(tmp_path: Path) -> None:
    """`octant compare --rounds A B` would start what only the store names, and is refused."""
    request = request_of(("./solve", "{n}", "a b"), knobs={"n": "1,2"}, environment={"OMP_SCHEDULE": "static"})
    before, after = (program_summary(tmp_path, request, [launches(ONE)] * 2, begun=begun) for begun in (BEGUN, LATER))
    (step,) = statements.steps(compare(before, after))
    (line,) = step.lines
    words = ["octant", "compare", "n=1,2", "--env", "OMP_SCHEDULE=static", "--", "./solve", "{n}", "a b"]
    assert shlex.split(line) == [*words, "--", "./solve", "{n}", "a b"]
