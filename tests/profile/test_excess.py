"""Excess time over a curve: none on the curve, all of what is above it, and a reason if there is no curve."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

import command_lines
from octant.message_times import LengthSegment, MessageTimes
from octant.profile.excess import NOT_GIVEN, MessageCurve, NoCurve, curve_command, excess_time
from profile_jobs import MadeProfile


def seconds(length: float) -> float:
    """Return the time of a message of a library that changes its protocol at 8 KiB."""
    return 1e-6 + length / 1e10 + 3e-6 * (length >= 8192)


CURVE = MessageCurve(
    MessageTimes((LengthSegment(0, 1e-6, 1e-10), LengthSegment(8192, seconds(8192), 1e-10))),
    shortest=0,
    longest=1 << 20,
    source="run 1, MPICH 5.0",
    eager_limit=4096,
    rendezvous_from=8192,
)


@given(st.floats(0, 1e7))
def test_the_curve_is_that_of_its_segments(length: float) -> None:
    assert CURVE.seconds(length) == pytest.approx(seconds(length))


def test_a_curve_of_one_segment_is_extended() -> None:
    curve = MessageCurve(MessageTimes((LengthSegment(8, 1e-6, 1e-10),)), 8, 1024)
    assert curve.seconds(2048) == pytest.approx(1e-6 + 2040e-10)
    assert [curve.has_length(n) for n in (0, 8, 1024, 1025)] == [False, True, True, False]


def pair(sizes: list[int], factor: float = 1.0, calls: int = 100) -> MadeProfile:
    """Return a profile of two ranks: rank 0 sends to rank 1, at a multiple of the time of the curve."""
    made = MadeProfile(2)
    for size in sizes:
        for rank, name in enumerate(("MPI_Send", "MPI_Recv")):
            made.add(rank, name, calls, size, factor * calls * CURVE.seconds(size), site=len(made.calls))
    return made


@given(st.lists(st.integers(0, 1 << 20), min_size=1, max_size=5, unique=True), st.floats(0.1, 1.0))
def test_calls_within_the_curve_have_no_excess(sizes: list[int], factor: float) -> None:
    distinct = list({size.bit_length(): size for size in sizes}.values())
    found = excess_time(pair(distinct, factor).job(), CURVE)
    assert found.excess_s == pytest.approx(0, abs=1e-12)
    assert not found.reason


@given(st.lists(st.integers(0, 1 << 20), min_size=1, max_size=5, unique=True), st.floats(1.5, 100))
def test_the_excess_is_what_is_above_the_curve(sizes: list[int], factor: float) -> None:
    distinct = list({size.bit_length(): size for size in sizes}.values())
    job = pair(distinct, factor).job()
    found = excess_time(job, CURVE)
    expected = sum(200 * CURVE.seconds(size) for size in distinct)
    assert found.excess_s == pytest.approx((factor - 1) * expected)
    assert found.share == pytest.approx(1 - 1 / factor)
    assert sum(one.excess_s for one in found.rows) == pytest.approx(found.excess_s)
    assert sum(one.excess_s for one in found.calls) == pytest.approx(found.excess_s)
    assert sum(one.messages for one in found.rows) == 200 * len(distinct)


def test_the_waiting_of_a_receive_counts_against_the_fast_send_of_its_size() -> None:
    made = MadeProfile(2)
    made.add(0, "MPI_Send", 10, 1000, 0.0)
    made.add(1, "MPI_Recv", 10, 1000, 20 * CURVE.seconds(1000))
    assert excess_time(made.job(), CURVE).excess_s == pytest.approx(0, abs=1e-15)


def test_waiting_for_requests_belongs_to_the_calls_that_started_them() -> None:
    made = MadeProfile(2)
    made.add(0, "MPI_Isend", 10, 1000, 1e-6, waited_s=0.5, in_flight_s=0.6)
    made.add(0, "MPI_Wait", 10, 0, 0.5)
    found = excess_time(made.job(), CURVE)
    assert found.rows[0].time_s == pytest.approx(0.5 + 1e-6)
    assert [one.name for one in found.calls] == ["MPI_Isend"]


def test_a_combined_call_is_a_send_and_a_receive() -> None:
    made = MadeProfile(2)
    made.add(0, "MPI_Sendrecv", 10, 1000, 1.0)
    assert excess_time(made.job(), CURVE).rows[0].expected_s == pytest.approx(20 * CURVE.seconds(1000))


def test_sizes_beyond_the_curve_are_marked() -> None:
    rows = excess_time(pair([1000, 1 << 24]).job(), CURVE).rows
    assert [one.is_extrapolated for one in rows] == [False, True]


def test_without_a_curve_there_is_a_reason_and_a_command() -> None:
    for curve, reason in ((None, NOT_GIVEN), (NoCurve("the store has no curve"), "the store has no curve")):
        found = excess_time(pair([8]).job(), curve)
        assert (found.rows, found.excess_s, found.reason) == ((), 0.0, reason)
        assert found.command.startswith("octant run ")
        assert "--hosts" not in found.command


def test_ranks_on_several_hosts_need_a_curve_between_hosts() -> None:
    job = pair([8], 10.0).job()
    apart = replace(job, processes=tuple(replace(one, host=f"n{one.rank}") for one in job.processes))
    found = excess_time(apart, CURVE)
    assert "2 hosts" in found.reason
    assert found.command.endswith("--hosts n0,n1")
    assert excess_time(apart, replace(CURVE, between_hosts=True)).excess_s > 0


def test_counts_and_programs_without_messages_have_a_reason() -> None:
    job = pair([8]).job()
    counted = replace(job, processes=tuple(replace(one, flags=("counts only",)) for one in job.processes))
    assert "without times" in excess_time(counted, CURVE).reason
    made = MadeProfile(2)
    made.add(0, "MPI_Allreduce", 10, 8, 1.0)
    assert "no point-to-point" in excess_time(made.job(), CURVE).reason


def test_the_command_can_be_typed() -> None:
    for hosts in ((), ("n1", "n0"), ("a",)):
        command_lines.read(curve_command(hosts))
