"""The verdict on a machine, at its thresholds and for each cause, over generated noise tests."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import trees
from fake_run import fake_run, machine, write_run
from noise_runs import By, noise_point, noise_run, noise_summary
from octant.advice import Advice, Diagnosis, Facts, Severity, diagnose
from octant.advice.fitness import (
    MAX_CLOCK_CHANGE,
    MAX_LOST,
    MAX_LOST_OF_FIT,
    MAX_OTHER_LOAD,
    MAX_UNEXPLAINED,
    Fitness,
    fitness_of_run,
    judge_fitness,
)
from octant.analysis.noise_test import noise_test
from octant.analysis.summary import Summary, summarise
from octant.machine import Machine
from octant.record import RankTimes
from octant.registry import Broken
from octant.report.screen.first_screen import first_screen
from octant.report.screen.text import screen_lines

NOTHING = Diagnosis(())
ABOVE = 0.0005


def judged(summary: Summary | None, *advice: Advice) -> Fitness:
    return judge_fitness(summary, Diagnosis(advice))


def advice_of(rule: str, severity: Severity = "spoils") -> Advice:
    return Advice(f"{rule} is bad", severity, {"/a": "1"}, ("fix",), "why", rule)


@pytest.mark.parametrize("by", ["other processes", "a CPU quota", "the host", "unexplained"])
@pytest.mark.parametrize(
    ("share", "verdict"),
    [
        (0.0, "fit"),
        (MAX_LOST_OF_FIT, "fit"),
        (MAX_LOST_OF_FIT + ABOVE, "fit with reservations"),
        (MAX_LOST, "fit with reservations"),
        (MAX_LOST + ABOVE, "not fit"),
        (0.9, "not fit"),
    ],
)
def test_lost_time_decides_at_its_thresholds_whatever_the_cause(by: By, share: float, verdict: str) -> None:
    found = judged(noise_summary(noise_point({0: share, 1: share}, by)))
    assert found.verdict == verdict
    if found.reasons:
        words = {"the host": "to the hypervisor", "unexplained": "without a known cause"}
        assert f"of its time, mostly {words.get(by, f'to {by}')}" in found.reasons[0].text


def test_the_hardware_thread_that_lost_most_decides() -> None:
    """Of 64 hardware threads one loses half: ranks that wait for it lose as much, the mean is below 1 %."""
    large = machine(cores=64)
    summary = noise_summary(noise_point({number: 0.5 * (number == 17) for number in range(64)}), on=large)
    found = judged(summary)
    assert found.tested is not None
    assert found.tested.causes.lost < MAX_LOST_OF_FIT
    assert found.verdict == "not fit"
    assert found.reasons[0].text == "hardware thread 17 lost 50 % of its time, mostly to other processes"


def test_threads_change_their_places_between_launches() -> None:
    """The second launch has the threads in the other order; hardware thread 1 is the one that loses."""
    summary = noise_summary(noise_point({0: 0.0, 1: 0.4}), noise_point({1: 0.4, 0: 0.0}, second=1))
    found = judged(summary)
    assert found.tested is not None
    assert {number: one.lost for number, one in found.tested.by_hardware_thread.items()} == pytest.approx(
        {0: 0, 1: 0.4}
    )
    many = judged(noise_summary(noise_point({0: 0.3, 1: 0.4})))
    assert many.reasons[0].text.endswith("(2 of 2 hardware threads lost more than 5 %)")


@pytest.mark.parametrize(
    ("load", "verdict"), [(MAX_OTHER_LOAD, "fit"), (MAX_OTHER_LOAD + 0.01, "fit with reservations"), (60.0, None)]
)
def test_other_load_that_takes_no_time_is_a_reservation(load: float, verdict: str | None) -> None:
    found = judged(noise_summary(noise_point({0: 0.0, 1: 0.0}, other_load=load)))
    assert found.verdict == (verdict or "fit with reservations")


@pytest.mark.parametrize(
    ("change", "verdict"),
    [
        (0.9 * MAX_CLOCK_CHANGE, "fit"),
        (1.1 * MAX_CLOCK_CHANGE, "fit with reservations"),
        (-0.3, "fit with reservations"),
    ],
)
def test_a_clock_that_changes_is_a_reservation(change: float, verdict: str) -> None:
    clocks = [round(2.6e9 * (1 + change * (second >= 2))) for second in range(4)]
    points = [noise_point({0: 0.0, 1: 0.0}, clock_hz=hz, second=n) for n, hz in enumerate(clocks)]
    found = judged(noise_summary(*reversed(points)))  # the order of their starts counts
    assert found.verdict == verdict
    if found.reasons:
        assert (" rose by " if change > 0 else " fell by ") in found.reasons[0].text


@pytest.mark.parametrize(
    ("excess", "verdict"), [(MAX_UNEXPLAINED - 0.002, "fit"), (MAX_UNEXPLAINED + 0.002, "fit with reservations")]
)
def test_samples_that_take_longer_than_cpu_clocks_explain_are_a_reservation(excess: float, verdict: str) -> None:
    one = noise_point({0: excess, 1: excess})
    clean = replace(one, taken=(RankTimes(0, (10**9,) * 2, (10**9,) * 2, (0, 0)),))
    assert judged(noise_summary(clean)).verdict == verdict


@settings(max_examples=20)
@given(st.lists(st.floats(0, 0.95), min_size=2, max_size=2), st.floats(0, 2))
def test_more_lost_time_is_never_a_better_verdict(shares: list[float], load: float) -> None:
    order = ["fit", "fit with reservations", "not fit"]
    less = {number: share / 2 for number, share in enumerate(shares)}
    both = [judged(noise_summary(noise_point(one, other_load=load))).verdict for one in (less, dict(enumerate(shares)))]
    assert order.index(both[0]) <= order.index(both[1])


def test_the_noise_test_is_of_all_usable_hardware_threads_of_this_machine() -> None:
    whole = noise_point({0: 0.5, 1: 0.5})
    assert noise_test(noise_summary(noise_point({0: 0.5}))) is None, "one of two hardware threads"
    assert noise_test(noise_summary(replace(whole, share_cores=True))) is None, "it disturbs itself"
    assert noise_test(noise_summary(replace(whole, given=()))) is None, "it may have run anywhere"
    assert noise_test(noise_summary(replace(whole, taken=()))) is None, "an old record"
    linked = replace(whole, process=replace(whole.process, link="1Gbit/s"))
    assert noise_test(noise_summary(linked)) is None
    assert fitness_of_run(summarise(fake_run())) is None
    bad = replace(whole, results=tuple(replace(one, value=1.0) for one in whole.results))
    assert noise_test(noise_summary(bad)) is None


def test_without_a_noise_test_a_machine_is_never_fit_without_reservation() -> None:
    found = judge_fitness(None, NOTHING, "--static")
    assert (found.verdict, found.reasons[0].text) == ("fit with reservations", "noise was not tested (--static)")
    assert judged(None, advice_of("steal")).verdict == "not fit", "nothing measured the effect"


@pytest.mark.parametrize(
    ("rule", "severity", "verdict"),
    [
        ("governor", "spoils", "not fit"),
        ("governor", "slows", "fit with reservations"),  # it concerns measurements
        ("binding", "slows", "fit"),  # it concerns other programs
        ("turbo", "note", "fit"),
        *((rule, "spoils", "fit with reservations") for rule in ("foreign_load", "realtime", "steal", "cpu_quota")),
    ],
)
def test_rules_decide_unless_the_test_measured_their_effect(rule: str, severity: Severity, verdict: str) -> None:
    quiet = noise_summary(noise_point({0: 0.0, 1: 0.0}))
    assert judged(quiet, advice_of(rule, severity)).verdict == verdict


def test_reasons_that_spoil_are_first_and_a_broken_rule_is_a_reservation() -> None:
    quiet = noise_summary(noise_point({0: 0.02, 1: 0.0}))
    broken = Broken("smt", "/a/smt.py", "an error")
    found = judge_fitness(quiet, Diagnosis((advice_of("steal"), advice_of("swap")), (broken,)))
    assert [(one.rule, one.spoils) for one in found.reasons] == [
        ("swap", True), ("", False), ("steal", False), ("smt", False),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "share", "verdict"),
    [
        ("kvm-xeon-2cpu", 0.0, "fit"),
        ("kvm-xeon-2cpu", 0.3, "not fit"),
        ("container-4of32", 0.03, "fit with reservations"),
        ("epyc-2s-nps4", 0.3, "not fit"),
    ],
)
def test_a_stored_run_of_a_recorded_machine(name: str, share: float, verdict: str, tmp_path: Path) -> None:
    recorded = prepared(trees.machine(name))
    usable = [cpu.os for cpu in recorded.topology.usable()]
    points = [noise_point({number: share * (number == usable[-1]) for number in usable}, second=n) for n in range(3)]
    run = write_run(noise_run(points, recorded, Path("runs/20261121-214530-3f2a")), tmp_path)
    summary = summarise(run)
    found = fitness_of_run(summary)
    assert found is not None
    assert found == judge_fitness(summary, diagnose(Facts(run.machine)))
    assert found.verdict == verdict
    first = first_screen(summary)
    shown = " ".join(line.plain for line in screen_lines(first, run.id, 80))
    assert f"Machine: {verdict.replace('fit', 'fit for benchmarking', 1)}." in shown
    if share:
        assert f"Hardware thread {usable[-1]} lost {100 * share:.1f}".rstrip("0.") in shown


def prepared(recorded: Machine) -> Machine:
    """Return the machine with settings that no rule is against."""
    fine = {"governor": "performance", "numa_balancing": "0", "clock_source": "tsc", "swap_used_bytes": "0"}
    fine |= {"steal_fraction": "0", "cgroup_cpu_quota": "", "thp": "madvise"}
    return replace(recorded, system={**recorded.system, **fine})
