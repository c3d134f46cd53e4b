"""The whole analysis: the headline, the reliability, and profiles that are empty, incomplete or only counts."""

from dataclasses import replace

import pytest

from octant.profile.analysis import analyse
from octant.profile.job import JobProfile
from profile_jobs import MadeProfile


def late_rank_three() -> MadeProfile:
    """Return a profile of four ranks, of which three wait for rank 3 in one Allreduce."""
    made = MadeProfile(4)
    for rank in range(4):
        made.add(rank, "MPI_Allreduce", 1000, 8, 0.001 if rank == 3 else 2.0, site=2)
        made.add(rank, "MPI_Send", 100, 4096, 1.0, site=1)
    return made


def counts_of(job: JobProfile) -> JobProfile:
    """Return the job as if calls had been counted only."""
    calls = job.calls.copy()
    for name in ("time_s", "waited_s", "in_flight_s", "min_s", "max_s"):
        calls[name] = 0.0
    processes = tuple(replace(one, mpi_s=0.0, flags=("counts only",)) for one in job.processes)
    return replace(job, calls=calls, processes=processes)


def test_the_headline_names_the_rank_that_others_wait_for() -> None:
    head = analyse(late_rank_three().job()).head
    assert head.mpi_share == pytest.approx((3 * 2.0 + 0.001 + 4.0) / 40)
    assert head.waiting is not None
    assert (head.waiting.rank, head.waiting.name, head.waiting.site_number) == (3, "MPI_Allreduce", 2)
    assert head.waiting_share == pytest.approx(3 * 1.999 / 10.001)
    assert head.costliest is not None
    assert (head.costliest.name, head.costliest.site_number) == ("MPI_Allreduce", 2)


@pytest.mark.parametrize(
    ("others_s", "own_s", "is_named"), [(0.5, 0.001, True), (7.0, 0.001, False), (0.5, 1.99, False)]
)
def test_the_headline_is_about_the_largest_part(others_s: float, own_s: float, is_named: bool) -> None:
    """A small wait for one rank is not the headline: neither next to a costlier site, nor inside a costly one."""
    made = MadeProfile(4, elapsed_s=30.0)
    for rank in range(4):
        made.add(rank, "MPI_Allreduce", 1000, 8, own_s if rank == 3 else 2.0 + own_s, site=2)
        made.add(rank, "MPI_Send", 100, 4096, others_s, site=1)
    found = analyse(made.job())
    assert found.head.costliest is not None
    assert (found.head.waiting is not None, found.head.waiting_share > 0) == (is_named, is_named)


def test_the_waiting_shares_of_all_sites_are_at_most_the_mpi_time() -> None:
    found = analyse(late_rank_three().job())
    assert found.waited_s == pytest.approx(sum(one.waited_s for one in found.waits if one.rank is not None))
    assert found.waited_s <= found.total.mpi_s


def test_counts_give_tables_without_statements_about_time() -> None:
    timed = late_rank_three().job()
    found, whole = analyse(counts_of(timed)), analyse(timed)
    assert found.is_counts_only
    assert (found.head.mpi_share, found.head.waiting, found.waits, found.efficiency) == (None, None, (), None)
    assert {one.name: (one.calls, one.bytes) for one in found.calls} == {
        one.name: (one.calls, one.bytes) for one in whole.calls
    }
    assert not any(one.is_timed for one in found.calls)
    assert found.excess.reason


@pytest.mark.parametrize("ranks", [0, 1, 3])
def test_a_profile_without_calls_is_analysed(ranks: int) -> None:
    made = MadeProfile(ranks)
    found = analyse(made.job(processes=()) if ranks == 3 else made.job())
    assert (found.calls, found.sites, found.waits, found.matrix) == ((), (), (), None)
    assert found.head.costliest is None
    assert found.sizes.buckets == ()


def test_one_launch_has_no_repeats() -> None:
    found = analyse(late_rank_three().job())
    assert (found.repeats.launches, found.repeats.values, found.repeats.changed) == (1, (), ())
    assert analyse(late_rank_three().job(), [late_rank_three().job()]).repeats.launches == 2


def test_a_complete_profile_is_reliable() -> None:
    found = analyse(late_rank_three().job()).reliability
    assert found.is_reliable
    assert found.own_cost_share == pytest.approx(1100e-8 / 10)
    assert (found.missing, found.killed, found.oversubscription) == ((), (), None)


def test_what_a_profile_does_not_contain_is_listed() -> None:
    job = late_rank_three().job()
    first, second, *_ = job.processes
    some = (replace(first, state="running"), replace(second, lost_calls=11, lost_requests=2, own_cost_s=5.0))
    found = analyse(replace(job, processes=some, missing=(2, 3), problems=("The disk was full.",))).reliability
    assert not found.is_reliable
    assert not found.is_complete
    assert (found.killed, found.missing, found.lost_calls, found.lost_requests) == ((0,), (2, 3), 11, 2)
    assert (found.worst_rank, found.own_cost_of_worst) == (1, 0.5)
    assert found.lost_calls_share == pytest.approx(11 / 4400)


def test_oversubscription_is_that_of_the_worst_host() -> None:
    made = MadeProfile(12)
    job = made.job()
    assert analyse(job, hardware_threads={"host0": 4, "host1": 4}).reliability.oversubscription == 2.0
    assert analyse(job, hardware_threads={"host1": 8}).reliability.oversubscription == 0.5
