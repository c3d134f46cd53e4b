"""From samples to figures: sums over lanes, flags, limits, ceilings, on points whose numbers are written here."""

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fake_run import lane, machine, point
from octant import stats
from octant.analysis import figures
from octant.record import Check, Lane, Work
from octant.workload import Ceilings, Limit, Metric, Workload

RATE = Metric("rate", "B/s", "rate", lambda p: p.work.bytes_read)
TIME = Metric("time", "s", "time", lambda p: p.work.loads)
WORKLOAD = Workload("A thing", (RATE, TIME), lambda _m, c, _p: Limit(c.clock_hz or 4e9, "the clock"), lambda _m, _q: ())


def test_a_constant_rate_is_exact() -> None:
    one = point(lanes=(lane([1000] * 100),), work=Work(bytes_read=8000))
    figure = figures.figure(WORKLOAD, one)
    assert (figure.value.low, figure.value.middle, figure.value.high) == pytest.approx((8e9, 8e9, 8e9))


def test_a_batch_counts_every_chunk_in_it() -> None:
    one = point(lanes=(lane([1000] * 100),), work=Work(bytes_read=8), batch=10)
    assert figures.figure(WORKLOAD, one).value.middle == pytest.approx(80e6)


@given(st.integers(2, 6), st.lists(st.integers(500, 2000), min_size=40, max_size=80))
def test_twice_the_lanes_give_twice_the_rate(count: int, durations: list[int]) -> None:
    some = point(lanes=tuple(lane(durations, thread=t) for t in range(count)), work=Work(bytes_read=8))
    twice = dataclasses.replace(some, lanes=tuple(lane(durations, thread=t) for t in range(2 * count)))
    assert 2 * figures.values(RATE, some) == pytest.approx(figures.values(RATE, twice))


@given(st.integers(200, 4000))
def test_two_equal_steady_lanes_give_twice_one_lane(duration: int) -> None:
    one = point(lanes=(lane([duration] * 60),), work=Work(bytes_read=8))
    two = dataclasses.replace(one, lanes=(lane([duration] * 60), lane([duration] * 60, thread=1, begin=duration // 3)))
    middles = [figures.figure(WORKLOAD, p).value.middle for p in (one, two)]
    assert middles[1] == pytest.approx(2 * middles[0])


def test_lanes_of_unlike_speed_add_up() -> None:
    two = point(lanes=(lane([1000] * 400), lane([3000] * 133, thread=1)), work=Work(bytes_read=3000))
    assert np.median(figures.values(RATE, two)) == pytest.approx(3e9 + 1e9, rel=0.01)


@given(st.integers(1, 20))
def test_a_gap_of_one_lane_is_left_out(gap: int) -> None:
    """Bursts with a pause between: the rate is that of the bursts, whatever the pause."""
    paused = lane([1000] * 80, gaps={40: gap * 10_000})
    two = point(lanes=(paused, dataclasses.replace(paused, thread=1)), work=Work(bytes_read=1000))
    rates = figures.values(RATE, two)
    assert np.median(rates) == pytest.approx(2e9, rel=0.01)
    assert rates.min() >= 0.8 * 2e9


@given(st.integers(0, 2**32 - 1))
def test_threads_that_are_often_switched_out_keep_the_rate_that_they_have_together(seed: int) -> None:
    """Each lane runs a third of the time, as on a machine with three times as many threads as cores."""
    generator = np.random.default_rng(seed)

    def disturbed(thread: int) -> Lane:
        slices = generator.integers(20, 60, 60)  # samples until the thread is switched out
        out = np.cumsum(slices)
        durations = np.full(int(out[-1]) + 1, 1000)
        durations[out] += generator.integers(40_000, 160_000, len(out))
        return lane([int(d) for d in durations], thread=thread, preempted=[int(i) for i in out])

    two = point(lanes=(disturbed(0), disturbed(1)), work=Work(bytes_read=1000))
    figure = figures.figure(WORKLOAD, two)
    assert figure.value.middle == pytest.approx(2e9, rel=0.02)
    assert any(flag.startswith("threads were all at work at once in") for flag in figure.flags)


def test_the_harness_s_pauses_are_in_nobody_s_rate() -> None:
    """Long samples leave few windows without a pause between two bursts; one lane's rate has none of it either."""
    bursts = dict.fromkeys(range(2, 60, 2), 150000)
    two = point(lanes=tuple(lane([1_000_000] * 60, t, gaps=bursts) for t in range(2)), work=Work(bytes_read=1000))
    assert np.median(figures.values(RATE, two)) == pytest.approx(2e6, rel=1e-9)


def test_lanes_of_unlike_speed_are_no_drift() -> None:
    generator = np.random.default_rng(3)
    lanes = tuple(lane([int(x) for x in generator.normal(m, 10, 200)], rank=r) for r, m in enumerate((1000, 1100)))
    figure = figures.figure(WORKLOAD, point(lanes=lanes, work=Work(loads=10)), metric="time")
    assert figure.flags == ()
    assert figure.value.low < 105e-9 < figure.value.high


def test_lanes_that_are_never_together_say_so() -> None:
    """What is measured then is the machine as it was, and the flag says so."""
    first = lane([1000] * 10 + [100_000] * 9, preempted=range(10, 19))
    second = lane([100_000] * 9 + [1000] * 10, thread=1, preempted=range(9))
    figure = figures.figure(WORKLOAD, point(lanes=(first, second), work=Work(bytes_read=1000)))
    assert "threads were never all at work undisturbed at once" in figure.flags


def test_few_samples_say_that_their_interval_is_only_a_range() -> None:
    flags = figures.figure(WORKLOAD, point(lanes=(lane([1000] * 3),), work=Work(bytes_read=8))).flags
    assert flags == ("only 3 samples: the interval is their range",)


def test_samples_that_swing_slowly_say_that_their_interval_is_only_a_range() -> None:
    two_levels = [1000, 1001] * 150 + [1010, 1011] * 300 + [1000, 1001] * 150
    one = point(lanes=(lane(two_levels),), work=Work(bytes_read=8))
    found = figures.figure(WORKLOAD, one)
    assert (found.value.low, found.value.high) == pytest.approx((8 / 1011e-9, 8 / 1000e-9))
    assert any("swing so slowly tell no more than" in flag for flag in found.flags)


def test_the_time_of_a_step_is_per_load_and_the_warm_up_is_dropped() -> None:
    steps = point("steps", lanes=(lane([9000] * 5 + [1000] * 50),), work=Work(loads=10), warmup=5)
    figure = figures.figure(WORKLOAD, steps, metric="time")
    assert figure.value.middle == pytest.approx(100e-9)
    assert len(figure.samples) == 50
    assert figure.limit is None  # limits belong to the headline


def test_a_warm_up_longer_than_the_samples_drops_nothing() -> None:
    short = point("steps", lanes=(lane([1000] * 3),), work=Work(loads=1), warmup=10)
    assert len(figures.values(TIME, short)) == 3


def test_the_share_of_a_limit_is_one_at_best_for_rates_and_times() -> None:
    rate = point(lanes=(lane([1000] * 100),), work=Work(bytes_read=2000))
    assert figures.figure(WORKLOAD, rate, machine()).of_limit == pytest.approx(0.5)
    timed = dataclasses.replace(WORKLOAD, metrics=(TIME,), limit=lambda _m, _c, _p: Limit(50e-9, "a cycle"))
    steps = point("steps", lanes=(lane([1000] * 100),), work=Work(loads=10))
    assert figures.figure(timed, steps, machine()).of_limit == pytest.approx(0.5)
    assert figures.figure(timed, steps).of_limit is None


BUSY = {"time_s": 1, "node_busy_s": 1.9, "own_cpu_s": 1}
FLAGGED: list[tuple[Callable[[Lane], Lane], dict[str, Any], str]] = [
    (lambda x: dataclasses.replace(x, preempted=frozenset(range(100))), {}, "preempted in 100 % of samples"),
    (
        lambda x: dataclasses.replace(x, duration_ns=(1000,) * 90 + (1500,) * 10, preempted=frozenset(range(80, 100))),
        {},
        "preempted in 10 % of samples",  # those that it cost time
    ),
    (lambda x: x, {"share_cores": True}, "more threads than hardware threads"),
    (lambda x: x, {"noise": {"during": {"time_s": 1, "node_steal_s": 0.2}}}, "the hypervisor took CPU time away"),
    (
        lambda x: x,
        {"noise": {"during": BUSY}},
        "other processes were busy",
    ),
    (lambda x: x, {"verdict": Check("sum", 1.0, 1e-9, False)}, "WRONG ANSWER"),
    (lambda x: x, {"build": {"faults_compiled": True}}, "fault-injection build"),
]


@pytest.mark.parametrize(("change_lane", "changes", "flag"), FLAGGED)
def test_doubts_are_told(change_lane: Callable[[Lane], Lane], changes: dict[str, Any], flag: str) -> None:
    clean = point(lanes=(lane([1000] * 100),))
    assert figures.doubts(clean) == ()
    doubtful = dataclasses.replace(clean, lanes=(change_lane(clean.lanes[0]),), **changes)
    assert figures.doubts(doubtful) == (flag,)


def test_unsteady_samples_are_told() -> None:
    assert figures.unsteady(np.full(100, 3.0)) == ()
    noisy = np.random.default_rng(1).normal(100, 1, 200)
    assert figures.unsteady(noisy) == ()
    assert figures.unsteady(np.concatenate([noisy, noisy * 1.1]))[0].startswith("drifts by +10 %")
    assert figures.unsteady(np.where(np.arange(200) % 10 == 0, 200, noisy)) == ("10 % outliers",)


def test_correlated_samples_widen_the_interval() -> None:
    generator = np.random.default_rng(2)
    slow_swings = 1000 + 50 * np.repeat(generator.normal(size=20), 20) + generator.normal(size=400)
    one = point(lanes=(lane([int(x) for x in slow_swings]),), work=Work(bytes_read=1000))
    figure = figures.figure(WORKLOAD, one)
    naive = stats.median_interval(figure.samples)
    assert figure.value.high - figure.value.low > 2 * (naive.high - naive.low)


def test_ceilings_are_the_best_right_answers_by_threads() -> None:
    raising = dataclasses.replace(WORKLOAD, ceiling=lambda _m, _p: ("memory", "rate"))
    slow = point(lanes=(lane([1000] * 100),), work=Work(bytes_read=1000), noise={"before": {"frequency_hz": 3e9}})
    fast = dataclasses.replace(slow, work=Work(bytes_read=2000))
    wrong = dataclasses.replace(slow, work=Work(bytes_read=9000), verdict=Check("sum", 1.0, 1e-9, False))
    pair = dataclasses.replace(slow, ranks=2)
    stranger = dataclasses.replace(slow, workload="unknown")
    found = figures.ceilings([slow, fast, wrong, pair, stranger], machine(), {"thing": raising})
    assert found == Ceilings(3e9, {}, {1: pytest.approx(2e9), 2: pytest.approx(1e9)})  # type: ignore[dict-item]


def test_windows_in_which_a_lane_was_switched_out_do_not_count() -> None:
    hit = [1000 if i % 20 else 200_000 for i in range(400)]  # time slices lost to somebody else
    lost = [i for i, duration in enumerate(hit) if duration > 1000]
    steady = lane([1000] * 5000)
    flagged = point(lanes=(steady, lane(hit, thread=1, preempted=lost)), work=Work(bytes_read=1000))
    assert np.median(figures.values(RATE, flagged)) == pytest.approx(2e9, rel=0.02)
    unflagged = point(lanes=(steady, lane(hit, thread=1)), work=Work(bytes_read=1000))
    assert np.median(figures.values(RATE, unflagged)) == pytest.approx(2e9, rel=0.02)  # steal time leaves no flag


def test_a_switch_that_cost_no_time_does_not_spoil_a_long_sample() -> None:
    long = [1_000_000] * 60
    lanes = (lane(long, preempted=range(60)), lane(long, thread=1, preempted=range(60)))
    flagged = figures.figure(WORKLOAD, point(lanes=lanes, work=Work(bytes_read=1_000_000)))
    assert flagged.value.middle == pytest.approx(2e9)
    assert not any("at work" in flag for flag in flagged.flags)
    assert any("preempted" in flag for flag in flagged.flags), "it is said all the same"


def test_more_than_the_limit_is_doubted() -> None:
    one = point(lanes=(lane([1000] * 100),), work=Work(bytes_read=8000))
    assert "beyond its limit" in figures.figure(WORKLOAD, one, machine(), Ceilings(clock_hz=7e9)).flags[0]
    assert not figures.figure(WORKLOAD, one, machine(), Ceilings(clock_hz=8e9)).flags
