"""The curve with which a profile is compared: of the same machine and library, the newest, with its eager limit."""

from dataclasses import replace
from pathlib import Path

import pytest

from octant.analysis.message_curves import find_curve
from octant.profile.excess import MessageCurve, NoCurve
from octant.profile.job import Job
from profile_jobs import MadeProfile
from profile_runs import LENGTHS, store_messages, store_profiles


def seconds(length: float) -> float:
    """Return the time of a message of a library that changes its protocol above 4 KiB."""
    return 2e-6 + length / 1e10 + 20e-6 * (length > 4096)


def job(library: str = "MPICH 5.0.1") -> Job:
    made = MadeProfile(2)
    made.add(0, "MPI_Send", 10, 1000, 1.0)
    return made.job(library=library)


def test_a_curve_has_the_measured_times(tmp_path: Path) -> None:
    run = store_profiles(tmp_path, [job()])
    measured = store_messages(tmp_path, seconds)
    curve = find_curve(run, job())
    assert isinstance(curve, MessageCurve)
    for length in LENGTHS:
        assert curve.seconds(length) == pytest.approx(seconds(length), rel=0.02)
    assert (curve.shortest, curve.longest) == (0, 1 << 20)
    assert measured.id in curve.source
    assert "MPICH 5.0.1" in curve.source


def test_the_newest_run_of_the_library_counts(tmp_path: Path) -> None:
    run = store_profiles(tmp_path, [job()])
    store_messages(tmp_path, seconds, "20261119-100000-aaaa")
    store_messages(tmp_path, lambda length: 3 * seconds(length), "20261121-100000-aaaa")
    store_messages(tmp_path, lambda length: 9 * seconds(length), "20261122-100000-aaaa", mpi="Open MPI v4.1.4")
    curve = find_curve(run, job())
    assert isinstance(curve, MessageCurve)
    assert curve.seconds(8) == pytest.approx(3 * seconds(8), rel=0.02)


def test_versions_are_read_from_the_texts_of_libraries(tmp_path: Path) -> None:
    run = store_profiles(tmp_path, [job()])
    store_messages(tmp_path, seconds, mpi="Open MPI v4.1.4, package: one build")
    assert isinstance(find_curve(run, job("Open MPI v4.1.4, package: another build")), MessageCurve)
    none = find_curve(run, job("Open MPI v5.0.8, package: one build"))
    assert isinstance(none, NoCurve)
    assert "Open MPI 5.0.8" in none.reason
    assert "other libraries" in none.reason


def test_a_run_with_too_few_lengths_is_named(tmp_path: Path) -> None:
    run = store_profiles(tmp_path, [job()])
    few = store_messages(tmp_path, seconds, lengths=(8, 64))
    none = find_curve(run, job())
    assert isinstance(none, NoCurve)
    assert f"those of run {few.id} are too few" in none.reason


def test_an_empty_store_has_no_curve(tmp_path: Path) -> None:
    none = find_curve(store_profiles(tmp_path, [job()]), job())
    assert isinstance(none, NoCurve)
    assert "between two ranks" in none.reason
    assert "other libraries" not in none.reason


def test_ranks_on_two_hosts_are_compared_with_messages_between_hosts(tmp_path: Path) -> None:
    run = store_profiles(tmp_path, [job()])
    one = job()
    apart = replace(one, processes=tuple(replace(p, host=f"n{p.rank}") for p in one.processes))
    store_messages(tmp_path, seconds, "20261119-100000-aaaa")
    assert isinstance(find_curve(run, apart), NoCurve)
    store_messages(tmp_path, lambda length: 10 * seconds(length), "20261118-100000-aaaa", hosts="ab")
    between, inside = find_curve(run, apart), find_curve(run, one)
    assert isinstance(between, MessageCurve)
    assert isinstance(inside, MessageCurve)
    assert (between.between_hosts, inside.between_hosts) == (True, False)
    assert between.seconds(8) == pytest.approx(10 * inside.seconds(8), rel=0.02)


def test_the_eager_limit_is_the_step_of_hot_and_cold_buffers(tmp_path: Path) -> None:
    run = store_profiles(tmp_path, [job()])
    store_messages(tmp_path, seconds, "20261119-100000-aaaa", buffers=("hot", "rotating"))
    both = find_curve(run, job())
    assert isinstance(both, MessageCurve)
    assert (both.eager_limit, both.rendezvous_from) == (4096, 8192)
    store_messages(tmp_path, seconds, "20261121-100000-aaaa")
    alone = find_curve(run, job())
    assert isinstance(alone, MessageCurve)
    assert alone.eager_limit is None  # a step of one curve may have another cause
    store_messages(tmp_path, lambda n: 2e-6 + n / 1e10, "20261122-100000-aaaa", buffers=("hot", "rotating"))
    smooth = find_curve(run, job())
    assert isinstance(smooth, MessageCurve)
    assert smooth.eager_limit is None
