"""Reductions by hand: the order is the definition."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from octant import stats
from octant.analysis.reduce import NoSamplesError, measure
from octant.metric import (
    Metric,
    custom,
    derived,
    groups,
    per,
    ranks,
    rate,
    reading,
    result,
    seconds,
    share,
    steps,
)
from octant.record import (
    Clock,
    Head,
    Pace,
    Point,
    Process,
    RankTotal,
    Reduced,
    Result,
    Samples,
    Series,
    Work,
    known_count,
)
from sketches import sketch_of

US = 1000  # ns


def series(
    ns: list[int], rank: int = 0, group: int = 0, name: str = "step", gap: int = 0, thread: int = 0, role: str = ""
) -> Series:
    values = np.asarray(ns, dtype=np.float64)
    return Series(Head(name, rank, thread, group, role), values, np.full(len(ns), float(gap)))


def point(
    *parts: Series, pace: Pace = "steps", counts: dict[str, int] | None = None, **changes: object
) -> tuple[Point, Samples]:
    numbers = sorted({part.head.group for part in parts}) or [0]
    members = tuple(tuple(sorted({p.head.rank for p in parts if p.head.group == number})) for number in numbers)
    lanes = {number: len({(p.head.rank, p.head.thread) for p in parts if p.head.group == number}) for number in numbers}
    work = tuple(Work(counts or {"bytes_sent": 1000}, group=n, lanes=lanes[n]) for n in numbers)
    samples = Samples(parts)
    found = Point(
        workload="mpi/thing", launch="thing-0", knobs={}, ranks=sum(map(len, members)) or 1, threads=1, pace=pace,
        work=work, results=(Result("wrong", 0.0, "1", 0.0),), read=lambda: samples, groups=members,
        heads=tuple(part.head for part in parts),
    )  # fmt: skip
    return dataclasses.replace(found, **changes), samples  # type: ignore[arg-type]


def value(metric_value: object, of: tuple[Point, Samples], name: str = "x") -> float:
    return measure(Metric(name, "s", "lower", metric_value), *of).value  # type: ignore[arg-type]


TWO_RANKS = point(series([10 * US, 20 * US, 90 * US], 0), series([12 * US, 14 * US, 16 * US], 1))
"""Slowest of each step: 12, 20, 90 us; means of the ranks: 40 and 14 us."""


def test_one_recorded_point_gives_imbs_three_times_the_worst_step_and_our_median() -> None:
    def of(*over: object) -> float:
        return value(seconds(over=over), TWO_RANKS)  # type: ignore[arg-type]

    assert value(seconds(), TWO_RANKS) == pytest.approx(20e-6)  # median over steps of the slowest rank
    assert of(steps("mean"), ranks("max"), groups("max")) == pytest.approx(40e-6)  # IMB's t_max
    assert of(steps("mean"), ranks("min"), groups("max")) == pytest.approx(14e-6)  # t_min
    assert of(steps("mean"), ranks("mean"), groups("max")) == pytest.approx(27e-6)  # t_avg
    assert of(ranks("max"), groups("max"), steps("max")) == pytest.approx(90e-6)  # the worst of all steps


def test_a_batch_and_a_count_divide_a_time_and_multiply_a_rate() -> None:
    batched = point(series([100 * US] * 5))
    batched = (dataclasses.replace(batched[0], work=(Work({"messages": 2, "bytes_sent": 64}, batch=10),)), batched[1])
    assert value(seconds(), batched) == pytest.approx(10e-6)
    assert value(per("messages"), batched) == pytest.approx(5e-6)
    assert value(rate("bytes_sent"), batched) == pytest.approx(64 / 10e-6)


def test_rates_of_groups_add_up_and_their_times_do_not() -> None:
    two = point(series([10 * US] * 4, 0, 0), series([20 * US] * 4, 1, 1))
    assert value(rate("bytes_sent"), two) == pytest.approx(1000 / 10e-6 + 1000 / 20e-6)
    assert value(seconds(), two) == pytest.approx(20e-6)
    each = measure(Metric("x", "s", "lower", seconds(over=(ranks("max"), steps("median")))), *two)
    assert each.by_group == pytest.approx((10e-6, 20e-6))


def test_of_several_groups_only_steps_count_while_all_were_at_work() -> None:
    long = series([10 * US] * 1000, 0, 0)  # at work for 10 ms
    short = series([10 * US] * 300 + [30 * US] * 0, 1, 1)  # for 3 ms
    found = measure(Metric("x", "s", "lower", seconds()), *point(long, short))
    assert found.together == pytest.approx(600 / 1300, abs=0.01)


def test_what_lanes_do_alone_adds_up_in_windows_and_their_times_are_pooled() -> None:
    lanes = point(
        series([100 * US] * 50, 0, thread=0), series([200 * US] * 25, 0, thread=1), pace="chunks",
        counts={"loads": 2000},
    )  # fmt: skip
    assert value(rate("loads"), lanes) == pytest.approx(1000 / 100e-6 + 1000 / 200e-6, rel=1e-6)
    assert value(per("loads"), lanes) == pytest.approx(100e-9)


def test_a_share_is_a_sum_over_a_sum() -> None:
    parts = (series([10 * US, 90 * US]), series([9 * US, 9 * US], name="phase/pack"))
    assert value(share("phase/pack"), point(*parts)) == pytest.approx(18 / 100)  # not (0.9 + 0.1) / 2


def test_an_empty_phase_reads_nothing_once_the_clocks_own_time_is_off() -> None:
    phase = dataclasses.replace(series([64, 64], name="phase/pack"), entries=np.array([2.0, 2.0]))
    process = Process(clock=Clock(mark_ns=66, empty_ns=32))
    assert value(seconds("phase/pack"), point(series([100, 100]), phase, process=process)) == 0


def test_steps_without_marks_are_the_steps_figure_and_the_others_the_phases() -> None:
    parts = (series([10, 10, 14, 14]), series([4, 4], name="phase/pack"))
    marked = point(*parts, marks_off=((0, 2, 0),))
    assert value(seconds(), marked) == pytest.approx(10e-9)
    assert value(seconds("phase/pack"), marked) == pytest.approx(4e-9)
    assert value(share("phase/pack"), marked) == pytest.approx(8 / 28)


def test_roles_that_are_not_measured_take_no_part() -> None:
    chase, load = series([100 * US] * 8, 0, role="chase"), series([900 * US] * 8, 1, role="load")
    work = (Work({"loads": 100}, role="chase"), Work({"loads": 9, "bytes_read": 7}, role="load"))
    loaded = point(chase, load, pace="chunks", work=work)
    assert value(per("loads"), loaded) == pytest.approx(1e-6)
    assert value(rate("bytes_read", role="load"), loaded) == pytest.approx(7 / 900e-6)
    assert value(seconds(role="load"), loaded) == pytest.approx(900e-6)
    assert value(seconds(), loaded) == pytest.approx(100e-6)


def test_what_all_roles_of_a_step_do_counts_and_the_first_ones_time() -> None:
    each = {"messages": 1, "bytes_sent": 64}
    work = (Work(each, role="caller"), Work(each, role="answerer"))
    there_and_back = point(series([10 * US] * 8, 0, role="caller"), work=work, ranks=2)
    assert value(per("messages"), there_and_back) == pytest.approx(5e-6)
    assert value(rate("bytes_sent"), there_and_back) == pytest.approx(128 / 10e-6)
    assert value(rate("bytes_sent", role="caller"), there_and_back) == pytest.approx(64 / 10e-6)


def test_readings_results_and_functions_of_them() -> None:
    residual = Series(Head("reading/residual", unit="1"), np.array([0.5, 0.1, 0.01]))
    found = point(series([10 * US] * 3), residual, results=(Result("iterations", 42.0, "1"),))
    assert value(reading("residual", over=(steps("min"), ranks("max"), groups("max"))), found) == 0.01
    assert value(result("iterations"), found) == 42
    assert value(derived(lambda a, b: a / b, seconds(), result("iterations")), found) == pytest.approx(10e-6 / 42)
    assert value(custom(lambda p, s: len(s.series) + known_count(p.ranks)), found) == 3


def test_a_metric_without_its_series_reads_the_result_of_its_name() -> None:
    bare = point(results=(Result("time", 3.5, "s"),))
    assert value(seconds(), bare, "time") == 3.5
    with pytest.raises(NoSamplesError, match="no series 'step'"):
        value(seconds(), bare, "another")


@pytest.mark.parametrize("pace", ["chunks", "steps"])
def test_samples_of_a_group_without_work_give_no_time(pace: Pace) -> None:
    changed = point(series([10 * US] * 50), pace=pace, work=(Work({"loads": 2000}, group=2),))
    with pytest.raises(NoSamplesError, match="no group has both samples and counts"):
        value(seconds(), changed)


def test_a_reduced_record_gives_what_it_keeps_and_refuses_the_rest() -> None:
    slowest = np.asarray([12.0 * US, 20 * US, 90 * US])
    kept = Reduced(
        "step",
        (RankTotal(0, 3, 120 * US, 10 * US, 90 * US), RankTotal(1, 3, 42 * US, 12 * US, 16 * US)),
        sketch_of([10 * US, 20 * US, 90 * US, 12 * US, 14 * US, 16 * US]),
        slowest_ns=slowest,
    )
    large = (TWO_RANKS[0], Samples((), (kept,)))
    assert value(seconds(), large) == pytest.approx(20e-6)
    assert value(seconds(over=(steps("mean"), ranks("max"), groups("max"))), large) == pytest.approx(40e-6)
    assert value(rate("bytes_sent"), large) == pytest.approx(1000 / 20e-6)
    sketched = dataclasses.replace(kept, slowest_ns=None, slowest=sketch_of([12 * US, 20 * US, 90 * US]))
    assert value(seconds(), (TWO_RANKS[0], Samples((), (sketched,)))) == pytest.approx(20e-6, rel=0.002)
    with pytest.raises(NoSamplesError, match="the record keeps no samples"):
        value(seconds(over=(steps("median"), ranks("max"), groups("max"))), large)


def test_groups_with_batches_and_counts_of_their_own_are_divided_by_their_own() -> None:
    parts = (series([10 * US] * 20, 0, 0), series([40 * US] * 20, 1, 1))
    work = (Work({"messages": 2}, 0, batch=1), Work({"messages": 8}, 1, batch=4))
    steps_of = point(*parts, work=work)
    assert value(seconds(), steps_of) == pytest.approx(10e-6)  # 10 us a step in both
    assert value(per("messages"), steps_of) == pytest.approx(5e-6)  # 5 us in the first, 1.25 us in the second
    assert value(rate("messages"), steps_of) == pytest.approx(2 / 10e-6 + 8 / 10e-6)
    chunks = point(*parts, work=work, pace="chunks")
    assert value(rate("messages"), chunks) == pytest.approx(2 / 10e-6 + 8 / 10e-6)
    assert value(per("messages"), chunks) == pytest.approx((5e-6 + 1.25e-6) / 2)


def test_steps_without_marks_are_the_steps_figure_of_several_groups_too() -> None:
    parts = (series([10 * US, 10 * US, 14 * US, 14 * US], 0, 0), series([10 * US, 10 * US, 14 * US, 14 * US], 1, 1))
    found = measure(Metric("x", "s", "lower", seconds()), *point(*parts, marks_off=((0, 2, 0), (0, 2, 1))))
    assert found.value == pytest.approx(10e-6)
    assert found.together == 1


def test_ranks_are_compared_in_the_same_step_where_groups_were_not_always_at_work_together() -> None:
    """Rank 1 is 5 us late: of the step that is cut it lies within the other group's burst, rank 0's does not."""
    early = [series([10 * US, 20 * US] * 10, 0, 0), series([20 * US, 10 * US] * 10, 1, 0)]
    early[1] = dataclasses.replace(early[1], gap_ns=np.array([5.0 * US] + [0.0] * 19))
    other = dataclasses.replace(series([10 * US] * 60, 2, 1), gap_ns=np.array([4.0 * US] + [0.0] * 59))
    found = measure(Metric("x", "s", "lower", seconds(over=(ranks("max"), steps("min")))), *point(*early, other))
    assert found.by_group[0] == pytest.approx(20e-6), "the slowest rank of every step takes 20 us"


def test_phases_of_several_groups_are_of_the_steps_that_are_their_steps() -> None:
    """Group 0 goes on alone after 4 steps, twice as fast; its first two steps had no marks."""
    fast = [series([20 * US] * 4 + [10 * US] * 40, 0, 0), series([8 * US] * 2 + [4 * US] * 40, 0, 0, "phase/pack")]
    other = [series([20 * US] * 4, 1, 1), series([8 * US] * 2, 1, 1, "phase/pack")]
    found = point(*fast, *other, marks_off=((0, 2, 0), (0, 2, 1)))
    assert value(seconds(), found) == pytest.approx(20e-6)
    assert value(seconds("phase/pack"), found) == pytest.approx(8e-6)


def test_the_warm_up_of_groups_is_no_time_apart() -> None:
    found = measure(Metric("x", "s", "lower", seconds()),
                    *point(series([10 * US] * 10, 0, 0), series([10 * US] * 10, 1, 1), warmup=8))  # fmt: skip
    assert found.together == 1


def test_groups_are_in_their_order_whatever_the_order_of_ranks() -> None:
    found = point(series([20 * US] * 4, 0, 1), series([10 * US] * 4, 1, 0),
                  results=(Result("wide", 2.0, group=1), Result("wide", 1.0, group=0)))  # fmt: skip
    each = measure(Metric("x", "s", "lower", seconds(over=(ranks("max"), steps("median")))), *found)
    assert each.by_group == pytest.approx((10e-6, 20e-6))
    assert measure(Metric("x", "1", "lower", result("wide")), *found).by_group == (1, 2)


def test_groups_are_reduced_by_the_place_of_ranks() -> None:
    parts = [series([ns * US] * 4, rank, rank // 2) for rank, ns in enumerate((10, 20, 40, 80))]
    assert value(seconds(over=(groups("sum"), ranks("max"), steps("median"))), point(*parts)) == pytest.approx(100e-6)


def test_counts_by_rank_are_in_the_order_of_the_groups_ranks() -> None:
    parts = (series([10 * US] * 20, 0), series([10 * US] * 10, 1))
    work = (Work({"loads": 400}, lanes=2, by_rank={"loads": (100, 300)}),)
    reverse = point(*parts, work=work, pace="chunks", groups=((1, 0),))
    slower = dataclasses.replace(parts[1], values=parts[1].values * 2)
    uneven = (reverse[0], Samples((parts[0], slower)))
    assert value(rate("loads"), uneven) == pytest.approx(300 / 10e-6 + 100 / 20e-6)


def kept_of(ns: list[int], group: int = 0, name: str = "step") -> Reduced:
    total = RankTotal(group, len(ns), sum(ns), min(ns), max(ns))
    return Reduced(name, (total,), sketch_of(ns), group, slowest_ns=np.asarray(ns, dtype=np.float64))


def test_a_reduced_record_is_cut_where_its_steady_state_begins_and_where_marks_were_on() -> None:
    large = point(series([1]), warmup=2)[0], Samples((), (kept_of([90, 80, 10, 10, 12]),))
    assert value(seconds(over=(ranks("max"), groups("max"), steps("max"))), large) == pytest.approx(12e-9)
    marked = point(series([1]), marks_off=((0, 2, 0),))[0], Samples((), (kept_of([10, 10, 14, 14]),))
    assert value(seconds(), marked) == pytest.approx(10e-9)


def test_rates_of_groups_add_up_in_a_reduced_record() -> None:
    both = point(series([1], 0, 0), series([1], 1, 1))[0]
    large = both, Samples((), (kept_of([20 * US] * 9, 1), kept_of([10 * US] * 9, 0)))
    found = measure(Metric("x", "B/s", "higher", rate("bytes_sent")), *large)
    assert found.value == pytest.approx(1000 / 10e-6 + 1000 / 20e-6)
    assert np.median(found.samples) == pytest.approx(found.value), "an interval is about the value"


def test_a_share_in_a_reduced_record_is_of_steps_with_marks_like_the_phase() -> None:
    parts = (kept_of([100, 100, 100, 100]), kept_of([25, 25], name="phase/pack"))
    large = point(series([1]), marks_off=((0, 2, 0),))[0], Samples((), parts)
    assert value(share("phase/pack"), large) == pytest.approx(0.25)


def test_the_worst_of_steps_that_only_a_sketch_keeps_is_exact_and_no_drift() -> None:
    times = [10 * US + 7 * i for i in range(30_000)]
    kept = dataclasses.replace(
        kept_of(times), slowest_ns=None, slowest=sketch_of(times), worst=((29_999, 0, times[-1]),)
    )
    large = point(series([1]))[0], Samples((), (kept,))
    assert value(seconds(over=(ranks("max"), groups("max"), steps("max"))), large) == times[-1] * 1e-9
    assert stats.drift(measure(Metric("x", "s", "lower", seconds()), *large).samples) == 0


def test_sums_of_neighbours_are_of_more_chunks_and_their_sums_by_rank_are_not() -> None:
    lane = series([400, 440, 400, 440], 0)  # each of four samples
    whole = point(lane, pace="chunks", coalesced=4)[0], Samples((lane,), (kept_of([100, 110] * 8),))
    assert value(seconds(), whole) == pytest.approx(105e-9)
    assert value(seconds(over=(steps("mean"), ranks("mean"), groups("mean"))), whole) == pytest.approx(105e-9)


def test_the_warm_up_of_readings_is_as_long_as_that_of_steps() -> None:
    residual = Series(Head("reading/residual", unit="1"), np.array([9.0, 9, 9, 9, 1, 1, 1, 1]))
    metric = reading("residual", over=(steps("max"), ranks("max"), groups("max")))
    assert value(metric, point(series([10] * 4), residual, warmup=2)) == 1, "two readings in each step"
    large = point(warmup=4)[0], Samples((residual,), (kept_of([10] * 8),))
    assert value(metric, large) == 1
    thinned = point(warmup=400)[0], Samples((residual,), (kept_of([10] * 800),))
    assert value(metric, thinned) == 1, "every hundredth is kept"


def test_a_reading_has_a_share_of_the_step_only_where_both_are_in_ns_and_kept() -> None:
    in_s = Series(Head("reading/device", unit="s"), np.array([1e-9, 1e-9]))
    with pytest.raises(NoSamplesError, match="in s, not in ns"):
        value(share("reading/device"), point(series([10, 10]), in_s))
    in_ns = Series(Head("reading/device", unit="ns"), np.array([1.0, 1.0]))
    assert value(share("reading/device"), point(series([10, 10]), in_ns)) == pytest.approx(0.1)
    with pytest.raises(NoSamplesError, match="contains only a part"):
        value(share("reading/device"), (point(in_ns)[0], Samples((in_ns,), (kept_of([10, 10]),))))


@given(st.lists(st.lists(st.integers(1, 10**9), min_size=4, max_size=4), min_size=1, max_size=5))
def test_the_orders_are_ordered(times: list[list[int]]) -> None:
    """The slowest rank's mean is at most the mean of the slowest steps, and no mean is beyond the worst step."""
    found = point(*(series(ns, rank) for rank, ns in enumerate(times)))
    t_max = value(seconds(over=(steps("mean"), ranks("max"), groups("max"))), found)
    slowest = value(seconds(over=(ranks("max"), groups("max"), steps("mean"))), found)
    worst = value(seconds(over=(ranks("max"), groups("max"), steps("max"))), found)
    assert t_max <= slowest * (1 + 1e-12) <= worst * (1 + 2e-12)


def test_what_one_step_in_a_thousand_exceeds() -> None:
    def of(*ns: int) -> float:
        return value(seconds(over=(ranks("max"), steps("p99.9"))), point(series(list(ns))))

    assert of(*range(1, 10_001)) == pytest.approx(9990e-9)
    assert of(5, 9, 7) == pytest.approx(9e-9), "the largest of a few"


def test_the_worst_undisturbed_step_is_one_in_which_no_rank_of_the_group_was_switched_out() -> None:
    worst = seconds(over=(ranks("max"), steps("max"), groups("max")), undisturbed=True)
    first = dataclasses.replace(series([9, 1, 2, 3], 0), preempted=frozenset({0}))
    second = dataclasses.replace(series([1, 8, 5, 4], 1), preempted=frozenset({1}))
    assert value(worst, point(first, second)) == pytest.approx(5e-9)
    other = series([7, 6], 2, group=1)
    assert value(worst, point(first, second, other)) == pytest.approx(7e-9), "each group by itself"
    phase = [series([70, 60], rank, name="phase/a") for rank in (0, 1)]
    found = point(first, second, *phase, marks_off=((0, 2, 0),))  # marks on in steps 2 and 3
    assert value(dataclasses.replace(worst, of="phase/a"), found) == pytest.approx(70e-9)
    with pytest.raises(NoSamplesError, match="preempted in every"):
        value(worst, point(dataclasses.replace(series([1, 2]), preempted=frozenset({0, 1}))))


@pytest.mark.parametrize("lists", [True, False])
def test_a_reduced_record_shows_disturbed_steps(lists: bool) -> None:
    worst = ((1, 0, 90), (2, 1, 50))
    part = Reduced(
        "step", (), sketch_of([10, 90, 50]), slowest_ns=np.asarray([10.0, 90.0, 50.0]) if lists else None,
        slowest=None if lists else sketch_of([10, 90, 50]), worst=() if lists else worst,
        preempted=frozenset({1}),
    )  # fmt: skip
    found, _ = point()
    over = (ranks("max"), steps("max"), groups("max"))
    assert value(seconds(over=over, undisturbed=True), (found, Samples((), (part,)))) == pytest.approx(50e-9)
    assert value(seconds(over=over), (found, Samples((), (part,)))) == pytest.approx(90e-9)
