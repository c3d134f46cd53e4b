"""Planted programs: a wrong result is never a performance value, and what is missing or cannot be checked is said."""

import json
import re
import sys
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from octant.failure import Exit
from octant.store import Store, StoredRun
from pages import row_details
from paths import Octant

SOLVER = r"""
import os, random, sys, time
n, mode = int(sys.argv[1]), open("mode").read()
wrong = mode == "wrong" and n > 1
time.sleep(0.0 if wrong else 0.05)
print(f"Mop/s total = {100.0 * n}")
print(f"residual = {0.5 if wrong else 1e-3 * (1 + 0.05 * random.random()) if mode == 'random' else 1e-3!r}")
data = os.urandom(8) if mode == "random" else b"12345678"
open("out.dat", "wb").write(data if not wrong else b"1234567X")
sys.exit(3 if mode == "status" else 0)
"""
RATE = "rate[Mop/s]=Mop/s total *= *([0-9.]+)"


class Runs:
    """Measures the solver with n=1,2 and two launches of each."""

    def __init__(self, octant: Octant, folder: Path) -> None:
        self.octant, self.folder = octant, folder
        (folder / "solver.py").write_text(SOLVER)

    def __call__(self, mode: str, *options: str) -> "CompletedProcess[str]":
        (self.folder / "mode").write_text(mode)
        words = ("run", "n=1,2", "--repeats", "2", *options, "--", sys.executable, "solver.py", "{n}")
        return self.octant(*words, cwd=self.folder)

    def last(self) -> StoredRun:
        return Store(self.folder / "store").newest()[0]


@pytest.fixture
def measure(octant: Octant, tmp_path: Path) -> Runs:
    return Runs(octant, tmp_path)


def test_a_right_answer_has_its_value_and_its_times(measure: Runs) -> None:
    done = measure("right", "--value", RATE, "--check", "residual within 1e-9", "--check", "file out.dat")
    assert done.returncode == 0, done.stderr
    run = measure.last()
    assert len(run.points) == 4
    for point in run.points:
        values = {one.name: one.value for one in point.results if one.bound is None}
        assert values["rate"] == 100 * int(point.knobs["n"])
        assert values["residual"] == 1e-3
        assert values["wall time"] >= 0.05
        assert len(point.checks) == 2
        assert point.process.build["solver.py"]
        assert len([name for name in point.process.build if name.startswith("libc.so")]) == 1
        assert [len(one) for one in (point.given, point.taken)] == [1, 1]
        names = {head.name for head in point.heads}
        assert {"reading/wall time", "reading/memory", "reading/major page faults"} <= names


@pytest.mark.parametrize("check", ["residual within 1%", "file out.dat"])
def test_a_wrong_result_that_is_faster_is_never_reported_as_faster(measure: Runs, check: str) -> None:
    right = measure("right", "--check", check)
    assert right.returncode == 0, right.stderr
    before = measure.last().id
    done = measure("wrong", "--check", check)
    assert done.returncode == Exit.WRONG_ANSWER
    assert "WRONG RESULT" in done.stderr
    run = measure.last()
    assert {(point.knobs["n"], point.passed) for point in run.points} == {("1", True), ("2", False)}
    exported = json.loads(measure.octant("report", "--json", cwd=measure.folder).stdout)
    wall_s = {one["knobs"]["n"]: one for one in exported["figures"] if one["metric"] == "wall time"}
    assert {n: (one["passed"], one["median"] is None) for n, one in wall_s.items()} == {
        "1": (True, False),
        "2": (False, True),
    }
    compared = measure.octant("compare", before, run.id, cwd=measure.folder).stdout
    assert re.search(r"Not comparable \(1\)\n.*, n 2.*\n\s+wrong result in B", compared), compared
    assert not re.search(r"B is .*faster|Faster", compared)


def test_a_wrong_result_has_no_values(measure: Runs) -> None:
    done = measure("wrong", "--value", RATE, "--check", "residual within 1%")
    assert done.returncode == Exit.WRONG_ANSWER
    table = " ".join(done.stdout.partition("wrong result: no performance reported")[2].partition("Files")[0].split())
    assert "WRONG RESULT: residual" in table
    assert "0.5 instead of 0.001" in table
    assert not re.search(r"(?:rate|wall time|user time|system time|memory) \d", table), table
    shown = json.loads(measure.octant("report", "--json", cwd=measure.folder).stdout)
    names = {n: {one["result"] for one in shown["results"] if one["knobs"]["n"] == n} for n in ("1", "2")}
    assert names["2"] == {"residual: relative difference from the baseline"}
    assert names["1"] > {"rate", "wall time", "user time", "memory", "residual", *names["2"]}
    page = measure.folder / "page.html"
    assert measure.octant("report", "--output", str(page), cwd=measure.folder).returncode == 0
    text = page.read_text()
    (number,) = [
        number for number, row in re.findall(r'<tr id="figure-(\d+)"(.*?)</tr>', text, re.DOTALL) if "✗" in row
    ]
    wrong = row_details(text)[number]
    assert "<td>residual: relative difference from the baseline</td>" in wrong
    for name in ("wall time", "user time", "system time", "memory"):
        assert not re.search(rf"<td>{name}</td><td>[^<]*\d", wrong), name


def test_a_wrong_result_names_the_baseline_and_a_check_that_needs_none(measure: Runs) -> None:
    for check, other in (
        ("residual within 1%", "with a number: --check 'residual within 0.01 of NUMBER'"),
        ("file out.dat", "with your own reference file: --check 'file out.dat = FILE'"),
    ):
        done = measure("wrong", "--check", check)
        assert "; the baseline is n=1)" in done.stderr
        shown = " ".join(done.stdout.split())
        assert f"The baseline is n=1; if n changes the result, compare {other}." in shown
        assert "octant run n=1,2 --check" in shown, "n=2 alone would be its own baseline"
    done = measure("wrong", "--check", "residual within 1% of 1e-3")
    assert done.returncode == Exit.WRONG_ANSWER
    assert "the baseline" not in (done.stdout + done.stderr).lower()


def test_a_check_command_sees_what_the_launch_left_and_decides(measure: Runs) -> None:
    (measure.folder / "verify.py").write_text(
        "import os, sys\n"
        "assert open('out.dat', 'rb').read().endswith(b'8'), 'the last byte is not 8'\n"
        "assert 'Mop/s total' in open(os.environ['OCTANT_STDOUT']).read()\n"
    )
    check = f"command {sys.executable} verify.py"
    assert measure("right", "--check", check).returncode == 0
    done = measure("wrong", "--check", check)
    assert done.returncode == Exit.WRONG_ANSWER
    assert "the last byte is not 8" in done.stderr
    assert "check-0.txt" in {file.name for point in measure.last().points for file in point.files}
    done = measure("right", "--check", "command ./none")
    assert (done.returncode, "cannot run the check command './none'" in done.stderr) == (Exit.WRONG_WORD, True)


def test_what_two_equal_runs_do_not_share_cannot_be_checked(measure: Runs) -> None:
    for check in ("residual within 1e-9", "file out.dat"):
        done = measure("random", "--check", check)
        assert (done.returncode, "two launches with equal inputs" in done.stderr) == (Exit.NOT_SUPPORTED, True), (
            done.stderr
        )
        assert len(measure.last().points) == 2, "nothing is lost, and nothing else was launched"
    assert measure("random", "--check", "residual within 20%").returncode == 0


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ("rate=Mops total = (.*)", "the most similar line is 'Mop/s total = "),
        ("rate=(Mop/s) total", "is not a number"),
        ("rate[1,lower,none.txt]=x", "none.txt does not exist after the launch"),
        ("rate=json:a.b", "stdout contains no JSON document"),
    ],
)
def test_a_missing_value_keeps_the_times_and_says_why(measure: Runs, value: str, why: str) -> None:
    done = measure("right", "--value", value)
    assert done.returncode == Exit.WRONG_WORD
    assert why in done.stderr
    points = measure.last().points
    assert len(points) == 4
    assert all("wall time" in {one.name for one in point.results} for point in points)


def test_a_value_that_a_check_needs_and_that_is_missing_is_a_wrong_result(measure: Runs) -> None:
    for check in ("energy within 1e-9", "energy within 1e-9 of 5"):
        done = measure("right", "--check", check)
        assert done.returncode == Exit.WRONG_ANSWER
        assert "no number follows 'energy' in stdout" in done.stderr


def test_an_allowed_exit_status_is_no_failure(measure: Runs) -> None:
    assert measure("status").returncode == Exit.CANNOT_RUN
    assert measure("status", "--check", "exit=0,3").returncode == 0


def test_the_number_of_launches_is_decided_and_said(octant: Octant, tmp_path: Path) -> None:
    done = octant("run", "--", "true", cwd=tmp_path)
    assert done.returncode == 0
    assert "octant: one launch takes" in done.stderr
    assert "; 6 launches take about" in done.stderr
    assert "[2/6]" in done.stderr
    run = Store(tmp_path / "store").newest()[0]
    assert (run.repeats and run.repeats.repeats, len(run.points)) == (6, 6)
    assert "one launch takes" not in octant("run", "--repeats", "1", "--", "true", cwd=tmp_path).stderr


def test_a_changed_build_is_a_condition_of_a_comparison(octant: Octant, tmp_path: Path) -> None:
    runs = []
    for text in ("true", "true # changed"):
        (tmp_path / "app.sh").write_text(f"#!/bin/sh\n{text}\n")
        (tmp_path / "app.sh").chmod(0o700)
        assert octant("run", "--repeats", "3", "--", "./app.sh", cwd=tmp_path).returncode == 0
        runs.append(Store(tmp_path / "store").newest()[0].id)
    shown = octant("compare", *runs, cwd=tmp_path).stdout
    assert "build of the program: " in shown
    assert "build: " not in shown
