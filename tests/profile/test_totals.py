"""Sums over the calls of a profile are conserved by every table."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from octant.profile.categories import SYNCHRONISING, category_of, sends_data, transfers_data
from octant.profile.job import Communicator, JobProfile, ProcessProfile
from octant.profile.results import CallTotals
from octant.profile.totals import (
    RankAxis,
    bucket_limits,
    call_totals,
    communicator_size_totals,
    communicator_totals,
    data_rows,
    groups,
    site_overlaps,
    site_totals,
    size_distribution,
    size_distributions,
)
from profile_jobs import MadeProfile

NAMES = ("MPI_Send", "MPI_Irecv", "MPI_Wait", "MPI_Allreduce", "MPI_Barrier", "MPI_Put", "MPI_File_write", "MPI_Test")


@st.composite
def jobs(draw: st.DrawFn) -> JobProfile:
    """Return jobs with arbitrary calls of up to five ranks."""
    made = MadeProfile(draw(st.integers(1, 5)))
    made.communicators = [Communicator("MPI_COMM_WORLD", made.ranks), Communicator("half", 2), Communicator("other", 2)]
    for _ in range(draw(st.integers(0, 25))):
        time_s = draw(st.floats(0, 1e3))
        in_flight = draw(st.sampled_from((0.0, 1.0, 5.0)))
        made.add(
            draw(st.integers(0, made.ranks - 1)),
            draw(st.sampled_from(NAMES)),
            draw(st.integers(1, 1000)),
            draw(st.integers(0, 1 << 45)),
            time_s,
            site=draw(st.integers(0, 3)),
            communicator=draw(st.integers(0, 2)),
            waited_s=draw(st.floats(0, 1)) * in_flight,
            in_flight_s=in_flight,
        )
    return made.job()


@settings(max_examples=30)
@given(jobs())
def test_every_table_has_all_calls_bytes_and_times(job: JobProfile) -> None:
    tables = (call_totals(job), site_totals(job), communicator_totals(job))
    for rows in (*tables, communicator_size_totals(tables[2])):
        assert sum(one.calls for one in rows) == job.calls["calls"].sum()
        assert sum(one.bytes for one in rows) == job.calls["bytes"].sum()
        assert np.isclose(sum(one.time_s for one in rows), job.calls["time_s"].sum())


@settings(max_examples=30)
@given(jobs())
def test_shares_of_a_table_add_up_to_one(job: JobProfile) -> None:
    expected = 1.0 if job.calls["time_s"].sum() > 0 else 0.0
    for rows in (call_totals(job), site_totals(job), communicator_totals(job)):
        assert np.isclose(sum(one.share for one in rows), expected)


@settings(max_examples=30)
@given(jobs())
def test_a_rank_spread_has_the_sum_of_its_table_row(job: JobProfile) -> None:
    for call in call_totals(job):
        assert np.isclose(call.of_ranks.mean * len(job.processes), call.time_s)
        assert call.of_ranks.minimum <= call.of_ranks.mean * (1 + 1e-12)
        assert call.of_ranks.mean <= call.of_ranks.maximum * (1 + 1e-12)
        number = job.call_names.index(call.name)
        slowest = job.calls[(job.calls["call"] == number) & (job.calls["rank"] == call.of_ranks.rank_of_maximum)]
        assert np.isclose(slowest["time_s"].sum(), call.of_ranks.maximum)
    for site in site_totals(job):
        assert np.isclose(site.of_ranks.mean * site.ranks, site.time_s)
        assert 1 - 1e-12 <= site.of_ranks.imbalance <= site.ranks * (1 + 1e-12)


@settings(max_examples=30)
@given(jobs())
def test_tables_are_ordered_by_time(job: JobProfile) -> None:
    for rows in (call_totals(job), site_totals(job), communicator_totals(job)):
        times = [one.time_s for one in rows]
        assert times == sorted(times, reverse=True)


@settings(max_examples=30)
@given(jobs())
def test_sizes_have_all_calls_with_data_in_buckets_that_contain_their_mean(job: JobProfile) -> None:
    rows = data_rows(job)
    found = size_distribution(rows)
    assert sum(one.calls for one in found.buckets) == rows["calls"].sum()
    assert sum(one.bytes for one in found.buckets) == rows["bytes"].sum()
    numbers = [one.number for one in found.buckets]
    assert numbers == list(range(numbers[0], numbers[-1] + 1)) if numbers else not len(rows)
    for one in found.buckets:
        assert not one.calls or one.first <= one.bytes / one.calls <= one.last
    parts = size_distributions(job)
    assert len({one.name for one in parts}) == len(parts)
    assert all(transfers_data(one.name) for one in parts)


@settings(max_examples=30)
@given(jobs())
def test_overlap_is_the_part_of_the_flight_that_was_not_waited_for(job: JobProfile) -> None:
    found = site_overlaps(job)
    started = job.calls[job.calls["in_flight_s"] > 0]
    assert np.isclose(sum(one.in_flight_s for one in found), started["in_flight_s"].sum())
    for one in found:
        assert np.isclose(one.overlap * one.in_flight_s, one.in_flight_s - one.waited_s)


def test_buckets_follow_each_other() -> None:
    assert bucket_limits(0) == (0, 0)
    for number in range(1, 60):
        first, last = bucket_limits(number)
        assert first.bit_length() == last.bit_length() == number
        assert first == bucket_limits(number - 1)[1] + 1


def test_bytes_are_added_exactly() -> None:
    axis = RankAxis(np.array([0, 1]))
    values = np.array([2**53, 1, 5], np.int64)
    assert list(axis.sums([1, 1, 0], values)) == [5, 2**53 + 1]


def test_groups_contain_each_row_once() -> None:
    made = MadeProfile(2)
    for rank, name, site in ((0, "MPI_Send", 1), (1, "MPI_Recv", 0), (1, "MPI_Send", 1), (0, "MPI_Send", 0)):
        made.add(rank, name, site=site)
    found = groups(made.job().calls, "call", "site")
    assert [key for key, _ in found] == [(0, 0), (0, 1), (1, 0)]
    assert [len(rows) for _, rows in found] == [1, 2, 1]


def test_a_rank_without_a_call_counts_as_zero_and_a_missing_rank_does_not() -> None:
    made = MadeProfile(4)
    made.add(2, "MPI_Send", time_s=6.0)
    whole = made.job()
    (row,) = call_totals(whole)
    assert (row.of_ranks.mean, row.of_ranks.maximum, row.of_ranks.rank_of_maximum) == (1.5, 6.0, 2)
    present: tuple[ProcessProfile, ...] = whole.processes[1:3]
    (row,) = call_totals(made.job(processes=present, missing=(0, 3)))
    assert row.of_ranks.mean == 3.0


def test_only_functions_with_data_have_a_mean_size() -> None:
    made = MadeProfile(1)
    made.add(0, "MPI_Send", calls=4, size=100)
    made.add(0, "MPI_Barrier", calls=2)
    made.add(0, "MPI_Wait", calls=2)
    sizes = {row.name: row.mean_bytes for row in call_totals(made.job())}
    assert sizes == {"MPI_Send": 100, "MPI_Barrier": None, "MPI_Wait": None}


def test_functions_have_their_category() -> None:
    expected = {
        "send": "Send Isend Issend Ibsend Irsend Bsend Ssend Rsend Send_init Psend_init",
        "receive": "Recv Irecv Mrecv Imrecv Recv_init Precv_init",
        "exchange": "Sendrecv Sendrecv_replace Isendrecv Isendrecv_replace",
        "collective": "Bcast Ibcast Allreduce Iallreduce Neighbor_alltoallw Ineighbor_allgather Reduce_scatter_block "
        "Exscan Barrier Ibarrier Gatherv Scatter Allgather_init",
        "one-sided": "Put Get Rput Rget Accumulate Get_accumulate Raccumulate Fetch_and_op Win_fence Win_lock_all",
        "file": "File_open File_write_at_all File_iread",
        "wait": "Wait Waitall Waitsome Waitany Probe Mprobe",
        "poll": "Test Testall Testany Testsome Iprobe Improbe Request_get_status",
        "other": "Init Comm_rank Alloc_mem Reduce_local Get_count Type_commit Start Cart_create Get_processor_name",
    }
    for category, names in expected.items():
        assert {name: category_of(f"MPI_{name}") for name in names.split()} == dict.fromkeys(names.split(), category)


def test_bytes_of_receives_files_and_synchronisation_do_not_leave_the_rank() -> None:
    assert all(sends_data(name) for name in ("MPI_Isend", "MPI_Sendrecv", "MPI_Bcast", "MPI_Put", "MPI_Rput"))
    for name in ("MPI_Recv", "MPI_Get", "MPI_Rget", "MPI_File_write", "MPI_Barrier", "MPI_Win_fence", "MPI_Wait"):
        assert not sends_data(name), name
    assert all(category_of(name) == "collective" for name in SYNCHRONISING)


def test_a_selection_of_categories_has_only_their_functions() -> None:
    made = MadeProfile(1)
    for name in NAMES:
        made.add(0, name)
    assert [row.name for row in call_totals(made.job(), ("file",))] == ["MPI_File_write"]
    assert [row.name for row in call_totals(made.job(), ("one-sided",))] == ["MPI_Put"]
    rows: tuple[CallTotals, ...] = call_totals(made.job())
    assert len(rows) == len(NAMES)
