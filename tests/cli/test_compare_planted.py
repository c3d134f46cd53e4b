"""`octant compare -- A -- B` with planted programs that really start: slower, equal, wrong, crashing, hanging.

Their own clock decides, which they print, so that no verdict depends on the machine.
"""

import json
import re
import shlex
from pathlib import Path

import pytest

from octant.failure import Exit
from octant.store import Store
from paths import Octant

OWN_CLOCK = ("--value", "time[s]=time = (.*)")
CHECK = ("--check", "residual within 1e-6")


def printing(milliseconds: int, residual: str = "1e-9", then: str = "") -> tuple[str, ...]:
    """Return a program that prints this time with noise of a few 0.001 %, a residual, and runs another command."""
    noisy = f"echo time = $(({milliseconds} * 10000 + $$ % 10))e-7"
    return ("sh", "-c", "; ".join(filter(None, (noisy, f"echo residual: {residual}", then))))


OLD = printing(100)


@pytest.mark.parametrize(
    ("new", "words", "begin", "code"),
    [
        (printing(120), (), r"B is 20 % slower than A by time \[20 %, 20 %\], 4 paired rounds\.", Exit.OK),
        (printing(120), ("--gate",), r"B is 20 % slower than A by time ", Exit.REGRESSION),
        (printing(80), ("--gate",), r"B is 25 % faster than A by time ", Exit.OK),
        (OLD, ("--gate",), r"A and B differ by at most [\d.e-]+ % by time, ", Exit.OK),
        (
            printing(50, "0.5"),
            CHECK,
            r"B failed verification, so no performance is reported \(res",
            Exit.WRONG_ANSWER,
        ),
        (printing(50, "0.5"), ("--gate", *CHECK), r"B failed verification", Exit.WRONG_ANSWER),
        (printing(80, then="exit 3"), ("--check", "exit=0,3"), r"B is 25 % faster than A by time ", Exit.OK),
    ],
)
def test_planted_programs_have_the_verdict_that_they_deserve(
    octant: Octant, tmp_path: Path, new: tuple[str, ...], words: tuple[str, ...], begin: str, code: Exit
) -> None:
    done = octant("compare", *OWN_CLOCK, *words, "--", *OLD, "--", *new, cwd=tmp_path)
    assert re.match(begin, " ".join(done.stdout.split())), done.stdout + done.stderr
    assert done.returncode == code, done.stderr
    document = json.loads(octant("compare", "--json", cwd=tmp_path).stdout)
    assert ("faster" in document["answer"][0]) == (new in (printing(80), printing(80, then="exit 3")))
    report = octant("report", cwd=tmp_path)
    assert report.returncode == 0, report.stderr
    launches = sum(len(run.points) for run in map(Store(tmp_path / "store").read, Store(tmp_path / "store").ids()))
    if code == Exit.WRONG_ANSWER:
        assert launches == 4, "two of the baseline, and the first round"


@pytest.mark.parametrize(
    ("new", "words", "why"),
    [
        (printing(80, then="echo broken >&2; kill -SEGV $$"), (), "B failed: sh ended by SIGSEGV"),
        (printing(80, then="exit 3"), (), "B failed: sh ended with exit status 3"),
        (("sleep", "60"), ("--timeout", "0.5"), "B failed: sleep did not end within 0.5 s"),
    ],
)
def test_a_program_that_fails_ends_the_comparison_with_its_reason(
    octant: Octant, tmp_path: Path, new: tuple[str, ...], words: tuple[str, ...], why: str
) -> None:
    done = octant("compare", *words, "--", *OLD, "--", *new, cwd=tmp_path)
    assert done.returncode == Exit.CANNOT_RUN
    assert f"octant: cannot compare the programs ({why}" in done.stderr
    assert ("\n  broken\n" in done.stderr) == ("broken" in shlex.join(new)), "the end of what it printed"
    assert "a round takes" not in done.stderr
    assert octant("compare", "--gate", *words, "--", *OLD, "--", *new, cwd=tmp_path).returncode == Exit.CANNOT_RUN


def test_a_check_that_two_equal_runs_of_a_do_not_pass_is_refused(octant: Octant, tmp_path: Path) -> None:
    counter = "echo x >> count; echo residual: $(wc -l < count)"
    done = octant("compare", *CHECK, "--", "sh", "-c", counter, "--", *OLD, cwd=tmp_path)
    assert done.returncode == Exit.NOT_SUPPORTED
    assert "cannot check residual (two launches with equal inputs gave 1 and 2); try a tolerance of 2" in done.stderr


def test_what_differs_besides_the_command_is_listed(octant: Octant, tmp_path: Path) -> None:
    for name, letter in (("old", "a"), ("new", "b")):
        (tmp_path / name).write_text(f"#!/bin/sh\nexec true {letter}\n")
        (tmp_path / name).chmod(0o755)
    done = octant("compare", "--rounds", "4", "--", "./old", "--", "./new", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "command: ./old in A, ./new in B" in done.stdout
    assert re.search(r"build of the program: \w+ in A, \w+ in B", " ".join(done.stdout.split())), done.stdout


def test_one_of_two_programs_is_not_resumed_alone(octant: Octant, tmp_path: Path) -> None:
    assert octant("compare", *OWN_CLOCK, "--", *OLD, "--", *OLD, cwd=tmp_path).returncode == 0
    done = octant("resume", "last", cwd=tmp_path)
    line = done.stderr.rpartition("; try ")[2]
    assert (done.returncode, shlex.split(line)[-8:]) == (1, ["--", *OLD, "--", *OLD])
    again = octant(*shlex.split(line)[1:], cwd=tmp_path)
    assert again.returncode == 0, again.stderr
    assert len(Store(tmp_path / "store").ids()) == 2


def test_the_page_of_a_comparison_has_the_verdict(octant: Octant, tmp_path: Path) -> None:
    done = octant("compare", *OWN_CLOCK, "--", *OLD, "--", *printing(120), cwd=tmp_path)
    page = Path(done.stdout.splitlines()[-1])
    assert "B is 20 % slower than A by time" in page.read_text(encoding="utf-8")
