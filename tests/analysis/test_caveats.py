"""Caveats about one launch, at the sizes from which they are raised, and in their words."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from fake_run import lane, point
from octant.analysis.caveats import (
    caveats_about,
    caveats_about_samples,
    caveats_about_seats,
    caveats_about_togetherness,
)
from octant.analysis.mismatches import page_mismatches
from octant.analysis.series import series_metrics
from octant.metric import groups, ranks, seconds, steps
from octant.record import Buffer, Clock, Head, Point, RankResources, RankTimes, Result, Samples
from octant.stats import Grade

STEADY = [1000, 1001, 999] * 20


def texts(one: Point, mismatches: tuple[str, ...] = ()) -> dict[str, str]:
    return {found.kind: found.text for found in caveats_about(one, one.read(), mismatches)}


def test_a_clean_point_has_none() -> None:
    assert texts(point(lanes=(lane(STEADY),))) == {}


@pytest.mark.parametrize(
    ("changes", "kind", "text"),
    [
        ({"results": (Result("sum", 2.0, "1", 1.0),)}, "wrong result", "the result is wrong: verification failed"),
        ({"build": {"faults_compiled": True}}, "fault-injection build",
         "the kernel is a fault-injection build; measure with a release build"),
        ({"share_cores": True}, "oversubscription", "oversubscribed (more threads than hardware threads)"),
        ({"notes": {"rounded": "bytes to 4 KiB"}}, "rounded sizes", "sizes were rounded: bytes to 4 KiB"),
        (
            {"notes": {"memory_copy": "read from the page cache"}},
            "access to memory instead of storage", "read from the page cache",
        ),
        (
            {"stopped_by": "time", "knobs": {"precision": "0.01"}}, "precision not reached",
            "the time limit ended a launch before it reached the precision 0.01; increase seconds=",
        ),
        ({"lanes": (lane(STEADY, clock_hz=[1, 2, 3]),)}, "few bursts",
         "a launch has only 3 bursts of samples; increase seconds="),
        ({"lanes": (lane(STEADY, clock_hz=[1]),)}, "few bursts",
         "a launch has only 1 burst of samples; increase seconds="),
    ],
)  # fmt: skip
def test_what_a_record_says_against_itself(changes: dict[str, Any], kind: str, text: str) -> None:
    assert texts(point(**{"lanes": (lane(STEADY),), **changes})) == {kind: text}


@pytest.mark.parametrize(
    "changes",
    [
        {"stopped_by": "interval", "knobs": {"precision": "0.01"}},
        {"stopped_by": "time", "knobs": {"precision": "0"}},
        {"stopped_by": "time", "knobs": {"precision": "0.00"}},
        {"stopped_by": "time"},
        {"lanes": (lane(STEADY, clock_hz=[1, 2, 3, 4]),)},
        {"lanes": (lane(STEADY, clock_hz=[1]), lane(STEADY, thread=1, clock_hz=[1, 2, 3, 4]))},
        {"noise": {"during": {"time_s": 0.0, "node_steal_s": 9.0, "node_busy_s": 9.0}}},
        {"noise": {"during": {"time_s": 1.0, "node_steal_s": 0.01, "node_busy_s": 0.75, "node_own_cpu_s": 0.5}}},
        {"noise": {"during": {"time_s": 0.1, "node_busy_s": 0.549, "node_own_cpu_s": 0.5}}},
        {"noise": {"during": {"time_s": 1.0, "node_busy_s": 2.25, "own_cpu_s": 1.0}}, "ranks": 2},
    ],
)
def test_what_is_within_its_bound_is_no_doubt(changes: dict[str, Any]) -> None:
    assert texts(point(**{"lanes": (lane(STEADY),), **changes})) == {}


def test_what_was_not_given_is_counted() -> None:
    assert texts(point(lanes=(lane(STEADY),)), ("a", "b", "c")) == {
        "request not met": "the request was not met: a (and 2 more)"
    }
    assert texts(point(lanes=(lane(STEADY),)), ("a",)) == {"request not met": "the request was not met: a"}


def test_other_work_on_the_node() -> None:
    during = {"time_s": 1.0, "node_steal_s": 0.16, "node_busy_s": 1.3, "node_own_cpu_s": 1.0}
    one = point(lanes=(lane(STEADY),), noise={"during": during}, ranks=2, threads=2)
    assert texts(one) == {
        "stolen time": "the hypervisor took up to 4 % of the CPU time",
        "load from other processes": "other processes used CPU time during the measurement",
    }
    taken = (RankTimes(0, (10**9,), (10**9,), (0,), elapsed_ns=10**9),)
    known = point(lanes=(lane(STEADY),), noise={"during": during}, taken=taken)
    assert texts(known) == {"load from other processes": "other processes used CPU time during the measurement"}, (
        "what the threads lost is known"
    )
    most = point(lanes=(lane(STEADY),), noise={"during": {"time_s": 1.0, "node_steal_s": 9.0}})
    (found,) = caveats_about(most, most.read())
    assert (found.grade, found.text) == (Grade.LIMITED, "the hypervisor took up to 50 % of the CPU time")


@pytest.mark.parametrize(
    ("length", "preempted", "text"),
    [
        (1000, 1, ""),
        (1000, 2, "6 % of the samples were preempted"),
        (4_000_000, 2, "6 % of the samples were preempted; a sample takes 4 ms, longer than a time slice, and "
                       "includes other processes"),
        (3_000_000, 2, "6 % of the samples were preempted"),
    ],
)  # fmt: skip
def test_samples_that_were_cut_short(length: int, preempted: int, text: str) -> None:
    samples = [length] * 31 + [2 * length] * preempted
    hit = lane(samples, preempted=range(31, 31 + preempted))
    assert "".join(texts(point(lanes=(hit,))).values()) == text
    harmless = lane([length] * (31 + preempted), preempted=range(31, 31 + preempted))
    assert texts(point(lanes=(harmless,))) == {}, "no slower than those that saw no switch"


def test_with_few_whole_samples_every_switch_counts() -> None:
    assert texts(point(lanes=(lane([1000] * 8, preempted=[0, 1, 2]),))) == {
        "preempted samples": "38 % of the samples were preempted"
    }
    assert texts(point(lanes=(lane([1000] * 8, preempted=[0, 1]),))) == {}


def test_a_phase_is_short_below_ten_of_its_marks() -> None:
    def phase(ns: int) -> Point:
        series = lane([ns] * 10, name="phase/pack", role="")
        entered = type(series)(series.head, series.values, series.gap_ns, series.preempted, np.full(10, 2.0))
        return point(pace="steps", lanes=(lane(STEADY), entered), clock=Clock("", 1.0, 1.0, mark_ns=5.0))

    assert texts(phase(99)) == {"phase too short": "phases take less than ten times their timing overhead: pack"}
    assert texts(phase(100)) == {}


def test_seats_that_only_one_launch_drew() -> None:
    def seated(*cpus: int, pin: str = "each", hosts: tuple[str, ...] = ("n",)) -> Point:
        given = tuple(RankResources(host, cpus, tuple((cpu,) for cpu in cpus)) for host in hosts)
        return point(knobs={"pin": pin}, given=given)

    (one,), (two,) = (caveats_about_seats([seated(*cpus)]) for cpus in ((3,), (3, 5)))
    assert one.text == "the only launch ran on CPU 3; repeat it"
    assert two.text == "the only launch ran on CPUs 3,5; repeat it"
    for points in ([seated(3), seated(3)], [seated(3, pin="none")], [seated(3, hosts=("a", "b"))], []):
        assert caveats_about_seats(points) == ()


def test_lanes_that_were_rarely_together() -> None:
    assert [[one.text for one in caveats_about_togetherness(share)] for share in (0.0, 0.49, 0.5, 1.0)] == [
        ["the threads were never all busy and undisturbed at the same time"],
        ["all threads were busy at the same time for only 49 % of the time"],
        [],
        [],
    ]


def test_samples_that_are_few_or_drift_or_lie_far_off() -> None:
    def said(values: list[float], correlation: float = 1.0) -> list[str]:
        return [one.text for one in caveats_about_samples(np.asarray(values, np.float64), correlation)]

    assert said([1, 1, 1, 1, 1]) == ["a launch has only 5 samples; its interval is their range"]
    assert said([1]) == ["a launch has only 1 sample; its interval is their range"]
    assert said([1] * 6) == []
    assert said([1] * 12, 2.0) == []
    assert said([1] * 12, 3.0) == ["12 autocorrelated samples of a launch count as 4; its interval is their range"]
    noise = np.random.default_rng(3).normal(0, 0.002, 200)
    for factor, drifts in (
        (1.05, ["5 % higher in the second half of a launch"]),
        (0.95, ["5 % lower in the second half of a launch"]),
        (1.02, []),
    ):
        assert said(list((1 + noise) * np.repeat([1, factor], 100))) == drifts
    assert said([1.0] * 94 + [9.0] * 6) == ["6 % of the samples are outliers"]
    assert said([1.0] * 95 + [9.0] * 5) == []


@pytest.mark.parametrize(
    ("pages", "huge", "said"),
    [
        ("default", 0.5, ()),
        ("2MiB", 0.9, ()),
        ("2MiB", 0.89, ("rank 0: pages=2MiB requested, 89 % of a buffer is on huge pages",)),
        ("base", 0.09, ()),
        ("base", 0.11, ("rank 0: pages=base requested, 11 % of a buffer is on huge pages",)),
    ],
)
def test_pages_of_another_kind(pages: str, huge: float, said: tuple[str, ...]) -> None:
    buffers = (Buffer(1000, 1000, int(1000 * huge), 4096, {}), Buffer(1000, 0, 0, 4096, {}))
    one = replace(point(given=(RankResources("n", (0,), ((0,),), buffers),)), knobs={"pages": pages})
    assert page_mismatches(one) == said


def test_the_buffer_with_the_most_mixed_pages_is_reported() -> None:
    buffers = tuple(Buffer(1000, 1000, huge, 4096, {}) for huge in (0, 600, 300))
    one = point(knobs={"pages": "2MiB"}, given=(RankResources("n", (0,), ((0,),), buffers),))
    assert page_mismatches(one) == ("rank 0: pages=2MiB requested, 60 % of a buffer is on huge pages",)


def test_series_have_metrics_under_their_names() -> None:
    heads = (Head("step"), Head("phase/pack"), Head("reading/residual", unit="1"))
    step, pack, residual = series_metrics([point(heads=heads, read=Samples)])
    over = (steps("mean"), ranks("mean"), groups("mean"))
    assert (step.name, step.value, step.note) == ("mean step", seconds(over=over), "mean over steps and ranks")
    assert (pack.name, pack.unit, pack.value) == ("phase/pack", "s", seconds("phase/pack", over=over))
    assert pack.note == "mean over steps and ranks"
    assert (residual.name, residual.unit, residual.better) == ("reading/residual", "1", "lower")
    assert residual.note == "greatest over ranks, median over steps"
    only_steps = point(heads=(Head("step"),), read=Samples)
    assert series_metrics([only_steps]) == ()
