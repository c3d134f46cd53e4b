"""Lost time of points: the clocks that count, quotas that ranks share, and remarks about undisturbed values."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from fake_run import WORKLOADS, lane, point
from octant.analysis.figures import figure
from octant.analysis.lost import (
    caveats_about_lost,
    cpu_time_of_chunk,
    lost_time_of,
    oversubscription,
    slowed_by_loss,
    sustained_share,
    worst_oversubscription,
)
from octant.limit import Limit
from octant.metric import Metric, per, rate, seconds, share
from octant.record import Point, Process, RankResources, RankTimes, Samples
from octant.record.sketch import Sketch
from octant.stats.caveats import Grade
from sketches import sketch_of

S = 10**9
RATE = Metric("rate", "flop/s", "higher", rate("flops"))


def taken(rank: int, wall: int, cpu: int | None, wait: int, throttled: int = 0, group: str = "") -> RankTimes:
    return RankTimes(rank, (wall,), () if cpu is None else (cpu,), (wait,), throttled, group, wall, 0)


def test_older_records_say_nothing() -> None:
    assert lost_time_of(point()) is None
    assert lost_time_of(point(taken=(RankTimes(0, (S,)),))) is None  # neither clock nor wait
    assert caveats_about_lost(point(), RATE, 1e9, Sketch()) == ()


def test_each_lane_has_its_own_share() -> None:
    two = RankTimes(0, (S, S), (S, S // 2), (0, S // 2))
    lost = lost_time_of(point(taken=(two,), threads=2))
    assert lost is not None
    assert lost.by_thread == pytest.approx((0, 0.5))
    assert lost.share == pytest.approx(0.25)
    assert lost.cause == "other work on the same CPUs"


def test_waiting_is_no_loss_where_ranks_may_block_but_the_run_queue_is() -> None:
    ranks = (taken(0, S, None, S // 10), taken(1, S, None, S // 4))
    lost = lost_time_of(point("steps", ranks=2, taken=ranks))
    assert lost is not None
    assert (lost.share, *lost.by_thread) == pytest.approx((0.25, 0.1, 0.25))


POLLS = Process("MPI", waits="polls")


def stopped_ranks(**changes: Any) -> Point:
    """Two ranks of which one was stopped for half of the time and the other waited for it."""
    ranks = (taken(0, S, S // 2, S // 100), taken(1, S, 98 * S // 100, 2 * S // 100))
    return point("steps", **{"ranks": 2, "taken": ranks, **changes})


def test_where_ranks_poll_while_they_wait_the_cpu_time_that_they_lack_is_lost() -> None:
    lost = lost_time_of(replace(stopped_ranks(), process=POLLS))
    assert lost is not None
    assert (lost.share, *lost.by_thread) == pytest.approx((0.5, 0.5, 0.02))
    assert lost.cause == "suspended processes or other causes"


@pytest.mark.parametrize(
    "of",
    [
        replace(stopped_ranks(), process=Process("MPI", waits="sleeps")),
        stopped_ranks(),  # not recorded
        replace(stopped_ranks(), process=POLLS, blocks=True),
    ],
)
def test_where_ranks_may_sleep_while_they_wait_it_is_not(of: Point) -> None:
    lost = lost_time_of(of)
    assert lost is not None
    assert lost.share == pytest.approx(0.02)


def test_ranks_in_groups_of_one_wait_for_no_other_rank() -> None:
    lost = lost_time_of(stopped_ranks(groups=((0,), (1,))))
    assert lost is not None
    assert lost.share == pytest.approx(0.5)
    single = point("steps", taken=(taken(0, S, S // 4, 1),))
    found, blocked = lost_time_of(single), lost_time_of(replace(single, blocks=True))
    assert found is not None
    assert blocked is not None
    assert (found.share, blocked.share) == pytest.approx((0.75, 0), abs=1e-6)


STEPS = [1000] * 90 + [91_000] * 10  # ten times the median on average


def unexplained(of: Point, times: Sketch | None = None, metric: Metric | None = None) -> list[str]:
    caveats = caveats_about_lost(of, metric or Metric("t", "s", "lower", seconds()), 1e-6, times or sketch_of(STEPS))
    return [one.text for one in caveats if one.kind == "unexplained lost time"]


def older(wait: float, used: float | None) -> Point:
    """Two ranks of an older record, whose samples fill nearly all of their bursts."""
    wall = sum(STEPS) // 2
    during = {"time_s": 1.0, **({} if used is None else {"node_own_cpu_s": 2 * used})}
    ranks = tuple(taken(rank, wall, None, round(wait * wall)) for rank in range(2))
    return point("steps", ranks=2, taken=ranks, noise={"during": during})


def test_more_lost_time_than_is_explained_is_said() -> None:
    (text,) = unexplained(older(0.18, 0.45))
    assert text == (
        "samples take 10.0 times the median on average, but the recorded lost time is only 18 %; the "
        "ranks used 45 % of the CPU time"
    )
    assert unexplained(older(0.18, None)) == [text.partition("; ")[0]]


def test_steps_of_different_lengths_are_no_lost_time() -> None:
    assert unexplained(older(0.02, 0.97)) == [], "the ranks ran all the time"
    assert unexplained(older(0.45, 0.5)) == [], "what they waited explains it"
    assert unexplained(older(0.02, 0.5), sketch_of([1000] * 100)) == [], "the samples are even"
    assert unexplained(replace(older(0.02, 0.5), blocks=True)) == [], "a disk may be late"
    assert unexplained(older(0.02, 0.5), metric=Metric("m", "s", "lower", seconds(over=()))) == []
    assert unexplained(replace(stopped_ranks(), process=POLLS)) == [], "their CPU time explains all"


def crowd(masks: tuple[tuple[int, ...], ...], hosts: tuple[str, ...], **changes: Any) -> Point:
    given = tuple(RankResources(host, (), masks) for host in hosts)
    return point(ranks=len(hosts), threads=len(masks), given=given, share_cores=True, **changes)


def test_oversubscription_is_of_the_host_with_most_threads_for_its_hardware_threads() -> None:
    assert oversubscription(crowd(((0, 1),) * 4, ("a",))) == (4, 2)
    two = crowd(((0,), (1,)), ("a", "a", "b"))
    found = oversubscription(two)
    assert found is not None
    assert found.text == "4 threads on 2 hardware threads: oversubscribed"
    assert oversubscription(replace(two, groups=((0,), (2,)))) is None, "rank 1 is idle"
    assert oversubscription(replace(two, share_cores=False)) is None


def test_ranks_that_share_a_hardware_thread_are_oversubscribed_although_others_are_free() -> None:
    """Two ranks are bound to hardware thread 0, a third may use four: three threads for four hardware threads."""
    given = tuple(RankResources("a", (), (mask,)) for mask in ((0,), (0,), (0, 1, 2, 3)))
    shared = point(ranks=3, given=given, share_cores=True)
    assert oversubscription(shared) == (2, 1)
    assert worst_oversubscription([point(), shared, crowd(((0, 1),) * 3, ("a",))]) == (2, 1)
    assert worst_oversubscription([point()]) is None


def test_what_threads_of_a_launch_take_from_each_other_is_not_blamed_on_others() -> None:
    half = RankTimes(0, (S,) * 4, (51 * S // 100,) * 4, (49 * S // 100,) * 4)
    crowded = crowd(((0, 1),) * 4, ("a",), taken=(half,), lanes=(lane(STOPPED),))
    (lost,) = caveats_about_lost(crowded, RATE, 50e9, sketch_of(STOPPED))
    assert lost.text.startswith("49 % of the time was lost to oversubscription, in one launch: ")
    (alone,) = caveats_about_lost(replace(crowded, share_cores=False), RATE, 50e9, sketch_of(STOPPED))
    assert "other work on the same CPUs" in alone.text


@pytest.mark.parametrize(
    ("samples", "slowed"),
    [
        ([1000] * 99 + [101_000], 1.0),  # half was lost in one sample: the median leaves it out
        ([2000] * 100, 2.0),  # each sample contains the time of others
    ],
)
def test_the_cpu_time_shows_whether_a_value_contains_lost_time(samples: list[int], slowed: float) -> None:
    """400 chunks in 100 samples, which took 100 us of CPU time."""
    of = point(
        lanes=(lane(samples),), taken=(RankTimes(0, (200_000,), (100_000,), (0,)),), batch=4, counts={"flops": 50}
    )  # fmt: skip
    cpu_s = cpu_time_of_chunk(of, of.read())
    assert cpu_s == pytest.approx(250e-9)
    per_chunk_s = float(np.median(samples)) * 1e-9 / 4
    assert slowed_by_loss(of, RATE, 50 / per_chunk_s, cpu_s) == pytest.approx(slowed)
    assert slowed_by_loss(of, Metric("t", "s", "lower", seconds()), per_chunk_s, cpu_s) == pytest.approx(slowed)
    assert slowed_by_loss(of, Metric("x", "1", "lower", share("phase/pack")), 0.5, cpu_s) is None
    (launch,) = figure(WORKLOADS["node/peakflops"], (of,)).launches
    assert launch.slowed == pytest.approx(slowed)


def test_of_lanes_the_cpu_time_of_those_counts_that_are_measured() -> None:
    lanes = (lane([1000] * 10), lane([1000] * 30, thread=1), lane([9000] * 5, thread=2, role="load"))
    of = point(lanes=lanes, threads=3, taken=(RankTimes(0, (S,) * 3, (5_000, 35_000, S), (0,) * 3),))
    assert cpu_time_of_chunk(of, of.read()) == pytest.approx(1e-6)
    coalesced = Samples((lane([2000] * 5), lane([2000] * 15, thread=1)))
    assert cpu_time_of_chunk(replace(of, coalesced=2), coalesced) == pytest.approx(1e-6)
    assert cpu_time_of_chunk(replace(of, taken=(RankTimes(0, (S,), (), (0,)),)), of.read()) is None
    assert cpu_time_of_chunk(replace(of, pace="steps"), of.read()) is None


def test_a_quota_of_two_threads_is_shared_by_them() -> None:
    two = RankTimes(0, (S, S), (S // 4, S // 4), (3 * S // 4, 3 * S // 4), 3 * S // 2, "/job")
    lost = lost_time_of(point(taken=(two,), threads=2))
    assert lost is not None
    assert (lost.share, lost.throttled) == pytest.approx((0.75, 0.75))
    assert lost.cause == "a CPU quota"


@pytest.mark.parametrize(
    ("groups", "hosts", "throttled"),
    [
        (("/job", "/job"), ("a", "a"), 0.25),  # both read the same file: half a second, of two threads
        (("/job/0", "/job/1"), ("a", "a"), 0.5),  # one second throttled in each of two groups, of one thread each
        (("/job", "/job"), ("a", "b"), 0.5),  # groups of two hosts are two
        (("", "/job"), ("a", "a"), 0.5),  # the rank that lost most
    ],
)
def test_ranks_share_the_quota_of_their_group(
    groups: tuple[str, str], hosts: tuple[str, str], throttled: float
) -> None:
    ranks = tuple(taken(rank, S, None, 0, S // 2 if group else 0, group) for rank, group in enumerate(groups))
    given = tuple(RankResources(host, (0,), ((0,),)) for host in hosts)
    lost = lost_time_of(point("steps", ranks=2, taken=ranks, given=given))
    assert lost is not None
    assert (lost.throttled, lost.share) == pytest.approx((throttled, throttled))


def test_steal_is_a_share_of_the_cpus_that_the_threads_may_use() -> None:
    one = RankTimes(0, (S,), (S,), (0,), elapsed_ns=2 * S, stolen_ns=S)
    wide = point(taken=(one,), given=(RankResources("node", (0,), ((0, 1),)),))
    lost = lost_time_of(wide)
    assert lost is not None
    assert lost.steal == pytest.approx(0.25)  # half of two seconds, on two CPUs


STOPPED = [1000] * 90 + [10_000] * 10  # of 190 units, 100 undisturbed


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        (RATE, 100 / 190),
        (Metric("time", "s", "lower", per("flops")), 100 / 190),
        (Metric("step", "s", "lower", seconds(over=())), None),
        (Metric("pack", "s", "lower", seconds("phase/pack")), None),
        (Metric("part", "1", "lower", share("phase/pack")), None),
    ],
)
def test_what_is_sustained_is_the_work_over_all_of_the_time(metric: Metric, expected: float | None) -> None:
    times = sketch_of(STOPPED)
    assert sustained_share(metric, times) == (None if expected is None else pytest.approx(expected, rel=0.01))
    assert sustained_share(metric, Sketch()) is None


def test_a_doubtful_launch_shows_both_values_and_the_cause() -> None:
    half = point(taken=(taken(0, S, 55 * S // 100, 0),), lanes=(lane(STOPPED),))
    (found,) = caveats_about_lost(half, RATE, 50e9, sketch_of(STOPPED))
    assert found.grade == Grade.LIMITED
    assert found.text == (
        "45 % of the time was lost to suspended processes or other causes, in one launch: undisturbed 50.0 Gflop/s, "
        "sustained 26.3 Gflop/s"
    )
    slower = Metric("time", "s", "lower", per("flops"))
    (found,) = caveats_about_lost(half, slower, 1e-3, sketch_of(STOPPED))
    assert found.text.endswith("undisturbed 1.00 ms, sustained 1.90 ms")


def test_more_is_not_measurable_and_less_is_a_note() -> None:
    times = sketch_of(STOPPED)
    (found,) = caveats_about_lost(point(taken=(taken(0, S, S // 4, 3 * S // 4),)), RATE, 50e9, times)
    assert (found.grade, "not measurable" in found.text) == (Grade.INVALID, True)
    (found,) = caveats_about_lost(point(taken=(taken(0, S, 97 * S // 100, 0),)), RATE, 50e9, times)
    assert (found.grade, "sustained" in found.text) == (Grade.NOTE, False)


def test_a_launch_that_lost_most_of_its_time_is_not_in_the_figure_and_alone_it_has_no_share_of_its_limit() -> None:
    workload = WORKLOADS["node/peakflops"]
    samples: dict[str, Any] = {"counts": {"flops": 95_700_000}, "lanes": (lane([10**6] * 30),)}
    quota = RankTimes(0, (S,), (S // 4,), (3 * S // 4,), 3 * S // 4, "/job")
    stopped, clean = point(taken=(quota,), **samples), point(taken=(taken(0, S, S, 0),), **samples)
    alone = replace(figure(workload, (stopped,)), limit=Limit(1e-3, "clock"))
    assert (alone.invalid, alone.of_limit) == (True, None)
    assert alone.caveats[0].text == "75 % of the time was lost to a CPU quota: not measurable"
    both = replace(figure(workload, (stopped, clean)), limit=Limit(1e-3, "clock"))
    assert both.of_limit == pytest.approx(1)
    assert [one.point for one in both.counted] == [clean]
    assert "launches excluded" in {one.kind for one in both.caveats}


def test_threads_that_were_to_share_cores_cannot_make_their_point_invalid() -> None:
    crowded = replace(point(taken=(taken(0, S, S // 4, 3 * S // 4),)), share_cores=True)
    (found,) = caveats_about_lost(crowded, RATE, 50e9, sketch_of(STOPPED))
    assert found.grade == Grade.LIMITED


def test_lanes_that_work_alone_have_the_mean_of_their_quotas() -> None:
    """One rank lost half of its time to its own quota, the other nothing: a quarter of what all lanes had."""
    ranks = (taken(0, S, S // 2, 0, S // 2, "/job/0"), taken(1, S, S, 0))
    given = (RankResources("a", (0,), ((0,),)), RankResources("a", (1,), ((1,),)))
    lost = lost_time_of(point("chunks", ranks=2, taken=ranks, given=given))
    assert lost is not None
    assert (lost.throttled, lost.share) == pytest.approx((0.25, 0.25))


def test_a_share_of_lost_time_that_the_clocks_contradict_is_doubtful() -> None:
    share = Metric("lost", "1", "lower", seconds(), of_lost_time=True)
    tenth = point(taken=(taken(0, S, 9 * S // 10, 0),))
    (found,) = caveats_about_lost(tenth, share, 0.16, Sketch())
    assert found.kind == "inconsistent lost-time sources"
    assert found.text == "the samples show 16 % lost time, the CPU clocks of the threads 10 %"
    assert [caveats_about_lost(tenth, share, value, Sketch()) for value in (0.06, 0.1, 0.149)] == [(), (), ()]
    assert caveats_about_lost(tenth, share, 0.04, Sketch()) != ()


def test_steal_of_ranks_that_said_nothing_of_their_threads_is_of_one_cpu() -> None:
    one = RankTimes(1, (S,), (S,), (0,), elapsed_ns=2 * S, stolen_ns=S)
    lost = lost_time_of(point(ranks=2, taken=(one,), given=(RankResources("n", (0, 1), ((0, 1),)),)))
    assert lost is not None
    assert lost.steal == pytest.approx(0.5)


@pytest.mark.parametrize("percent", [(20, 21, 35), (35, 21, 20), (21, 35, 20)])
def test_a_figure_shows_the_launch_that_lost_most(percent: tuple[int, ...]) -> None:
    workload = WORKLOADS["node/peakflops"]
    samples: dict[str, Any] = {"counts": {"flops": 95_700_000}, "lanes": (lane([10**6] * 30),)}
    waits = [S * share // 100 for share in percent]
    launches = [
        point(taken=(taken(0, S, S - wait, wait),), launch=f"peakflops-{number}", **samples)
        for number, wait in enumerate(waits)
    ]
    texts = [one.text for one in figure(workload, launches).caveats if one.kind == "lost time"]
    assert len(texts) == 1
    assert texts[0].startswith("35 % of the time was lost to other work on the same CPUs")
