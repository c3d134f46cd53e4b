"""How far a page can be believed: its grade, its sentence, and the rows behind it."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fake_run import write_run
from found_run import Cell, found_run, taken
from octant.advice.findings import findings
from octant.analysis.causes import LossCounts
from octant.analysis.summary import Summary, summarise
from octant.record import RankTimes
from octant.report import claims
from octant.report.screen.answer import Reliability, Tile
from octant.report.screen.reliability import page_grade, reliability
from octant.report.screen.tiles import tiles
from octant.stats.grades import GRADE_NAMES, GradeName
from octant.store import Store
from paths import ROOT
from screen_run import SCREEN, WORKLOADS, rates, run_of, spread, summary_of


def said(summary: Summary) -> dict[str, tuple[str, str]]:
    return {row.what: (row.seen, row.so) for row in reliability(summary, tiles(summary)).rows}


@pytest.mark.parametrize(
    ("grades", "whole"),
    [
        (["reliable", "note", "limited"], "limited"),
        (["reliable", "not measurable"], "reliable"),
        (["not measurable"], "not measurable"),
        (["wrong", "reliable"], "wrong"),
        ([], "not measurable"),
    ],
)
def test_the_page_is_as_good_as_its_worst_tile(grades: list[GradeName], whole: GradeName) -> None:
    shown = [Tile("x", "y", number="1", grade=grade) for grade in grades]
    assert page_grade([*shown, Tile("z", "", missing="no MPI")]) == whole


@pytest.mark.parametrize("grade", GRADE_NAMES)
def test_the_printed_word_is_a_grade_of_the_glossary(grade: GradeName) -> None:
    glossary = (ROOT / "docs/glossary.md").read_text(encoding="utf-8")
    (row,) = re.findall(r"^- \*\*grade\*\*: (.*?)\.", glossary, re.MULTILINE)
    assert Reliability(grade, "", ()).word in re.split(", (?:or )?", row)


def lossy(share: float) -> Summary:
    """Every launch waited for so much of its time, and half of them twice as long."""
    run = run_of(rates([90e9] * 6))
    taken = [
        RankTimes(0, (10**9 * (1 + i % 2),), cpu_ns=(round(10**9 * (1 + i % 2) * (1 - share)),),
              wait_ns=(round(10**9 * (1 + i % 2) * share),), elapsed_ns=2 * 10**9, stolen_ns=0)
        for i in range(6)
    ]  # fmt: skip
    points = tuple(replace(p, taken=(one,)) for p, one in zip(run.points, taken, strict=True))
    return summarise(replace(run, points=points), WORKLOADS)


def test_time_lost_is_a_sum_over_a_sum_with_its_cause() -> None:
    summary = lossy(0.24)
    assert said(summary)["CPU time lost"] == (
        "24\u202f% on average, 24\u202f% at most, mostly to other processes", "all 6 measurements are used",
    )  # fmt: skip
    found = reliability(summary, tiles(summary))
    assert found.grade == "limited"
    assert found.text == "24\u202f% of the CPU time was lost, mostly to other processes."


def test_a_cause_that_took_no_time_or_less_than_half_is_not_called_the_main_one() -> None:
    assert said(lossy(0.0))["CPU time lost"][0] == "0.0\u202f% on average, 0.0\u202f% at most"
    quota = found_run([Cell("node/peakflops", [1e9] * 4)], taken(lost=0.1, throttled=0.11, stolen=0.09))
    points = [replace(p, taken=(replace(p.taken[0], wait_ns=(2 * 10**8,)),)) for p in quota.run.points]
    mixed = replace(quota, run=replace(quota.run, points=tuple(points)))
    assert "mostly" not in said(mixed)["CPU time lost"][0]
    assert "mostly" not in reliability(mixed, tiles(mixed)).text


def test_measurements_that_do_not_count_are_counted() -> None:
    """The finding and the row say the same of all figures, in the same words."""
    calm, busy = Cell("node/peakflops", [1e9] * 4), Cell("node/gemm", [1e9] * 4, table=False, lost=[0.6, 0.0, 0.6, 0.6])
    summary = found_run([calm, busy])
    text = said(summary)["CPU time lost"][1]
    assert text == "3 of 8 measurements lost over half of their time; they are excluded"
    (finding,) = (one for one in findings(found_run([replace(calm, lost=[0.3] * 4), busy])) if one.rule == "lost time")
    assert text in finding.body
    kept = said(found_run([calm, replace(busy, lost=[0.6] * 4)]))["CPU time lost"][1]
    assert kept.startswith("4 of 8 measurements lost over half of their time; they are shown")
    none = said(lossy(0.6))["CPU time lost"][1]
    assert none == "all 6 measurements lost over half of their time, so all are shown"
    few = [LossCounts(n, n, n).text for n in (1, 2)]
    assert few[0] == "the only measurement lost over half of its time, but is shown"
    assert few[1] == "both measurements lost over half of their time, so both are shown"


def test_a_mean_is_not_called_a_maximum() -> None:
    text = reliability(lossy(0.006), tiles(lossy(0.006))).text
    assert text.startswith("0.6\u202f% of the CPU time was lost")


def test_one_and_two_launches_are_no_interval() -> None:
    one = summary_of(rates([90e9]))
    assert (
        "Each figure is one launch, so the variation between launches is unknown." in reliability(one, tiles(one)).text
    )
    assert said(one)["Launches"][1] == "The variation between launches is unknown."
    two = summary_of(rates([90e9, 91e9]))
    assert "Two launches are too few for an interval." in reliability(two, tiles(two)).text


def test_a_wrong_result_and_an_unclear_one_come_first() -> None:
    wrong = summary_of(rates([90e9] * 6, passed=False))
    assert reliability(wrong, tiles(wrong)).text.startswith(
        "Peak failed verification, so no performance is reported for it."
    )
    assert said(wrong)["Checks"] == ("6 of 6 checks failed", "No performance is reported for Loop, 1 core.")
    wide = summary_of(rates(spread(90e9, 0.5)))
    assert reliability(wide, tiles(wide)).text.startswith("Peak could not be measured.")
    twice = [replace(tile, name=f"{size}, 1 core") for tile in tiles(wide)[:1] for size in ("16 KiB", "64 KiB")]
    assert reliability(wide, twice).text.startswith("2 figures could not be measured.")


def test_a_good_run_says_so_in_one_line_each() -> None:
    rows = said(summary_of(rates(spread(90e9, 0.01))))
    assert rows["Checks"] == ("all 6 checks passed", "All checked results are correct.")
    assert rows["Placement, pages"][0] == "read back, as requested"
    assert rows["Launches"][0] == "6 rounds over 5 minutes", "too few launches to tell whether neighbours are alike"
    assert rows["Sources disagree"][0].startswith("clock: 2.00 GHz (cpuinfo)")
    assert set(rows) >= {"CPU time lost", "Other sessions", "Precision"}


def test_a_doubtful_page_says_what_makes_it_so() -> None:
    summary = summary_of(rates(spread(90e9, 0.12)))
    found = reliability(summary, tiles(summary))
    assert found.grade == "limited"
    assert found.text.startswith("Peak: the 95 % interval is ± 1")


def test_four_sessions_on_a_machine_say_how_much_they_differ(tmp_path: Path) -> None:
    """Each is an hour or more after the one before; with three, other hours are still not measured."""
    factors = [1.0, 1.02, 0.98, 1.04]
    for number, factor in enumerate(factors):
        run = run_of(rates([90e9 * factor] * 6), screen=SCREEN)
        at = f"2026-11-2{number + 1}T21:45:30+00:00"
        dated = replace(run, started=at, id=f"2026112{number + 1}-214530-0000", folder=tmp_path / f"{number}")
        write_run(dated, tmp_path)
    store = Store(tmp_path)
    last = summarise(store.read(store.ids()[-1]), WORKLOADS, all_metrics=True)
    third = Store(tmp_path / "three")
    for name in store.ids()[1:]:
        write_run(store.read(name), third.root)
    few = summarise(third.read(third.ids()[-1]), WORKLOADS, all_metrics=True)
    expected = np.expm1(np.log(factors).std(ddof=1))
    assert said(last)["Other sessions"][1] == f"Sessions on this machine differ by {claims.percent(expected)}."
    assert said(last)["Other sessions"][0].startswith("4 sessions: standard deviation 2.6")
    assert said(few)["Other sessions"] == ("2 sessions stored", "The variation between sessions was not measured.")


def test_sizes_that_are_assumed_are_named() -> None:
    """A machine whose caches are not known: suites and limits use assumptions, and the report says which."""
    known = summary_of(rates(spread(90e9, 0.01)))
    assert "Assumed" not in said(known)
    here = known.run.machine
    blank = replace(here, topology=replace(here.topology, caches=None))
    unknown = replace(known, run=replace(known.run, machine=blank))
    assert said(unknown)["Assumed"][0].startswith("this machine does not state all sizes; suites and studies assume ")
    assert "last-level caches of 32 MiB" in said(unknown)["Assumed"][0]
