"""The loss of noise by hand and by property."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fake_run import lane, point
from octant.analysis.figures import figure
from octant.analysis.lost import caveats_about_lost
from octant.analysis.reduce import NoSamplesError, measure
from octant.record import Point, RankTimes, RankTotal, Reduced, Result, Samples, Series
from octant.stats.caveats import Grade
from octant.workloads.node.noise import WORKLOAD, beyond_the_quick_quantum
from sketches import sketch_of


def lost(*lanes: Series) -> float:
    return share("lost", point(lanes=lanes, counts={"quanta": 1}))


def share(metric: str, found: Point) -> float:
    return measure(WORKLOAD.metric(metric), found, found.read()).value


def test_half_of_the_time_in_one_long_pause_is_half_lost_and_so_are_many_pauses() -> None:
    assert lost(lane([10_000] * 1000 + [10_010_000])) == pytest.approx(0.5, abs=0.001)
    assert lost(lane([10_000, 30_000] * 500)) == pytest.approx(0.5)  # beyond the quick quantum, not the median's


def test_one_quantum_in_ten_that_takes_twice_as_long_is_a_loss_of_one_in_eleven() -> None:
    assert lost(lane([10_000] * 9 + [20_000])) == pytest.approx(10 / 110)


def test_a_record_that_is_too_large_for_every_quantum_loses_as_much() -> None:
    quanta = [10_000] * 900 + [20_000] * 100
    kept = Reduced("step", (RankTotal(0, 1000, sum(quanta), 10_000, 20_000),), sketch_of(quanta))
    added_up = lane([sum(quanta[i : i + 10]) for i in range(0, 1000, 10)])
    found = share("lost", point(counts={"quanta": 1}, read=lambda: Samples((added_up,), (kept,))))
    assert found == pytest.approx(100 * 10_000 / sum(quanta), rel=0.005)


@given(st.lists(st.integers(1, 10**9), min_size=1, max_size=200))
def test_a_loss_is_a_share(durations: list[int]) -> None:
    assert 0 <= lost(lane(durations)) < 1


def test_pauses_between_bursts_do_not_count() -> None:
    assert lost(lane([10_000] * 10, gaps={5: 10**9})) == 0
    with pytest.raises(NoSamplesError):
        lost(lane([]))


def with_pauses(pauses: dict[int, int], firsts: Sequence[int] = (0,), at_end: int = 0) -> Series:
    """Return a hundred quanta of 10 us with gaps of 300 ns, and longer gaps before some.

    Args:
        firsts: of each burst its first quantum. What lies before it in a burst lasts 300 ns too.
        at_end: of the time of each burst, ns after its last quantum.
    """
    gaps = {i: 300 + pauses.get(i, 0) for i in range(100)}
    bursts = [
        (first, sum(10_000 + gaps[i] for i in range(first, end)) + at_end - pauses.get(first, 0))
        for first, end in zip(firsts, [*firsts[1:], 100], strict=True)
    ]
    return lane([10_000] * 100, gaps=gaps, bursts=bursts)


def test_what_stops_a_lane_between_two_quanta_of_a_burst_is_lost() -> None:
    """A stop of 600 us before a quantum, and 1 ms of quanta; a stop within a quantum counts as much."""
    assert lost(with_pauses({40: 600_000})) == pytest.approx(0.375)
    assert lost(lane([*[10_000] * 99, 610_000])) == pytest.approx(0.375)
    assert lost(with_pauses({40: 300_000, 60: 300_000})) == pytest.approx(0.375)
    (of,) = beyond_the_quick_quantum(point(), Samples((with_pauses({40: 600_000}),)))
    assert (of.ns.max(), of.whole_ns) == (600_000, 1_600_000)


def test_what_stops_a_lane_after_the_last_quantum_of_a_burst_is_lost() -> None:
    assert lost(with_pauses({}, (0, 50), at_end=300_000)) == pytest.approx(0.375)


def test_what_the_harness_does_between_two_quanta_is_not_lost() -> None:
    """Its usual gap, page faults of some microseconds, and what lies between two bursts."""
    assert lost(with_pauses({7: 9_000, 8: 2_000}, at_end=3_000)) == 0
    assert lost(with_pauses({50: 500_000}, (0, 50))) == 0
    assert lost(with_pauses({0: 500_000})) == 0
    assert lost(replace(with_pauses({40: 600_000}), bursts=())) == 0, "an older record does not say where bursts begin"


def test_a_record_that_is_too_large_for_every_gap_loses_as_much() -> None:
    quanta = [10_000] * 1000
    gaps = sketch_of([300] * 996 + [6_000, 600_300, 1_200_300])
    kept = Reduced("step", (RankTotal(0, 1000, sum(quanta), 10_000, 10_000),), sketch_of(quanta), gaps=gaps)
    found = share("lost", point(counts={"quanta": 1}, read=lambda: Samples((), (kept,))))
    assert found == pytest.approx(1_800_000 / 11_800_000, rel=0.005)
    older = replace(kept, gaps=None)
    assert share("lost", point(counts={"quanta": 1}, read=lambda: Samples((), (older,)))) == pytest.approx(0, abs=0.002)


@given(st.dictionaries(st.integers(1, 99), st.integers(0, 10**8), max_size=49))
def test_gaps_change_nothing_below_ten_microseconds_and_count_fully_above(pauses: dict[int, int]) -> None:
    beyond = sum(ns for ns in pauses.values() if ns > 10_000)
    assert lost(with_pauses(pauses)) == pytest.approx(beyond / (10**6 + beyond))


def test_every_lane_is_compared_with_its_own_quantum() -> None:
    """Half of the time beyond ten quanta of 10 us in 1.1 ms, and a lane ten times as slow without losses."""
    assert lost(lane([10_000] * 9 + [10**6]), lane([100_000] * 10, thread=1)) == pytest.approx(990 / 2090)


def test_the_cpu_clock_says_how_much_of_the_bursts_a_thread_did_not_run() -> None:
    taken = RankTimes(0, (10**9, 10**9), (10**9, 5 * 10**8), (0, 5 * 10**8))
    assert share("lost by CPU clock", point(taken=(taken,))) == pytest.approx(0.25)
    older = figure(WORKLOAD, (point(lanes=(lane([10_000] * 10),)),), "lost by CPU clock")
    assert older.launches == ()
    assert "the record has no data" in older.missing


def test_moves_are_of_one_thread_and_second() -> None:
    """Four moves in 2000 quanta of 10 us."""
    counted = (Result("quanta", 2000.0), Result("moves to another hardware thread", 4.0))
    found = point(lanes=(lane([10_000] * 1000), lane([10_000] * 1000, thread=1)), counts={"quanta": 1}, results=counted)
    assert share("moves", found) == pytest.approx(200)


def test_lost_time_is_no_doubt_about_moves() -> None:
    half = point(taken=(RankTimes(0, (10**9,), (10**8,), (9 * 10**8,)),))
    assert caveats_about_lost(half, WORKLOAD.metric("moves"), 3.0, sketch_of([10_000])) == ()


def test_two_shares_of_lost_time_that_differ_are_doubtful() -> None:
    samples = (lane([10_000] * 90 + [20_000] * 10),)
    agreeing, slower = ((RankTimes(0, (10**9,), (cpu,), (0,)),) for cpu in (910_000_000, 10**9))
    value = lost(*samples)
    metric, times = WORKLOAD.metric("lost"), sketch_of([10_000])
    assert caveats_about_lost(point(lanes=samples, taken=agreeing), metric, value, times) == ()
    (found,) = caveats_about_lost(point(lanes=samples, taken=slower), metric, value, times)
    assert (found.kind, found.grade) == ("inconsistent lost-time sources", Grade.LIMITED)
    assert found.text == "the samples show 9 % lost time, the CPU clocks of the threads 0 %"


def test_lost_time_is_no_doubt_about_a_share_of_lost_time() -> None:
    half = point(taken=(RankTimes(0, (10**9,), (3 * 10**8,), (7 * 10**8,)),))
    assert caveats_about_lost(half, WORKLOAD.metric("lost"), 0.7, sketch_of([10_000])) == ()
