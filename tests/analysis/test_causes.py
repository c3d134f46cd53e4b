"""Causes of lost time add up to what was lost, whatever the records say."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fake_run import fake_run, lane, point, stored
from octant.analysis.causes import Causes, causes, causes_of_run
from octant.analysis.figures import Figure, figure
from octant.analysis.summary import summarise
from octant.metric import Interruptions, Metric, interrupted
from octant.record import Point, RankResources, RankTimes, Samples
from octant.workload import Workload
from octant.workloads.node.noise import WORKLOAD


def launch(minute: int, quanta: list[int], *taken: RankTimes) -> Point:
    started = f"2026-11-21T21:{minute:02}:00Z"
    return point(lanes=(lane(quanta),), counts={"quanta": 1}, taken=taken, started=started)


def lost_figure(*points: Point) -> Figure:
    return figure(WORKLOAD, points, "lost")


def parts_of(found: Causes | None) -> tuple[float, ...]:
    assert found is not None
    assert sum(share for _, share in found.parts) == pytest.approx(found.lost)
    return tuple(share for _, share in found.parts)


QUANTA = [10_000] * 9 + [110_000]  # half of the time is lost


def test_causes_are_shares_of_all_time_and_the_rest_is_unexplained() -> None:
    taken = RankTimes(0, (10**9,), (8 * 10**8,), (15 * 10**7,), throttled_ns=5 * 10**7, throttled_group="/job")
    found = causes(lost_figure(launch(0, QUANTA, taken)))
    assert found is not None
    assert found.lost == pytest.approx(0.5)
    assert parts_of(found) == pytest.approx((0.1, 0.05, 0, 0.35))


def test_a_launch_counts_by_its_time() -> None:
    """A launch ten times as long that loses nothing: what was lost is an eleventh, not the median of both."""
    long = launch(1, [10_000] * 200, RankTimes(0, (2 * 10**6,), (2 * 10**6,), (0,)))
    one = lost_figure(launch(0, QUANTA, RankTimes(0, (2 * 10**5,), (10**5,), (10**5,))), long)
    assert one.value is not None
    assert one.value.middle == pytest.approx(100 / 2200)
    assert parts_of(causes(one)) == pytest.approx((100 / 2200, 0, 0, 0))


def test_records_never_explain_more_than_was_lost() -> None:
    taken = RankTimes(0, (10**9,), (10**8,), (9 * 10**8,))
    found = causes(lost_figure(launch(0, [10_000] * 99 + [20_000], taken)))
    assert parts_of(found) == pytest.approx((1 / 101, 0, 0, 0))
    assert parts_of(causes(lost_figure(launch(0, [10_000] * 10, taken)))) == (0, 0, 0, 0)


def test_older_records_explain_nothing() -> None:
    assert parts_of(causes(lost_figure(launch(0, QUANTA)))) == pytest.approx((0, 0, 0, 0.5))


def test_of_other_figures_and_of_the_run_the_threads_clocks_count() -> None:
    half = RankTimes(0, (10**9,), (5 * 10**8,), (5 * 10**8,))
    idle = RankTimes(0, (3 * 10**9,), (3 * 10**9,), (0,))
    rate = figure(WORKLOAD, [launch(0, QUANTA, half), launch(1, QUANTA, idle)], "quantum")
    assert parts_of(causes(rate)) == pytest.approx((0.125, 0, 0, 0))
    points = [launch(0, QUANTA, half), launch(1, QUANTA, idle)]
    assert parts_of(causes_of_run(summarise(stored((), points), {}))) == pytest.approx((0.125, 0, 0, 0))
    assert causes_of_run(summarise(fake_run())) is None


def test_stolen_time_that_clocks_count_as_work_is_the_hosts() -> None:
    stolen = RankTimes(0, (10**9,), (10**9,), (0,), elapsed_ns=10**9, stolen_ns=2 * 10**8)
    assert parts_of(causes_of_run(summarise(stored((), [launch(0, QUANTA, stolen)]), {}))) == pytest.approx(
        (0, 0, 0.2, 0)
    )


def test_the_threads_of_a_launch_that_share_cores_are_no_other_processes() -> None:
    half = RankTimes(0, (10**9,) * 4, (4 * 10**8,) * 4, (6 * 10**8,) * 4)
    places = (RankResources("n", (), ((0, 1),) * 4),)
    crowded = replace(launch(0, QUANTA, half), threads=4, given=places, share_cores=True)
    found = causes_of_run(summarise(stored((), [crowded]), {}))
    assert found is not None
    assert dict(found.parts)["oversubscription"] == pytest.approx(0.5)
    assert dict(found.parts)["other processes"] == pytest.approx(0.1)
    assert found.main == "oversubscription"
    assert sum(share for _, share in found.parts) == pytest.approx(found.lost)


@pytest.mark.parametrize(
    ("shares", "main", "named"),
    [
        ((0.2, 0.12, 0.0, 0.0, 0.08), "other processes", ["other processes", "unexplained"]),
        ((0.2, 0.07, 0.06, 0.0, 0.07), "", ["other processes", "a CPU quota", "unexplained"]),
        ((0.0, 0.0, 0.0, 0.0, 0.0), "", []),
        ((0.0004, 0.0004, 0.0, 0.0, 0.0), "", []),
    ],
)
def test_no_cause_is_named_that_took_no_time(shares: tuple[float, ...], main: str, named: list[str]) -> None:
    found = Causes(*shares)
    assert (found.main, [name for name, _ in found.named]) == (main, named)


def test_of_ranks_that_may_wait_the_run_queue_counts_of_all_of_them() -> None:
    ranks = tuple(RankTimes(rank, (10**9,), (), (wait,)) for rank, wait in enumerate((0, 4 * 10**8)))
    assert parts_of(causes_of_run(summarise(stored((), [launch(0, QUANTA, *ranks)]), {}))) == pytest.approx(
        (0.2, 0, 0, 0)
    )


@given(st.lists(st.tuples(st.integers(0, 100), st.integers(0, 100), st.integers(0, 100)), min_size=1, max_size=5))
def test_causes_add_up_to_the_value_of_the_figure(launches: list[tuple[int, int, int]]) -> None:
    def lost(found: Point, _samples: Samples) -> list[Interruptions]:
        return [Interruptions(0, 0, np.array([float(found.notes["lost"])]), np.ones(1, dtype=np.int64), 100.0)]

    metric = Metric("lost", "1", "lower", interrupted(lost), of_lost_time=True)
    points = [
        point(
            notes={"lost": str(lost)},
            taken=(RankTimes(0, (100,), (100 - min(wait, 100),), (wait,), elapsed_ns=100, stolen_ns=stolen),),
        )
        for lost, wait, stolen in launches
    ]
    one = figure(Workload("", (metric,), {}), points)
    found = causes(one)
    assert found is not None
    assert one.value is not None
    assert all(share >= 0 for _, share in found.parts)
    assert found.lost == pytest.approx(one.value.middle)
    assert sum(share for _, share in found.parts) == pytest.approx(found.lost)
