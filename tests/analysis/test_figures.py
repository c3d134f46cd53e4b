"""From samples to figures: sums over lanes, flags, limits, ceilings, on points whose numbers are written here."""

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from fake_run import WORKLOADS, lane, machine, point
from octant import stats
from octant.analysis import figures
from octant.analysis.caveats import caveats_about, caveats_about_samples
from octant.analysis.figures import Figure, LaunchFigure, MeasuredCell, figure, figures_of
from octant.analysis.reduce import measure
from octant.analysis.summary import with_limit
from octant.limit import Best, Known, Limit, Provides, pattern
from octant.metric import Metric, groups, per, ranks, rate, result, seconds, steps
from octant.record import Clock, Point, RankResources, Reduced, Result, Samples, Series, Work
from octant.stats import Grade
from octant.workload import Workload
from sketches import sketch_of

RATE = Metric("rate", "B/s", "higher", rate("bytes_read"))
TIME = Metric("time", "s", "lower", per("loads"))
WORKLOAD = Workload("A thing", (RATE, TIME), {}, "fake/thing")
NOTHING = Known(machine().topology)


def values(metric: Metric, one: Point) -> NDArray[np.float64]:
    return measure(metric, one, one.read()).samples


def launch(one: Point, metric: str = "") -> LaunchFigure:
    return figure(WORKLOAD, [one], metric).launches[0]


def texts(one: Figure | LaunchFigure) -> tuple[str, ...]:
    return tuple(caveat.text for caveat in one.caveats)


def limited(workload: Workload, one: Point, known: Known = NOTHING) -> Figure:
    return with_limit(figure(workload, [one]), known, machine())


def test_a_constant_rate_is_exact() -> None:
    one = point(lanes=(lane([1000] * 100),), counts={"bytes_read": 8000})
    found = launch(one)
    assert (found.value.low, found.value.middle, found.value.high) == pytest.approx((8e9, 8e9, 8e9))


def test_a_batch_counts_every_chunk_in_it() -> None:
    one = point(lanes=(lane([1000] * 100),), counts={"bytes_read": 8}, batch=10)
    assert launch(one).value.middle == pytest.approx(80e6)


@given(st.integers(2, 6), st.lists(st.integers(500, 2000), min_size=40, max_size=80))
def test_twice_the_lanes_give_twice_the_rate(count: int, durations: list[int]) -> None:
    some = point(lanes=tuple(lane(durations, thread=t) for t in range(count)), counts={"bytes_read": 8})
    twice = point(lanes=tuple(lane(durations, thread=t) for t in range(2 * count)), counts={"bytes_read": 8})
    assert 2 * values(RATE, some) == pytest.approx(values(RATE, twice))


@given(st.integers(200, 4000))
def test_two_equal_steady_lanes_give_twice_one_lane(duration: int) -> None:
    one = point(lanes=(lane([duration] * 60),), counts={"bytes_read": 8})
    lanes = (lane([duration] * 60), lane([duration] * 60, thread=1, begin=duration // 3))
    two = point(lanes=lanes, counts={"bytes_read": 8})
    middles = [launch(p).value.middle for p in (one, two)]
    assert middles[1] == pytest.approx(2 * middles[0])


def test_lanes_of_unlike_speed_add_up() -> None:
    two = point(lanes=(lane([1000] * 400), lane([3000] * 133, thread=1)), counts={"bytes_read": 3000})
    assert np.median(values(RATE, two)) == pytest.approx(3e9 + 1e9, rel=0.01)


@given(st.integers(1, 20))
def test_a_gap_of_one_lane_is_left_out(gap: int) -> None:
    """Bursts with a pause between: the rate is that of the bursts, whatever the pause."""
    paused = [lane([1000] * 80, thread, gaps={40: gap * 10_000}) for thread in range(2)]
    two = point(lanes=tuple(paused), counts={"bytes_read": 1000})
    rates = values(RATE, two)
    assert np.median(rates) == pytest.approx(2e9, rel=0.01)
    assert rates.min() >= 0.8 * 2e9


@given(st.integers(0, 2**32 - 1))
def test_threads_that_are_often_switched_out_keep_the_rate_that_they_have_together(seed: int) -> None:
    """Each lane runs a third of the time, as on a machine with three times as many threads as cores."""
    generator = np.random.default_rng(seed)

    def disturbed(thread: int) -> Series:
        slices = generator.integers(20, 60, 60)  # samples until the thread is switched out
        out = np.cumsum(slices)
        durations = np.full(int(out[-1]) + 1, 1000)
        durations[out] += generator.integers(40_000, 160_000, len(out))
        return lane([int(d) for d in durations], thread=thread, preempted=[int(i) for i in out])

    two = point(lanes=(disturbed(0), disturbed(1)), counts={"bytes_read": 1000})
    found = launch(two)
    assert found.value.middle == pytest.approx(2e9, rel=0.02)
    assert any(text.startswith("all threads were busy at the same time for only") for text in texts(found))


def test_pauses_of_the_harness_are_in_no_rate() -> None:
    """Long samples leave few windows without a pause between two bursts; one lane's rate has none of it either."""
    bursts = dict.fromkeys(range(2, 60, 2), 150000)
    two = point(lanes=tuple(lane([1_000_000] * 60, t, gaps=bursts) for t in range(2)), counts={"bytes_read": 1000})
    assert np.median(values(RATE, two)) == pytest.approx(2e6, rel=1e-9)


def test_lanes_of_unlike_speed_are_no_drift() -> None:
    generator = np.random.default_rng(3)
    lanes = tuple(lane([int(x) for x in generator.normal(m, 10, 200)], rank=r) for r, m in enumerate((1000, 1100)))
    found = launch(point(lanes=lanes, counts={"loads": 10}), "time")
    assert found.caveats == ()
    assert found.value.low < 105e-9 < found.value.high


def test_lanes_that_are_never_together_say_so() -> None:
    """What is measured then is the machine as it was, and the flag says so."""
    first = lane([1000] * 10 + [100_000] * 9, preempted=range(10, 19))
    second = lane([100_000] * 9 + [1000] * 10, thread=1, preempted=range(9))
    found = launch(point(lanes=(first, second), counts={"bytes_read": 1000}))
    assert "the threads were never all busy and undisturbed at the same time" in texts(found)


def test_few_samples_say_that_their_interval_is_only_a_range() -> None:
    three = launch(point(lanes=(lane([1000] * 3),), counts={"bytes_read": 8}))
    assert texts(three) == ("a launch has only 3 samples; its interval is their range",)
    (text,) = texts(launch(point(lanes=(lane([1000]),), counts={"bytes_read": 8})))
    assert text.startswith("a launch has only 1 sample;")


def test_samples_that_swing_slowly_say_that_their_interval_is_only_a_range() -> None:
    two_levels = [1000, 1001] * 150 + [1010, 1011] * 300 + [1000, 1001] * 150
    one = point(lanes=(lane(two_levels),), counts={"bytes_read": 8})
    found = launch(one)
    assert (found.value.low, found.value.high) == pytest.approx((8 / 1011e-9, 8 / 1000e-9))
    assert any("autocorrelated samples of a launch count as" in text for text in texts(found))


def test_the_time_of_a_step_is_per_load_and_the_warm_up_is_dropped() -> None:
    steps = point("steps", lanes=(lane([9000] * 5 + [1000] * 50),), counts={"loads": 10}, warmup=5)
    found = launch(steps, "time")
    assert found.value.middle == pytest.approx(100e-9)
    assert len(found.samples) == 50


def test_a_warm_up_longer_than_the_samples_drops_nothing() -> None:
    short = point("steps", lanes=(lane([1000] * 3),), counts={"loads": 1}, warmup=10)
    assert len(values(TIME, short)) == 3


def least(seconds_: float) -> Workload:
    return dataclasses.replace(WORKLOAD, least_seconds=lambda _known, _machine, _point: Limit(seconds_, "the clock"))


def test_a_least_time_serves_rates_and_times_alike() -> None:
    one = point(lanes=(lane([1000] * 100),), counts={"bytes_read": 2000, "loads": 10})
    rates = limited(least(0.5e-6), one)
    assert rates.at_limit == pytest.approx(2000 / 0.5e-6)
    assert rates.of_limit == pytest.approx(0.5)
    timed = limited(dataclasses.replace(least(0.5e-6), metrics=(TIME,)), one)
    assert timed.at_limit == pytest.approx(50e-9)
    assert timed.of_limit == pytest.approx(0.5)
    assert limited(WORKLOAD, one).of_limit is None


def test_the_limit_of_lanes_is_for_a_chunk_of_each() -> None:
    """Two lanes of 1000 B in 1 us each are half of what 4000 B/us would be."""
    two = point(lanes=(lane([1000] * 100), lane([1000] * 100, thread=1)), counts={"bytes_read": 1000, "loads": 10})
    assert limited(least(0.5e-6), two).of_limit == pytest.approx(0.5)
    assert limited(dataclasses.replace(least(0.5e-6), metrics=(TIME,)), two).of_limit == pytest.approx(0.5)


STOLEN = {"time_s": 1, "node_steal_s": 0.2}
BUSY = {"time_s": 1, "node_busy_s": 1.9, "own_cpu_s": 1}
DISPUTED: list[tuple[Callable[[Series], Series], dict[str, Any], str]] = [
    (
        lambda x: dataclasses.replace(x, preempted=frozenset(range(100))),
        {},
        "note: 100 % of the samples were preempted",
    ),
    (
        lambda _x: lane([1000] * 90 + [1500] * 10, preempted=range(80, 100)),
        {},
        "note: 10 % of the samples were preempted",  # those that it cost time
    ),
    (
        lambda _x: lane([4_000_000] * 90 + [20_000_000] * 10, preempted=range(80, 100)),
        {},
        "limited: 10 % of the samples were preempted; a sample takes 4 ms, longer than a time slice",
    ),
    (lambda x: x, {"share_cores": True}, "limited: oversubscribed (more threads than hardware threads)"),
    (lambda x: x, {"noise": {"during": STOLEN}}, "limited: the hypervisor took up to 20 % of the CPU time"),
    (lambda x: x, {"noise": {"during": {**STOLEN, "node_steal_s": 0.03}}}, "note: the hypervisor took up to 3 %"),
    (lambda x: x, {"noise": {"during": {**STOLEN, "node_steal_s": 9}}}, "limited: the hypervisor took up to 50 %"),
    (
        lambda x: x,
        {"noise": {"during": BUSY}},
        "note: other processes used CPU time during the measurement",
    ),
    (lambda x: x, {"results": (Result("sum", 1.0, "1", 1e-9),)}, "invalid: the result is wrong"),
    (lambda x: x, {"build": {"faults_compiled": True}}, "invalid: the kernel is a fault-injection build"),
    (lambda x: x, {"notes": {"rounded": "bytes 1100 to 1088"}}, "note: sizes were rounded: bytes 1100 to 1088"),
    (lambda x: x, {"stopped_by": "time", "knobs": {"precision": "0.01"}}, "note: the time limit ended a launch before"),
    (lambda _x: lane([1000] * 100, clock_hz=(10**9,) * 3), {}, "note: a launch has only 3 bursts of samples"),
]


@pytest.mark.parametrize(("change_lane", "changes", "expected"), DISPUTED)
def test_what_casts_doubt_is_said_with_its_grade(
    change_lane: Callable[[Series], Series], changes: dict[str, Any], expected: str
) -> None:
    steady = lane([1000] * 100)
    clean = point(lanes=(steady,))
    assert caveats_about(clean, clean.read()) == ()
    limited = point(lanes=(change_lane(steady),), **changes)
    (found,) = caveats_about(limited, limited.read())
    assert f"{found.grade.name.lower()}: {found.text}".startswith(expected)


@pytest.mark.parametrize(
    ("lanes", "changes"),
    [((), {"stopped_by": "time", "knobs": {"precision": "0"}}),  # none was asked
     ((lane([1000] * 100, clock_hz=(10**9,) * 4),), {})],
)  # fmt: skip
def test_enough_effort_casts_no_doubt(lanes: tuple[Series, ...], changes: dict[str, Any]) -> None:
    one = point(lanes=lanes or (lane([1000] * 100),), **changes)
    assert caveats_about(one, one.read()) == ()


def test_a_figure_of_one_launch_names_the_hardware_threads_that_it_drew() -> None:
    def notes(knobs: dict[str, str], launches: int = 1, threads: int = 1) -> list[str]:
        lanes = tuple(lane([1000] * 100, thread) for thread in range(threads))
        one = point(lanes=lanes, counts={"bytes_read": 8}, knobs=knobs, threads=threads)
        return [
            found.text for found in figure(WORKLOAD, [one] * launches).caveats if found.kind == "single choice of CPUs"
        ]

    assert notes({"pin": "each"}) == ["the only launch ran on CPU 0; repeat it"]
    assert notes({"pin": "each"}, threads=2) == ["the only launch ran on CPUs 0-1; repeat it"]
    assert notes({"pin": "each"}, launches=2) == []
    assert notes({"pin": "none"}) == []


def test_what_was_given_other_than_asked_is_flagged() -> None:
    one = point(lanes=(lane([1000] * 100),), counts={"bytes_read": 8})
    flagged = figure(WORKLOAD, [one], mismatches={0: ("rank 0: on 3", "rank 1: on 4")})
    assert texts(flagged)[0] == "the request was not met: rank 0: on 3 (and 1 more)"
    assert flagged.mismatches == ("rank 0: on 3", "rank 1: on 4")


def test_a_phase_shorter_than_ten_of_its_marks_is_flagged() -> None:
    pack = dataclasses.replace(lane([500] * 100, name="phase/pack"), entries=np.ones(100))
    marked = point("steps", lanes=(lane([1000] * 100), pack), clock=Clock(mark_ns=66))
    (found,) = caveats_about(marked, marked.read())
    assert (found.text, found.grade) == ("phases take less than ten times their timing overhead: pack", Grade.LIMITED)


def test_unsteady_samples_cast_doubt() -> None:
    assert caveats_about_samples(np.full(100, 3.0)) == ()
    noisy = np.random.default_rng(1).normal(100, 1, 200)
    assert caveats_about_samples(noisy) == ()
    (drifts,) = caveats_about_samples(np.concatenate([noisy, noisy * 1.1]))
    assert (drifts.text[:11], drifts.grade) == ("10 % higher", Grade.LIMITED)
    (far,) = caveats_about_samples(np.where(np.arange(200) % 10 == 0, 200, noisy))
    assert (far.text, far.grade) == ("10 % of the samples are outliers", Grade.NOTE)


def test_correlated_samples_widen_the_interval() -> None:
    generator = np.random.default_rng(2)
    slow_swings = 1000 + 50 * np.repeat(generator.normal(size=20), 20) + generator.normal(size=400)
    one = point(lanes=(lane([int(x) for x in slow_swings]),), counts={"bytes_read": 1000})
    found = launch(one)
    naive = stats.median_interval(found.samples)
    assert found.value.high - found.value.low > 2 * (naive.high - naive.low)


def test_the_best_right_answer_on_the_same_hardware_threads_is_the_limit() -> None:
    def of(flops: int, threads: int = 1, **changes: Any) -> Figure:
        lanes = tuple(lane([1000] * 100, thread) for thread in range(threads))
        return figure(WORKLOAD, [point(lanes=lanes, counts={"bytes_read": flops}, threads=threads, **changes)])

    wrong = of(9000, results=(Result("sum", 1.0, "1", 1e-9),))
    names = {"memory traffic": ""}
    made = [(one, names) for one in (of(1000), of(2000, knobs={"kernel": "triad"}), wrong, of(500, threads=2))]
    known = figures.known_limits(made, machine())
    one, two = frozenset({("node", 0)}), frozenset({("node", 0), ("node", 1)})
    best = known.best("memory traffic", one)
    assert best is not None
    assert best.value == pytest.approx(2e9)
    assert best == known.best("memory traffic", frozenset({("node", 1)})), "another core of the same kind"
    pair = known.best("memory traffic", two)
    assert pair is not None
    assert pair.value == pytest.approx(1e9)
    assert known.best("memory traffic", frozenset({("other", 0), ("node", 0)})) is None, "two hosts are no two cores"
    with pytest.raises(KeyError):
        known.only(()).best("memory traffic", one)


def test_hardware_threads_that_lie_alike_have_one_limit_whichever_a_launch_drew() -> None:
    """The better of two figures is the limit of both, also where the worse drew the threads that are looked up."""
    slow, fast = frozenset({("node", 0)}), frozenset({("node", 1)})
    known = Known(machine().topology, {"memory traffic": {slow: Best(1e9, "slow"), fast: Best(2e9, "fast")}})
    for drawn in (slow, fast):
        best = known.best("memory traffic", drawn)
        assert best is not None
        assert best.cell == "fast"


def test_cores_of_one_domain_are_not_those_of_two() -> None:
    two_packages = machine(packages=2, cores=2).topology
    same = pattern(two_packages, frozenset({("n", 0), ("n", 1)}))
    assert same == pattern(two_packages, frozenset({("m", 2), ("m", 3)}))
    assert same != pattern(two_packages, frozenset({("n", 0), ("n", 2)}))


def test_what_provides_a_limit_has_no_share_of_it() -> None:
    workload = dataclasses.replace(
        WORKLOAD,
        bounded_by=("memory traffic",),
        provides=(Provides("memory traffic", "rate"),),
        least_seconds=lambda known, _m, p: Limit(
            p.count("bytes_read") / best.value if (best := known.best("memory traffic", p.hardware_threads)) else 1, "x"
        ),
    )
    slow, fast = (
        figure(workload, [point(lanes=(lane([1000] * 100),), counts={"bytes_read": n}, knobs={"n": str(n)})])
        for n in (1000, 2000)
    )
    known = figures.known_limits([(one, {"memory traffic": ""}) for one in (slow, fast)], machine())
    slow, fast = (with_limit(one, known, machine()) for one in (slow, fast))
    assert not slow.is_limit
    assert slow.of_limit == pytest.approx(0.5)
    assert fast.is_limit
    assert fast.of_limit is None
    alone = figures.known_limits([(slow, {"memory traffic": ""})], machine())
    assert with_limit(slow, alone, machine()).of_limit is None


def test_a_figure_is_made_from_all_launches_of_its_cell() -> None:
    launches = [point(lanes=(lane([ns] * 50),), counts={"bytes_read": 1000}) for ns in (900, 1000, 1200)]
    one = figure(WORKLOAD, launches)
    assert one.value is not None
    assert one.value.middle == pytest.approx(1e9)
    assert len(one.launches) == 3
    wrong = figure(WORKLOAD, [*launches, point(lanes=(lane([1] * 50),), results=(Result("sum", 1.0, "1", 0.0),))])
    assert wrong.value is None
    assert [check.name for check in wrong.wrong] == ["sum"]


def test_a_launch_keeps_a_thousand_samples_and_a_sketch_of_all_times() -> None:
    generator = np.random.default_rng(5)
    one = launch(point(lanes=(lane([int(x) for x in generator.normal(1000, 20, 50_000)]),), counts={"bytes_read": 1}))
    assert (len(one.samples), one.count, one.times.count) == (1000, 50_000, 50_000)
    assert np.median(one.samples) == pytest.approx(one.value.middle, rel=0.01)
    assert one.times.quantile(0.5) == pytest.approx(1000, rel=0.01)


def test_a_metric_without_what_it_is_made_of_says_what_is_missing() -> None:
    workload = dataclasses.replace(WORKLOAD, metrics=(Metric("pack", "s", "lower", seconds("phase/pack")),))
    one = figure(workload, [point("steps", lanes=(lane([1000] * 9),))])
    assert one.value is None
    assert one.missing == "there is no series 'phase/pack'"


def test_windows_in_which_a_lane_was_switched_out_do_not_count() -> None:
    hit = [1000 if i % 20 else 200_000 for i in range(400)]  # time slices lost to somebody else
    lost = [i for i, duration in enumerate(hit) if duration > 1000]
    steady = lane([1000] * 5000)
    flagged = point(lanes=(steady, lane(hit, thread=1, preempted=lost)), counts={"bytes_read": 1000})
    assert np.median(values(RATE, flagged)) == pytest.approx(2e9, rel=0.02)
    unflagged = point(lanes=(steady, lane(hit, thread=1)), counts={"bytes_read": 1000})
    assert np.median(values(RATE, unflagged)) == pytest.approx(2e9, rel=0.02)  # steal time leaves no flag


def test_a_switch_that_cost_no_time_does_not_spoil_a_long_sample() -> None:
    long = [1_000_000] * 60
    lanes = (lane(long, preempted=range(60)), lane(long, thread=1, preempted=range(60)))
    flagged = launch(point(lanes=lanes, counts={"bytes_read": 1_000_000}))
    assert flagged.value.middle == pytest.approx(2e9)
    assert not any("at work" in text for text in texts(flagged))
    assert any("preempted" in text for text in texts(flagged)), "it is said all the same"


def test_more_than_the_limit_is_flagged() -> None:
    one = point(lanes=(lane([1000] * 100),), counts={"bytes_read": 8000})
    assert "the value exceeds its limit" in texts(limited(least(1.1e-6), one))[0]
    assert not any("limit" in text for text in texts(limited(least(1e-6), one)))


def test_a_result_has_no_samples_and_no_doubt_about_their_number() -> None:
    workload = dataclasses.replace(WORKLOAD, metrics=(Metric("iterations", "1", "lower", result("iterations")),))
    one = figure(workload, [point("steps", lanes=(lane([1000] * 9),), results=(Result("iterations", 42.0),))])
    assert one.value is not None
    assert (one.value.low, one.value.middle, one.value.high) == (42, 42, 42)
    assert one.launches[0].caveats == ()


def test_a_mean_or_a_worst_step_has_no_interval_within_one_launch() -> None:
    ns = [1000, 1100] * 50
    for metric, value in ((seconds(over=(steps("mean"), ranks("max"), groups("max"))), 1050e-9),
                          (seconds(over=(ranks("max"), groups("max"), steps("max"))), 1100e-9)):  # fmt: skip
        workload = dataclasses.replace(WORKLOAD, metrics=(Metric("t", "s", "lower", metric),))
        one = figure(workload, [point("steps", lanes=(lane(ns),))])
        assert one.value is not None
        assert (one.value.low, one.value.middle, one.value.high) == pytest.approx((value, value, value))
        assert not any("interval is their range" in text for text in texts(one))


def pairs(times: tuple[int, int], batches: tuple[int, int] = (1, 1)) -> Point:
    """Two groups of two ranks, of which the first is timed."""
    lanes = tuple(lane([ns] * 50, rank=2 * group, group=group) for group, ns in enumerate(times))
    work = tuple(Work({"loads": 2, "bytes_read": 100}, group, batch=batches[group]) for group in (0, 1))
    return point("steps", lanes=lanes, work=work, ranks=4, groups=((0, 1), (2, 3)))


def test_a_time_per_count_of_groups_at_their_limit_is_that_of_one_group() -> None:
    one = figure(WORKLOAD, [pairs((1000, 1000))], "time")
    assert one.at(1e-6) == pytest.approx(500e-9)
    assert one.value is not None
    assert one.value.middle == pytest.approx(500e-9)
    assert figure(WORKLOAD, [pairs((1000, 1000))]).at(1e-6) == pytest.approx(200e6), "rates add up"


def test_the_distribution_of_times_is_of_as_many_steps_in_every_group() -> None:
    one = launch(pairs((2000, 8000), (2, 8)))
    assert one.times.quantile(0) == pytest.approx(2000, rel=0.002)
    assert one.times.quantile(1) == pytest.approx(2000, rel=0.002)
    kept = tuple(
        Reduced("step", (), sketch_of([ns] * 50), group, slowest_ns=np.full(50, ns))
        for group, ns in enumerate((2000, 8000))
    )
    large = launch(dataclasses.replace(pairs((1, 1), (2, 8)), read=lambda: Samples((), kept)))
    assert large.times.quantile(1) == pytest.approx(2000, rel=0.002)


def test_the_sketch_of_samples_that_were_added_up_later_is_of_as_many_chunks() -> None:
    lanes = (lane([4000] * 50),)
    kept = Samples(lanes, (Reduced("step", (), sketch_of([1000] * 200)),))
    one = launch(point(lanes=lanes, counts={"bytes_read": 1}, coalesced=4, read=lambda: kept))
    assert one.times.quantile(0.5) == pytest.approx(one.point.batch * 1000, rel=0.002)


def test_threads_that_may_go_anywhere_use_as_many_hardware_threads_as_can_work_at_once() -> None:
    """Two threads of a library of which one was seen, eight that were all seen on one hardware thread, and others."""

    def used(cpus: tuple[int, ...], *masks: tuple[int, ...], ranks: int = 1) -> set[int]:
        given = (RankResources("node", cpus, masks),) * ranks
        return {number for _, number in point(lanes=(lane([1000] * 50),), given=given, ranks=ranks).hardware_threads}

    assert used((0,), (0, 1), (0, 1)) == {0, 1}
    assert used((1,) * 8, *((0, 1),) * 8) == {0, 1}
    assert used((3,), tuple(range(8))) == {3}
    assert used((3,), tuple(range(8)), ranks=2) == {0, 3}
    assert used((5, 2), (5,), (2,)) == {2, 5}
    assert used((4,), ()) == {4}


def test_idle_ranks_use_no_hardware_threads_and_make_no_star() -> None:
    single = point(lanes=(lane([1000] * 50),), ranks=2, groups=((0,),))
    assert single.hardware_threads == {("node", 0)}
    assert single.working_ranks == 1
    assert figures.mode_of(single) == "one"
    assert figures.mode_of(point(lanes=(lane([1000] * 50),), ranks=2)) == "star"


def launched(ns: int, number: int = 0, count: int = 50, **changes: Any) -> Point:
    """Return a launch of the request's `number`-th repeat, five minutes after the one before."""
    started = f"2026-11-21T21:{45 + 2 * number}:00Z"
    return point(lanes=(lane([ns] * count),), counts={"bytes_read": 1000}, started=started, **changes)


@pytest.mark.parametrize(
    ("number", "kind"), [(1, "one launch"), (2, "two values"), (3, "student"), (5, "student"), (6, "order statistics")]
)
def test_a_figure_claims_what_its_number_of_launches_allows(number: int, kind: str) -> None:
    one = figure(WORKLOAD, [launched(1000 + 7 * n * n % 30, n) for n in range(number)])
    assert one.value is not None
    assert (one.value.kind, one.value.number) == (kind, number)
    minutes = (one.value.period.end - one.value.period.begin).total_seconds() / 60
    assert minutes == 2 * (number - 1)
    assert one.value.period.begin.tzinfo is not None
    assert ("few launches" in {caveat.kind for caveat in one.caveats}) == (number < 6)
    assert (one.next_launch is not None) == (number == 6)


@pytest.mark.parametrize("shares", [(0.0, 0.001, 0.2, 0.4), (0.3, 0.6, 0.9, 0.95), (0.0, 0.001, 0.2, 0.4, 0.9, 1.0)])
def test_the_interval_of_a_share_of_time_is_within_the_whole(shares: Sequence[float]) -> None:
    share = Metric("lost", "1", "lower", result("lost"), of_lost_time=True)
    points = [launched(1000, n, results=(Result("lost", value, "1"),)) for n, value in enumerate(shares)]
    one = figure(dataclasses.replace(WORKLOAD, metrics=(share,)), points)
    for ends in filter(None, (one.value, one.next_launch)):
        assert 0 <= ends.low <= ends.middle <= ends.high <= 1


def lost(share: float) -> tuple[stats.Caveat, ...]:
    return stats.graded("lost time", share, f"{share:.0%} lost")


def with_lost_time(one: Figure, shares: Sequence[float]) -> Figure:
    launches = [
        dataclasses.replace(launch, caveats=lost(share)) for launch, share in zip(one.launches, shares, strict=True)
    ]
    return dataclasses.replace(one, launches=tuple(launches))


def test_a_launch_that_lost_most_of_its_time_was_tried_and_does_not_count() -> None:
    six = figure(WORKLOAD, [launched(ns, n) for n, ns in enumerate((1000, 1001, 1002, 1003, 5000, 5001))])
    one = with_lost_time(six, (0, 0.03, 0.2, 0, 0.6, 0.9))
    assert one.value is not None
    assert (one.value.number, one.value.high < 1.1e9, one.value.low > 0.9e9) == (4, True, True)
    assert not one.invalid
    assert {caveat.kind: caveat.text for caveat in one.caveats if caveat.grade == Grade.LIMITED} == {
        "lost time": "20% lost",
        "launches excluded": "2 of 6 launches excluded (more than half of the CPU time lost)",
    }


def test_what_is_not_measurable_has_no_share_of_its_limit_and_is_none() -> None:
    one = with_lost_time(limited(least(0.5e-6), launched(1000)), [0.6])
    assert one.value is not None, "what was seen is shown"
    assert one.at_limit is not None
    assert (one.of_limit, one.invalid) == (None, True)
    assert not figures.known_limits([(one, {"memory traffic": ""})], machine()).by_name
    wide = figure(WORKLOAD, [launched(ns, n) for n, ns in enumerate((1000, 1800, 1300))])
    assert with_limit(dataclasses.replace(wide, workload=least(0.5e-6)), NOTHING, machine()).of_limit is None
    assert not figures.known_limits([(wide, {"memory traffic": ""})], machine()).by_name


def test_a_figure_carries_the_name_of_its_workload_until_an_ask_names_it() -> None:
    workload = WORKLOADS["node/stream"]
    found = figures_of(
        MeasuredCell(workload, [point(workload="node/stream", lanes=(lane([1000] * 10),))], workload.metrics[:1])
    )
    (one,) = found.values()
    assert (one.title, one.label) == ("node/stream", "node/stream")
