"""Factors of the efficiency: identities for any profile, and cases computed by hand."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from octant.profile.efficiency import efficiency, job_totals, rank_totals
from octant.profile.job import JobProfile
from profile_jobs import MadeProfile


def job_of(elapsed: list[float], mpi: list[float], threads: list[int] | None = None) -> JobProfile:
    """Return a job whose ranks have these times."""
    made = MadeProfile(len(elapsed))
    job = made.job()
    every = zip(job.processes, elapsed, mpi, threads or [1] * len(mpi), strict=True)
    return replace(job, processes=tuple(replace(p, elapsed_s=e, mpi_s=m, threads=t) for p, e, m, t in every))


RANKS = st.lists(st.tuples(st.floats(0.1, 1e4), st.floats(0, 1), st.integers(1, 8)), min_size=1, max_size=20)


@given(RANKS)
def test_parallel_efficiency_is_the_product_of_its_factors(ranks: list[tuple[float, float, int]]) -> None:
    elapsed, shares, threads = (list(column) for column in zip(*ranks, strict=True))
    job = job_of(elapsed, [e * s * t for e, s, t in ranks], threads)
    found = efficiency(job)
    if found is None:
        assert min(shares) == 1
        return
    assert found.parallel == pytest.approx(found.load_balance * found.communication)
    assert 0 <= found.parallel <= min(found.load_balance, found.communication) * (1 + 1e-12)
    assert max(found.load_balance, found.communication) <= 1 + 1e-12


@given(st.floats(0.1, 1e3), st.lists(st.floats(0, 0.99), min_size=1, max_size=20))
def test_with_equal_elapsed_times_it_is_the_share_outside_mpi(elapsed: float, shares: list[float]) -> None:
    job = job_of([elapsed] * len(shares), [elapsed * one for one in shares])
    found, total = efficiency(job), job_totals(job, rank_totals(job))
    assert found is not None
    assert total.mpi_share is not None
    assert found.parallel == pytest.approx(1 - total.mpi_share)
    assert total.mpi_share_of_ranks is not None
    assert total.mpi_share_of_ranks.mean == pytest.approx(total.mpi_share)


def test_a_case_computed_by_hand() -> None:
    found = efficiency(job_of([10, 10, 10, 8], [2, 6, 4, 2]))  # useful: 8, 4, 6, 6
    assert found is not None
    assert (found.load_balance, found.communication, found.parallel) == (6 / 8, 8 / 10, 6 / 10)
    assert found.useful_s.rank_of_maximum == 0


def test_the_share_of_a_rank_is_that_of_its_threads() -> None:
    job = job_of([10, 10], [20, 5], [4, 1])
    first, second = rank_totals(job)
    assert (first.mpi_share, second.mpi_share) == (0.5, 0.5)
    assert job_totals(job, (first, second)).mpi_share == 0.5


def test_processes_of_the_same_rank_are_one() -> None:
    job = job_of([4, 6], [1, 2])
    twice = replace(job, processes=(job.processes[0], replace(job.processes[1], rank=0)))
    (rank,) = rank_totals(twice)
    assert (rank.elapsed_s, rank.mpi_s, rank.mpi_share) == (10, 3, 0.3)


def test_counts_have_no_shares() -> None:
    job = job_of([4, 6], [0, 0])
    counted = replace(job, processes=tuple(replace(one, flags=("counts only",)) for one in job.processes))
    assert efficiency(counted) is None
    assert [one.mpi_share for one in rank_totals(counted)] == [None, None]
    assert job_totals(counted, rank_totals(counted)).mpi_share is None


def test_only_bytes_that_leave_a_rank_are_sent() -> None:
    made = MadeProfile(2)
    made.add(0, "MPI_Send", 3, 100)
    made.add(1, "MPI_Recv", 3, 100)
    made.add(1, "MPI_Allreduce", 2, 8)
    assert [one.bytes_sent for one in rank_totals(made.job())] == [300, 16]
    assert [one.calls for one in rank_totals(made.job())] == [3, 5]


def test_unknown_values_stay_unknown() -> None:
    job = job_of([1, 1], [0.5, 0.5])
    bare = replace(job, processes=tuple(replace(one, peak_memory_bytes=None, user_s=None) for one in job.processes))
    total = job_totals(bare, rank_totals(bare))
    assert (total.peak_memory_bytes, total.peak_memory_of_ranks, total.user_s) == (None, None, None)
    assert total.system_s == 2.0
    known = job_totals(job, rank_totals(job))
    assert known.peak_memory_bytes == 3 << 20
    assert known.peak_memory_of_ranks is not None
    assert known.peak_memory_of_ranks.rank_of_maximum == 1
    assert np.isclose(known.elapsed_s, 1)
