"""Octant is killed at some moment: nothing is lost or left behind; `bench/bench_kills.py` tries all commands."""

import random
from collections.abc import Mapping
from pathlib import Path

import pytest

from kills import kill_and_resume

WORDS = ("run", "p2p", "bytes=8,64KiB", "seconds=0.1", "--ranks", "2", "--repeats", "4")


@pytest.mark.mpi
@pytest.mark.slow
@pytest.mark.parametrize("part", [0, 1, 2])
def test_a_kill_loses_no_record_and_leaves_nothing_behind(
    environment: Mapping[str, str], tmp_path: Path, part: int
) -> None:
    moment_s = random.Random().uniform(0.6 + 0.5 * part, 1.1 + 0.5 * part)
    found = kill_and_resume(WORDS, moment_s, tmp_path / "store", environment)
    assert not found.faults, f"killed after {moment_s:.2f} s"
