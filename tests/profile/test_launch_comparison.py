"""Several launches: intervals of times, and the functions whose counts differ."""

from hypothesis import given
from hypothesis import strategies as st

from octant.profile.job import JobProfile
from octant.profile.launch_comparison import compare_launches
from profile_jobs import MadeProfile


def launch(time_s: float, sends: int = 10, tests: int = 5, size: int = 100) -> JobProfile:
    made = MadeProfile(2)
    made.add(0, "MPI_Send", sends, size, time_s)
    made.add(1, "MPI_Recv", sends, size, time_s)
    made.add(1, "MPI_Test", tests, 0, time_s / 10)
    return made.job()


@given(st.lists(st.floats(0.01, 1), min_size=1, max_size=8))
def test_times_have_an_interval_from_three_launches(times: list[float]) -> None:
    found = compare_launches([launch(one) for one in times])
    assert found.launches == len(times)
    for one in found.values:
        assert len(one.values) == len(times) > 1
        assert (one.interval is not None) == (len(times) >= 3)
        if one.interval:
            assert one.interval.low <= one.interval.middle <= one.interval.high
    assert bool(found.values) == (len(times) > 1)


def test_values_are_those_of_each_launch() -> None:
    values = {one.name: one.values for one in compare_launches([launch(1.0), launch(2.0)]).values}
    assert values["MPI_Send"] == (1.0, 2.0)
    assert values["MPI time"] == (2.1, 4.2)
    assert values["elapsed"] == (10.0, 10.0)
    assert values["MPI share"] == (2.1 / 20, 4.2 / 20)


def test_equal_counts_are_not_named() -> None:
    assert compare_launches([launch(1.0), launch(2.0), launch(0.5)]).changed == ()


def test_calls_whose_numbers_differ_are_named_and_polling_is_marked() -> None:
    changed = compare_launches([launch(1.0), launch(1.0, sends=12, tests=90), launch(1.0, tests=7)]).changed
    assert [(one.name, one.what, one.least, one.most, one.is_polling) for one in changed] == [
        ("MPI_Recv", "calls", 10, 12, False),
        ("MPI_Recv", "bytes", 1000, 1200, False),
        ("MPI_Send", "calls", 10, 12, False),
        ("MPI_Send", "bytes", 1000, 1200, False),
        ("MPI_Test", "calls", 5, 90, True),
    ]


def test_equal_calls_with_other_sizes_differ_in_bytes() -> None:
    changed = compare_launches([launch(1.0), launch(1.0, size=101)]).changed
    assert {(one.name, one.what) for one in changed} == {("MPI_Recv", "bytes"), ("MPI_Send", "bytes")}


def test_a_function_that_only_one_launch_calls_is_named() -> None:
    made = MadeProfile(2)
    made.add(0, "MPI_Send", 10, 100, 1.0)
    changed = compare_launches([launch(1.0), made.job()]).changed
    assert ("MPI_Recv", 0, 10) in {(one.name, one.least, one.most) for one in changed if one.what == "calls"}
