"""Octant or a rank is killed at some moment: nothing is lost or left; `bench/bench_kills.py` tries all commands."""

import random
from collections.abc import Mapping
from pathlib import Path

import pytest

from kills import kill_and_resume

SCRIPT = "(setsid sleep 40 &); for i in 1 2 3 4 5 6; do echo $i; date > file-$i; sleep 0.05; done"
"""A program that writes files and leaves a daemon behind."""
PROGRAM = ("--fresh-dir", "--keep", "file-*", "--before", "true", "--after", "true", "--", "sh", "-c", SCRIPT)
WORDS = ("run", "p2p", "bytes=8,64KiB", "seconds=0.1", "--ranks", "2", "--repeats", "4", "--no-limit")


@pytest.mark.mpi
@pytest.mark.slow
@pytest.mark.parametrize(("victim", "earliest_s"), [("octant", 0.6), ("group", 1.1), ("rank", 1.6)])
def test_a_kill_loses_no_record_and_leaves_nothing_behind(
    environment: Mapping[str, str], tmp_path: Path, victim: str, earliest_s: float
) -> None:
    moment_s = earliest_s + random.Random().uniform(0, 0.5)
    found = kill_and_resume(WORDS, moment_s, tmp_path / "store", environment, victim)
    assert not found.faults, f"{victim} killed after {moment_s:.2f} s"


@pytest.mark.alone
@pytest.mark.slow
@pytest.mark.parametrize("victim", ["octant", "group", "guard", "program"])
def test_a_kill_of_a_program_loses_no_record_and_leaves_nothing_behind(
    environment: Mapping[str, str], tmp_path: Path, victim: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (work := tmp_path / "work").mkdir()
    (work / "input").write_text("text")
    monkeypatch.chdir(work)
    moment_s = random.Random().uniform(0.8, 1.6)
    words = ("run", "--repeats", "4", *PROGRAM)
    found = kill_and_resume(words, moment_s, tmp_path / "store", environment, victim, PROGRAM)
    assert not found.faults, f"{victim} killed after {moment_s:.2f} s"
    assert [path.name for path in work.iterdir()] == ["input"]
