"""Profiles of stored runs: the newest launch with its repeats, and profiles that cannot be read."""

from pathlib import Path

import pytest

from octant.advice.findings import late_rank
from octant.analysis.profiles import newest_analysis, profile_pairs, profiled_launches, read_profile
from octant.analysis.summary import summarise
from octant.failure import Refusal
from octant.profile.job import SENT, JobProfile
from profile_jobs import MadeProfile
from profile_runs import store_messages, store_profiles
from program_run import Seen, launches, request_of, stored_program


def job(late: int = 3, sends: int = 100) -> JobProfile:
    made = MadeProfile(4)
    for rank in range(4):
        made.add(rank, "MPI_Allreduce", 1000, 8, 0.001 if rank == late else 2.0)
        made.add(rank, "MPI_Send", sends, 4096, 0.5, site=1)
        made.peers.append((rank, (rank + 1) % 4, SENT, sends, 4096 * sends))
    return made.job(library="MPICH 5.0.1")


def test_a_stored_profile_is_read_back(tmp_path: Path) -> None:
    run = store_profiles(tmp_path, [job()])
    (launch,) = profiled_launches(run)
    assert read_profile(run, launch).calls.tobytes() == job().calls.tobytes()


def test_the_newest_launch_is_compared_with_the_others(tmp_path: Path) -> None:
    run = store_profiles(tmp_path, [job(sends=100), job(sends=110), job(late=1, sends=120)])
    found = newest_analysis(run)
    assert found is not None
    assert found.head.waiting is not None
    assert found.head.waiting.rank == 1
    assert found.repeats.launches == 3
    assert {(one.name, one.least, one.most) for one in found.repeats.changed if one.what == "calls"} == {
        ("MPI_Send", 400, 480)
    }
    first = newest_analysis(run, profiled_launches(run)[0].launch)
    assert first is not None
    assert first.head.waiting is not None
    assert first.head.waiting.rank == 3


def test_the_curve_of_the_store_is_used(tmp_path: Path) -> None:
    run = store_profiles(tmp_path, [job()])
    before = newest_analysis(run)
    assert before is not None
    assert before.excess.reason
    assert before.excess.command.startswith("octant run ")


def test_the_excess_is_above_the_curve_of_the_store(tmp_path: Path) -> None:
    store_messages(tmp_path, lambda length: 1e-6 + length / 1e9)
    found = newest_analysis(store_profiles(tmp_path, [job()]))
    assert found is not None
    assert not found.excess.reason
    assert found.excess.excess_s == pytest.approx(4 * 0.5 - 400 * (1e-6 + 4096e-9), rel=1e-3)


def test_rules_read_the_profile_of_a_run(tmp_path: Path) -> None:
    run = store_profiles(tmp_path, [job()])
    (finding,) = late_rank.judge(summarise(run)).found
    assert "waiting for rank 3" in finding.title
    assert finding.lines == ("octant profile --ranks 4 --repeats 3 -- ./solve -n 4",)


def test_a_run_without_a_profile_has_no_analysis(tmp_path: Path) -> None:
    run = stored_program(tmp_path, request_of(), [launches(Seen(), 2)])
    assert newest_analysis(run) is None
    assert not late_rank.judge(summarise(run)).found
    for call in (lambda: newest_analysis(run, "x-0"), lambda: profile_pairs(run)):
        with pytest.raises(Refusal, match="has no profile"):
            call()


def test_a_damaged_profile_is_refused_and_hides_no_other(tmp_path: Path) -> None:
    run = store_profiles(tmp_path, [job(late=0), job(late=1), job(late=2)])
    files = sorted((run.folder / "files").glob("*/0.0.profile"))
    files[0].write_bytes(b"x")
    found = newest_analysis(run)
    assert found is not None
    assert found.repeats.launches == 2
    newest = run.folder / "files" / profiled_launches(run)[-1].file.stored
    newest.unlink()
    other = store_profiles(tmp_path / "other", [job()])
    (tmp_path / "other" / "runs" / other.id / "files" / profiled_launches(other)[0].file.stored).unlink()
    with pytest.raises(Refusal, match="cannot read the profile"):
        newest_analysis(other)
    assert not late_rank.judge(summarise(other)).found


def test_flows_are_the_messages_between_ranks(tmp_path: Path) -> None:
    run = store_profiles(tmp_path, [job()])
    assert profile_pairs(run) == [(rank, (rank + 1) % 4, 409600.0) for rank in range(4)]
    made = MadeProfile(4)
    made.add(0, "MPI_Allreduce", 10, 8, 1.0)
    with pytest.raises(Refusal, match="no messages between ranks"):
        profile_pairs(store_profiles(tmp_path / "other", [made.job()]))
