"""`octant model --traffic profile:RUN`: the same answers as for a file with the same flows."""

import re
from pathlib import Path

import pytest

from model_command import answer, run
from octant.failure import Refusal
from octant.profile.job import SENT
from octant.store import StoredRun
from profile_jobs import MadeProfile
from profile_runs import store_profiles


@pytest.fixture
def stored(tmp_path: Path) -> StoredRun:
    made = MadeProfile(8)
    made.peers = [(rank, (rank + 3) % 8, SENT, 10, 1000 * (rank + 1)) for rank in range(8)]
    made.add(0, "MPI_Send", 10, 100, 1.0)
    return store_profiles(tmp_path, [made.job()])


@pytest.mark.parametrize("place", [("--place", "block"), ("--place", "TXYZ", "--per-node", "4"), ("-n", "8")])
def test_a_profile_is_the_traffic_of_its_matrix(stored: StoredRun, tmp_path: Path, place: tuple[str, ...]) -> None:
    pairs = tmp_path / "pairs"
    pairs.write_text("".join(f"{rank} {(rank + 3) % 8} {1000 * (rank + 1)}\n" for rank in range(8)))
    store = ("--store", str(tmp_path))
    found = answer("solve", "bgp", "--traffic", f"profile:{stored.id}", *place, *store)
    assert found == answer("solve", "bgp", "--pairs", str(pairs), *place)
    assert found == answer("solve", "bgp", "--traffic", "profile:last", *place, *store)


def test_explain_states_the_limit_of_a_profile(stored: StoredRun, tmp_path: Path) -> None:
    text = run("explain", "bgp", "--traffic", "profile:last", "--store", str(tmp_path), "--per-node", "4")
    assert "limit" in text
    load = re.search(r"^link +([0-9.]+) ", text, re.MULTILINE)
    assert load, "the table has the load per byte of the largest flow, as has the sentence"
    assert f"A link with this load carries {load[1]} B per B sent by one flow." in text


@pytest.mark.parametrize("more", [("--bytes", "1MiB"), ("--job", "2"), ("--pairs", "x")])
def test_other_traffic_is_refused(stored: StoredRun, tmp_path: Path, more: tuple[str, str]) -> None:
    with pytest.raises(Refusal, match="cannot combine profile:last"):
        run("solve", "bgp", "--traffic", "profile:last", "--store", str(tmp_path), *more)


def test_a_run_that_does_not_exist_is_refused(stored: StoredRun, tmp_path: Path) -> None:
    with pytest.raises(Refusal, match="cannot find the run 'x'"):
        run("solve", "bgp", "--traffic", "profile:x", "--store", str(tmp_path))
    with pytest.raises(Refusal, match="cannot place"):
        run("solve", "bgp", "--traffic", "profile:last", "--store", str(tmp_path), "-n", "1")
