"""This machine among published systems: its last run of HPC Challenge, or the command that makes one."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fake_run import fake_run, lane, point, stored, write_run
from octant.benchmarks.table import read_tests
from octant.cli._own_run import own_run
from octant.report.study.pictures import pictures
from octant.report.study.text import report_text
from octant.request import Launch, Presentation, Request, Shape, Subject
from octant.stats import Interval
from octant.study import outcome
from octant.study.local_reference import NO_LOCAL_RUN, LocalRun
from octant.study.parts import Cell

pytest.importorskip("octant._network")
OWN = LocalRun(
    "29991231-000000-aaaa", "mine", 2026, {"HPL": Interval(50.0, 50.0, 50.0), "PTRANS": Interval(9e6, 9e6, 9e6)}
)


def test_this_machine_is_a_row_and_a_mark_at_the_year_of_its_run() -> None:
    found = outcome.outcome_of_model("hpcc-normalised", OWN)
    assert found.values.by_cell[Cell("HPL", ("this machine",))][""].value.middle == 50.0
    text = report_text(found)
    assert "this machine: mine, run 29991231-000000-aaaa" in text
    assert "run 29991231-000000-aaaa has no RandomAccess relative to peak: RandomAccess: this machine" in text
    by_title = {picture.title: picture.panels[0] for picture in pictures(found)}
    (own,) = (one for one in by_title["HPL over peak, by year"].series if one.name == "this machine")
    assert (own.x, own.y, own.labels) == ((2026.0,), (50.0,), ("mine",))
    there = by_title["RandomAccess over peak, by year"].series
    assert [one.name for one in there] == ["published"]
    assert dict(zip(there[0].labels, there[0].x, strict=True)) == {"power575": 2008, "power775": 2012, "bgq": 2012}


def test_without_a_run_the_command_that_makes_one_is_named() -> None:
    text = report_text(outcome.outcome_of_model("hpcc-normalised"))
    assert "no run of octant hpcc in the store; try octant hpcc: RandomAccess: this machine" in text
    assert "What to do next\n1. Nothing more to do here" in text
    assert outcome.wanted_local_run("hpcc-normalised") == "normalised"
    assert outcome.wanted_local_run("memory-latency-generations") == "published"
    assert outcome.wanted_local_run("gups-scaling") == ""


def test_a_store_without_such_a_run_has_none(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    assert own_run(tmp_path / "store", "normalised") == NO_LOCAL_RUN
    write_run(fake_run(Path("runs", "29991231-000000-aaaa")), tmp_path / "store")
    assert own_run(tmp_path / "store", "normalised") == NO_LOCAL_RUN


def test_the_newest_run_of_the_benchmark_is_found_whatever_its_title_is(tmp_path: Path) -> None:
    launches, points = [], []
    for name, knobs, notes in (("Peak of all ranks", {"element": "double"}, {"width": "512"}), ("HPL", {"n": "9"}, {})):
        (test,) = (one for one in read_tests("hpcc") if one.name == name)
        launches.append(Launch(Request(Subject(test.workload), knobs, Shape(2), show=Presentation("a row", test=name))))
        lanes = tuple(lane([1_000_000] * 20, rank=rank) for rank in range(2))
        points.append(point(
            workload=test.workload, launch=launches[-1].key, knobs=knobs, ranks=2, lanes=lanes,
            counts={"flops": 10**9}, notes=notes, pace="whole" if name == "HPL" else "chunks",
        ))  # fmt: skip
    for minute, (title, benchmark) in enumerate((("a title", "hpcc"), ("hpcc --quick", ""))):
        run = stored(launches, points, folder=Path("runs", f"20261121-10{minute:02}00-aaaa"), title=title)
        write_run(replace(run, benchmark=benchmark), tmp_path)
    found = own_run(tmp_path, "normalised")
    assert (found.id, set(found.figures)) == ("20261121-100000-aaaa", {"HPL"})
