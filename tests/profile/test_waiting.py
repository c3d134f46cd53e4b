"""A planted late rank is found; random delays name a rank rarely; nothing is said without times."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from octant.profile.job import Communicator, JobProfile
from octant.profile.waiting import LEAST_GAP, assigned_seconds, collective_waits
from profile_jobs import MadeProfile

TRANSFER_S = 1e-5


def made_job(entries: np.ndarray, name: str = "MPI_Allreduce") -> JobProfile:
    """Return the profile of a collective with these times of entry, of shape (calls, ranks)."""
    ranks = entries.shape[1]
    times = (entries.max(axis=1, keepdims=True) - entries + TRANSFER_S).sum(axis=0)
    made = MadeProfile(ranks, elapsed_s=float(entries.max(axis=1).sum()) + 1.0)
    for rank, time_s in enumerate(times):
        made.add(rank, name, calls=len(entries), size=8, time_s=float(time_s))
    return made.job()


@given(st.integers(2, 40), st.integers(1, 1000), st.integers(0, 39), st.floats(0.05, 10), st.integers(0, 2**32 - 1))
def test_a_planted_late_rank_is_found(ranks: int, calls: int, late: int, delay_s: float, seed: int) -> None:
    late %= ranks
    entries = np.random.default_rng(seed).uniform(0, delay_s / 1e4, (calls, ranks))
    entries[:, late] += delay_s
    (wait,) = collective_waits(made_job(entries))
    assert wait.rank == late
    assert wait.waited_s == pytest.approx((ranks - 1) * calls * delay_s, rel=1e-2)
    assert wait.least_s <= wait.next_s
    assert wait.share == pytest.approx(wait.waited_s / (wait.time_s))


DELAYS: dict[str, Callable[[np.random.Generator, tuple[int, int]], NDArray[np.float64]]] = {
    "exponential": lambda generator, shape: generator.exponential(1.0, shape),
    "normal": lambda generator, shape: generator.normal(5.0, 1.0, shape),
    "uniform": lambda generator, shape: generator.uniform(0.0, 1.0, shape),
}


@pytest.mark.parametrize("delays", DELAYS)
@pytest.mark.parametrize("ranks", [2, 3, 8, 32])
@pytest.mark.parametrize("calls", [10, 100, 500])
def test_random_delays_name_a_rank_in_few_cases(delays: str, ranks: int, calls: int) -> None:
    generator = np.random.default_rng(ranks * calls)
    every = [made_job(DELAYS[delays](generator, (calls, ranks))) for _ in range(60)]
    false = sum(assigned_seconds(collective_waits(job)) > 0 for job in every)
    assert false <= 0.1 * len(every)


@given(st.integers(3, 30), st.integers(0, 2**32 - 1))
def test_two_equally_late_ranks_are_not_named(ranks: int, seed: int) -> None:
    entries = np.random.default_rng(seed).uniform(0, 1e-4, (200, ranks))
    entries[:, :2] += 1.0
    (wait,) = collective_waits(made_job(entries))
    assert wait.rank is None
    assert wait.waited_s > 0


def test_the_gap_to_the_next_rank_decides() -> None:
    """Of two delayed ranks, the later one is named if its distance is half of the mean waiting."""
    named = []
    for second in (0.0, 0.3, 0.9):
        entries = np.zeros((500, 10))
        entries[:, 4], entries[:, 7] = 1.0, second
        named.append(collective_waits(made_job(entries))[0].rank)
    assert named == [4, 4, None]
    assert 1 - 0.9 < LEAST_GAP < 1 - 0.3


def test_one_long_delay_differs_from_many_short_ones() -> None:
    for calls, is_one_event in ((1, True), (1000, False)):
        entries = np.zeros((calls, 4))
        entries[:, 1] = 20.0 / calls
        (wait,) = collective_waits(made_job(entries))
        assert (wait.rank, wait.is_one_event) == (1, is_one_event)


def test_collectives_that_do_not_synchronise_are_not_listed() -> None:
    entries = np.zeros((10, 4))
    entries[:, 0] = 1.0
    for name in ("MPI_Bcast", "MPI_Reduce", "MPI_Gather", "MPI_Recv", "MPI_Wait", "MPI_Iallreduce", "MPI_Scan"):
        assert collective_waits(made_job(entries, name)) == ()
    for name in ("MPI_Barrier", "MPI_Alltoallv", "MPI_Allgather", "MPI_Reduce_scatter_block"):
        assert collective_waits(made_job(entries, name))[0].rank == 0


def test_irrelevant_waiting_names_no_rank() -> None:
    made = MadeProfile(4)
    for rank in range(4):
        made.add(rank, "MPI_Barrier", calls=100, time_s=0.001 if rank == 2 else 0.01)
        made.add(rank, "MPI_Recv", calls=100, time_s=5.0)
    (wait,) = collective_waits(made.job())
    assert wait.rank is None
    assert wait.share < 0.01


def test_ranks_with_fewer_calls_are_not_compared() -> None:
    made = MadeProfile(4)
    for rank in range(4):
        made.add(rank, "MPI_Barrier", calls=10 if rank == 2 else 100, time_s=0.01 if rank == 2 else 1.0)
    assert collective_waits(made.job())[0].rank is None


def test_missing_ranks_prevent_a_statement() -> None:
    """The rank without a table may be the late one."""
    made = MadeProfile(4)
    for rank in range(3):
        made.add(rank, "MPI_Barrier", calls=100, time_s=0.001 if rank == 2 else 1.0)
    whole = made.job()
    assert collective_waits(made.job(processes=whole.processes[:3], missing=(3,)))[0].rank is None


def test_one_collective_from_two_sites_is_one() -> None:
    """Rank 0 makes the call in another branch of the program than the other ranks."""
    made = MadeProfile(4)
    for rank in range(4):
        made.add(rank, "MPI_Allreduce", calls=100, size=8, time_s=0.001 if rank == 0 else 1.0, site=int(rank == 0))
    (wait,) = collective_waits(made.job())
    assert (wait.rank, wait.site_number, wait.ranks) == (0, 0, 4)


def test_communicators_are_separate() -> None:
    made = MadeProfile(4)
    made.communicators = [Communicator("MPI_COMM_WORLD", 4), Communicator("low", 2), Communicator("high", 2)]
    for rank in range(4):
        late = rank in (0, 3)
        made.add(rank, "MPI_Allreduce", 100, 8, 0.001 if late else 1.0 + rank, communicator=1 + rank // 2)
    waits = collective_waits(made.job())
    assert [(one.communicator_number, one.rank) for one in waits] == [(2, 3), (1, 0)]


@pytest.mark.parametrize("of", [Communicator("not recorded", 0), Communicator("two groups", 2, "intercommunicator")])
def test_calls_without_one_group_of_ranks_are_not_compared(of: Communicator) -> None:
    made = MadeProfile(4)
    made.communicators = [of]
    for rank in range(4):
        made.add(rank, "MPI_Barrier", 100, time_s=0.001 if rank else 1.0)
    assert collective_waits(made.job()) == ()


def test_threads_of_a_rank_are_added() -> None:
    made = MadeProfile(2)
    for rank in range(2):
        for thread in range(2):
            made.add(rank, "MPI_Barrier", 100, time_s=0.001 if rank else 1.0, thread=thread)
    (wait,) = collective_waits(made.job())
    assert (wait.rank, wait.calls) == (1, 200)


def test_one_rank_waits_for_no_other() -> None:
    made = MadeProfile(1)
    made.add(0, "MPI_Barrier", 100, time_s=1.0)
    assert collective_waits(made.job()) == ()


def test_nothing_follows_from_counts() -> None:
    entries = np.zeros((10, 4))
    entries[:, 0] = 1.0
    job = made_job(entries)
    counted = replace(job, processes=tuple(replace(one, flags=("counts only",)) for one in job.processes))
    assert collective_waits(counted) == ()


@given(st.integers(2, 12), st.integers(1, 50), st.integers(0, 2**32 - 1))
def test_measured_waiting_is_that_of_all_ranks_also_if_late_ranks_alternate(ranks: int, calls: int, seed: int) -> None:
    entries = np.random.default_rng(seed).uniform(0, 1.0, (calls, ranks))
    waiting = (entries.max(axis=1, keepdims=True) - entries).sum(axis=0)
    made = MadeProfile(ranks, elapsed_s=float(calls + 1))
    for rank, waited_s in enumerate(waiting):
        made.add(rank, "MPI_Bcast", calls=calls, size=8, time_s=float(waited_s) + TRANSFER_S, waited_s=float(waited_s))
    job = made.job()
    assert collective_waits(job) == ()  # it need not synchronise
    job = replace(job, processes=tuple(replace(one, flags=("waits",)) for one in job.processes))
    (wait,) = collective_waits(job)
    assert wait.basis == "measured"
    assert wait.waited_s == pytest.approx(waiting.sum())
    assert assigned_seconds((wait,)) == wait.waited_s
    assert wait.rank in (None, int(waiting.argmin()))
    in_part = (*job.processes[:-1], replace(job.processes[-1], flags=()))  # one rank did not measure it
    assert collective_waits(replace(job, processes=in_part)) == ()
