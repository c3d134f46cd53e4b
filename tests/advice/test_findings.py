"""Every rule just above and just below its threshold, their order, and lines that our own command line reads."""

import math
import re
from dataclasses import replace
from typing import Any

import pytest

import command_lines
from fake_run import MIB, machine
from found_run import Cell, found_run, taken
from octant.advice import findings as advised
from octant.advice.findings import KINDS, RunFinding, first_of
from octant.analysis.summary import Summary
from octant.machine import Disagreement, Processor
from octant.record import RankResources, Scheduling
from octant.stats import Caveat, Grade
from octant.units import NARROW

REQUESTS = {"glibc": "2.36"}
SIZES = {"8KiB": 1.0, "8MiB": 1.05, "256MiB": 1.4}


def findings(summary: Summary) -> tuple[RunFinding, ...]:
    """The findings with plain spaces."""
    found = advised.findings(summary)
    return tuple(
        replace(one, title=one.title.replace(NARROW, " "), body=one.body.replace(NARROW, " ")) for one in found
    )


def passed_checks(summary: Summary) -> list[str]:
    """The checks with plain spaces."""
    return [text.replace(NARROW, " ") for text in advised.review(summary).passed]


def noisy(middle: float, launches: int = 6, spread: float = 0.002) -> list[float]:
    """Launches about a value, whose median it is."""
    half = (launches - 1) / 2
    return [middle * (1 + spread * (place - half)) for place in range(launches)]


def ladder(ratios: dict[str, float], launches: int = 6, **changes: Any) -> list[Cell]:
    """Random loads by footprint: so many times as fast on huge pages as on base pages."""
    return [
        Cell(
            "node/latency", noisy(1e-7 * (ratios[size] if pages == "base" else 1.0), launches),
            swept={"bytes": size, "pages": pages}, title="random load from memory, one core", **changes,
        )
        for size in ratios
        for pages in ("base", "thp")
    ]  # fmt: skip


def messages(rates: dict[int, float], launches: int = 6, spread: float = 0.002) -> list[Cell]:
    """Messages of these lengths at these rates."""
    return [
        Cell(
            "mpi/p2p", noisy(length / rates[length], launches, spread), swept={"bytes": str(length)},
            knobs={"buffers": "hot"}, counts={"messages": 2, "bytes_sent": 2 * length}, ranks=2, table=False,
            title="ping-pong against length, hot buffers",
        )
        for length in rates
    ]  # fmt: skip


def product(share: float, launches: int = 6, core: str = "SkylakeX", **changes: Any) -> Cell:
    """A matrix product that reaches this share of the peak."""
    return Cell(
        "node/gemm", noisy(1e11 * share, launches), {"n": "384"}, title="matrix multiply, one core", best=1e11,
        counts={"flops": 10**9}, notes={"library_core": core} if core else {}, **changes,
    )  # fmt: skip


def quick(share: float = 1.0) -> Cell:
    return Cell("node/peakflops", noisy(1e11 * share), counts={"flops": 10**9}, best=1e11, title="multiply-adds")


def intel(*flags: str) -> Any:
    made = machine()
    return replace(made, processor=Processor("x86_64", "GenuineIntel", "Xeon", frozenset(flags), 2e9))


def rules(summary: Summary) -> list[str]:
    return [one.rule for one in findings(summary)]


def only(summary: Summary, rule: str) -> RunFinding:
    found = [one for one in findings(summary) if one.rule == rule]
    assert len(found) == 1
    return found[0]


def test_lost_time_above_five_percent_is_a_finding_and_below_a_passed_check() -> None:
    above = only(found_run([quick()], taken(lost=0.051)), "lost time")
    assert above.title == "Other processes took 5.1 % of this run's time"
    assert above.lines == ("octant doctor", "octant evaluate --quick")
    below = found_run([quick()], taken(lost=0.049))
    assert "lost time" not in rules(below)
    assert "4.9 % of this run's time was lost (limit 5.0 %)" in passed_checks(below)


def test_lost_time_is_a_sum_over_a_sum() -> None:
    long, short = quick(), replace(quick(), title="again")
    summary = found_run([long, short], taken(lost=0.04))
    points = [replace(p, taken=(taken(ns=10**7, lost=0.4),)) for p in summary.figures[1].points]
    run = replace(summary.run, points=(*summary.figures[0].points, *points))
    assert "lost time" not in rules(replace(summary, run=run))  # the mean of launches is 22 %


def test_one_measurement_that_lost_more_than_half_is_a_finding() -> None:
    calm = [0.0] * 29
    below = replace(quick(), values=noisy(1e11, 30), lost=(*calm, 0.49))
    above = replace(quick(), values=noisy(1e11, 30), lost=(*calm, 0.51))
    assert rules(found_run([below])) == []
    assert only(found_run([above]), "lost time").title == "1 of 30 measurements lost more than half of their time"


def test_time_that_no_other_work_took_is_not_called_so() -> None:
    found = only(found_run([quick()], taken(lost=0.2, by="unknown")), "lost time")
    assert found.title == "20 % of this run's time was lost"


def body_of_lost(*cells: Cell, lost: float = 0.3) -> str:
    return only(found_run(cells, taken(lost=lost)), "lost time").body


def test_a_value_is_said_to_contain_lost_time_only_where_it_does() -> None:
    assert body_of_lost(replace(quick(), slowed=1.9)) == (
        "The value of multiply-adds contains lost time: it is 1.9 times worse than computed from CPU time. Find "
        "the cause, then measure again."
    )
    same = body_of_lost(replace(quick(), slowed=1.02))
    assert same.startswith("The values of the table are not affected: they agree with those computed from CPU time")
    assert body_of_lost(quick()) == "Find the cause, then measure again.", "it is not known"
    long = Caveat("long preempted samples", Grade.LIMITED, "preempted in 50 % of samples, which last 7 ms")
    assert "its samples are longer than a time slice" in body_of_lost(replace(quick(), caveats=(long,)))
    other = replace(quick(), title="again", slowed=1.2)
    assert body_of_lost(replace(quick(), slowed=1.9), other).count("(and 1 more)") == 1
    hidden = replace(quick(), title="again", slowed=1.9, table=False)
    assert "The value of" not in body_of_lost(replace(quick(), slowed=1.0), hidden)


def test_the_causes_of_lost_time_are_those_that_took_some() -> None:
    found = only(found_run([quick()], taken(lost=0.3)), "lost time")
    assert found.details[1] == f"other processes 30{NARROW}%"
    unexplained = only(found_run([quick()], taken(lost=0.3, by="unknown")), "lost time")
    assert unexplained.details[1] == f"unexplained 30{NARROW}%"


def test_threads_that_share_cores_are_said_to_take_the_time_from_each_other() -> None:
    summary = found_run([quick()], taken(lost=0.49))
    places = (RankResources("n", (), ((0, 1),) * 4),)
    points = tuple(replace(p, threads=4, given=places, share_cores=True) for p in summary.run.points)
    found = only(replace(summary, run=replace(summary.run, points=points)), "lost time")
    assert found.title == "4 threads on 2 hardware threads: oversubscribed"
    assert found.body.startswith("The run's own threads took 49 % of its time from each other")
    assert found.body.endswith("Start at most as many threads as there are hardware threads, then measure again.")


def test_a_quota_is_a_finding_above_one_percent() -> None:
    given = Scheduling("other", group="/job", weight=100, quota_cores=1.5, quota_group="/job")
    above = only(found_run([quick()], taken(throttled=0.011), scheduling=given), "quota")
    assert above.title == "A CPU quota of 1.5 cores took 1.1 % of this run's time"
    assert "/sys/fs/cgroup/job/cpu.max" in above.body
    old = replace(given, weight=None, shares=1024)
    assert "/job/cpu.cfs_quota_us" in only(found_run([quick()], taken(throttled=0.011), scheduling=old), "quota").body
    inside = only(
        found_run([quick()], taken(throttled=0.011), scheduling=given, system={"container": "docker"}), "quota"
    )
    assert "docker" in inside.body
    assert "/sys" not in inside.body
    below = found_run([quick()], taken(throttled=0.009), scheduling=given)
    assert "quota" not in rules(below)
    assert "CPU quotas took 0.9 % of this run's time" in passed_checks(below)


def test_steal_is_a_finding_above_one_percent() -> None:
    assert (
        only(found_run([quick()], taken(stolen=0.011)), "steal").title == "The hypervisor took 1.1 % of this run's time"
    )
    below = found_run([quick()], taken(stolen=0.009))
    assert rules(below) == []
    assert "the hypervisor took 0.9 % of this run's time" in passed_checks(below)


def test_huge_pages_are_a_finding_where_the_near_end_is_beyond_three_percent() -> None:
    found = only(found_run(ladder(SIZES), software=REQUESTS), "pages")
    assert found.title == "Random load from memory is 1.40 times as fast with huge pages"
    assert found.body.startswith(
        "Huge pages change 140 ns to 100 ns at 256 MiB; the gain is below × 1.1 at 8 KiB, 8 MiB. "
    )
    assert found.lines == ("export GLIBC_TUNABLES=glibc.malloc.hugetlb=1",)
    assert found.effect is not None
    assert found.effect.number == 6
    for ratio, beyond in ((1.031, True), (1.029, False)):
        summary = found_run(ladder({"256MiB": ratio}), software=REQUESTS)
        assert ("pages" in rules(summary)) is beyond
        assert any("no gain from huge pages" in text for text in passed_checks(summary)) is not beyond


def test_a_gain_whose_interval_reaches_below_three_percent_is_none() -> None:
    base, huge = ladder({"256MiB": 1.2})
    odd = [value * (1.3 if place % 2 else 0.8) for place, value in enumerate(huge.values)]
    summary = found_run([base, replace(huge, values=odd)], software=REQUESTS)
    assert rules(summary) == []
    (text,) = (text for text in passed_checks(summary) if "gain from huge pages" in text)
    hidden = float(text.partition("×")[2].rstrip(")"))
    assert hidden > 1.4, "the far end of the interval, not its middle"


def test_a_gain_among_many_sizes_has_to_be_surer_than_a_gain_alone() -> None:
    """A ratio of 1.20 with launches 8 % apart is beyond 3 % by its own interval, and not as one of sixteen."""
    apart = [1.08, 0.92, 1.08, 0.92, 1.08, 0.92]
    borderline = Cell(
        "node/latency", [1.2e-7 * factor for factor in apart], swept={"bytes": "256MiB", "pages": "base"},
        title="random load from memory, one core",
    )  # fmt: skip
    huge = ladder({"256MiB": 1.0})[1]
    even = ladder({f"{2**power}KiB": 1.0 for power in range(3, 18)})
    rules = [
        [one.rule for one in advised.findings(found_run(cells, software=REQUESTS))]
        for cells in ([borderline, huge], [*even, borderline, huge])
    ]
    assert ["pages" in found for found in rules] == [True, False]


@pytest.mark.parametrize("rule", ["pages", "message fall"])
def test_a_gain_needs_four_paired_launches(rule: str) -> None:
    def found(launches: int) -> list[str]:
        cells = ladder(SIZES, launches) if rule == "pages" else messages({8192: 1e9, 65536: 9e9, MIB: 1e9}, launches)
        return rules(found_run(cells, software=REQUESTS))

    assert found(4) == [rule]
    assert found(3) == []


@pytest.mark.parametrize(
    ("system", "software"),
    [
        ({"thp": "never"}, REQUESTS),
        ({"thp": "always"}, REQUESTS),
        ({}, {"glibc": "2.34"}),
        ({}, {"glibc": "2.43"}),
        ({}, {}),
        ({"thp": ""}, REQUESTS),
    ],
)
def test_huge_pages_are_not_advised_where_the_setting_has_no_effect(
    system: dict[str, str], software: dict[str, str]
) -> None:
    assert "pages" not in rules(found_run(ladder(SIZES), system=system, software=software))


def test_huge_pages_that_were_not_given_prove_nothing() -> None:
    asked = (Caveat("request not met", Grade.INVALID, "NOT AS REQUESTED"),)
    assert "pages" not in rules(found_run(ladder(SIZES, caveats=asked), software=REQUESTS))


def test_long_messages_at_half_the_best_rate_are_a_finding() -> None:
    rates = {8192: 1e9, 512 * 1024: 12e9, 4 * MIB: 12e9 / 2.01}
    found = only(found_run(messages(rates)), "message fall")
    assert found.title == "Large messages reach only 50 % of the best rate"
    assert found.body.startswith("The rate is 12.0 GB/s at 512 KiB and 5.97 GB/s at 4 MiB (L2: 2 MiB). ")
    assert found.lines == ("octant run mpi/p2p buffers=hot bytes=512KiB,1MiB,2MiB,4MiB --ranks=2",)
    below = found_run(messages({**rates, 4 * MIB: 12e9 / 1.99}))
    assert rules(below) == []
    assert "ping-pong against length, hot buffers: messages of 4 MiB reach 50 % of the best rate" in passed_checks(
        below
    )


def test_long_messages_do_not_leave_a_cache_of_disputed_size() -> None:
    rates = {8192: 1e9, 512 * 1024: 12e9, 64 * MIB: 5e9}
    summary = found_run(messages(rates))
    assert "(L2: 2 MiB, L3: 32 MiB)" in only(summary, "message fall").body
    caveat = Disagreement("last-level cache", (("stated", "32 MiB"),), "neither")
    machine = replace(summary.run.machine, disagreements=(caveat,))
    disputed = replace(summary, run=replace(summary.run, machine=machine))
    assert "(L2: 2 MiB). " in only(disputed, "message fall").body


def test_a_check_of_messages_names_their_group_which_has_enough_launches() -> None:
    hot = messages({8192: 1e9, 65536: 2e9, MIB: 3e9})
    new = [
        replace(
            one, knobs={"buffers": "rotating"}, title="ping-pong against length, new buffers", values=noisy(2e-3, 4)
        )
        for one in hot
    ]

    def said(*cells: Cell) -> list[str]:
        return [text.partition(":")[0] for text in passed_checks(found_run(cells)) if "best rate" in text]

    assert said(*hot, *new) == ["hot buffers", "new buffers"]
    assert said(*hot, *(replace(one, values=one.values[:3]) for one in new)) == ["hot buffers"]


def test_the_look_at_messages_shows_what_other_curves_differ_in() -> None:
    hot = messages({8192: 1e9, 512 * 1024: 12e9, 4 * MIB: 3e9})
    new = [replace(one, knobs={"buffers": "rotating", "rotation": "64MiB", "seconds": "1"}, title="new") for one in hot]
    hot = [replace(one, knobs={}, further={"buffers": "hot", "rotation": "16MiB"}) for one in hot]
    found = only(found_run([*hot, *new]), "message fall")
    sizes = "bytes=512KiB,1MiB,2MiB,4MiB"
    assert found.lines == (f"octant run mpi/p2p {sizes} buffers=hot,rotating rotation=64MiB --ranks=2",)


def test_sizes_that_are_looked_at_stay_within_the_memory() -> None:
    cell = replace(product(0.5, core=""), name="node/stream", counts={"bytes_read": 10**9})
    for size, texts in (("64MiB", "64MiB,128MiB,256MiB,512MiB"), ("1GiB", "1GiB,2GiB"), ("2GiB", "")):
        found = only(found_run([replace(cell, knobs={"bytes": size})]), "far from a limit")
        assert found.lines[1:] == ((f"octant run node/stream bytes={texts}",) if texts else ())


def test_a_run_is_repeated_as_often_as_it_was() -> None:
    often = found_run([replace(quick(), knobs={"width": "512"}, values=noisy(1e11, 9))], taken(lost=0.1), title="run x")
    assert only(often, "lost time").lines[1] == "octant run node/peakflops width=512 --repeats=9"
    usual = found_run([replace(quick(), knobs={"width": "512"})], taken(lost=0.1), title="run x")
    assert only(usual, "lost time").lines[1] == "octant run node/peakflops width=512"


def test_long_messages_whose_fall_is_uncertain_are_none() -> None:
    rates = {8192: 1e9, 512 * 1024: 12e9, 4 * MIB: 12e9 / 2.5}
    cells = messages(rates, 4)
    last = replace(
        cells[-1], values=[value * factor for value, factor in zip(cells[-1].values, (0.2, 5, 0.3, 3), strict=True)]
    )
    summary = found_run([*cells[:-1], last])
    assert rules(summary) == []
    assert not any("of the best rate" in text for text in passed_checks(summary)), "nor is it in order"


def test_figures_below_eighty_percent_of_their_limit_are_a_finding() -> None:
    found = only(found_run([product(0.79, core="")]), "far from a limit")
    assert found.title == "Matrix multiply reaches 79 % of its limit"
    assert found.lines == ("octant workloads node/gemm", "octant run node/gemm n=384,768,1536,3072")
    near = found_run([product(0.81, core="")])
    assert rules(near) == []
    assert "Matrix multiply, 1 core reaches 81 % of its limit" in passed_checks(near)


def test_doubtful_figures_and_few_launches_are_not_far_from_a_limit() -> None:
    note, limited = (Caveat("drift", grade, "drifts") for grade in (Grade.NOTE, Grade.LIMITED))
    assert rules(found_run([product(0.5, core="", caveats=(note,))])) == ["far from a limit"]
    assert rules(found_run([product(0.5, core="", caveats=(limited,))])) == []
    assert rules(found_run([product(0.5, launches=3, core="")])) == []


def test_a_library_with_kernels_for_another_core_is_looked_at_below_seventy_percent() -> None:
    own = intel("avx2", "avx512f", "avx512_bf16", "amx_tile")
    found = only(found_run([product(0.69)], on=own), "library kernel")
    assert found.title == "Matrix multiply reaches 69 % of peak with kernels for SkylakeX"
    assert "SapphireRapids" in found.body
    assert found.lines[0] == "octant doctor"
    assert rules(found_run([product(0.71)], on=own)) == ["far from a limit"]
    assert rules(found_run([product(0.69)], on=intel("avx2", "avx512f"))) == ["far from a limit"]  # its own kernels


def together(ratio: float, launches: int = 6, title: str = "multiply-adds, a copy on every core") -> Cell:
    """Two cores at once, of which the second has this share of the other's speed."""
    drift = noisy(1.0, launches, 0.05)  # of both alike
    off = noisy(1.0, launches, 1e-4)  # of one
    return replace(
        quick(),
        title=title,
        values=[1e11] * launches,
        places=[(1e5 * both, 1e5 * both * ratio * own) for both, own in zip(drift, reversed(off), strict=True)],
    )


def test_a_core_that_is_surely_slower_is_a_finding() -> None:
    found = only(found_run([together(0.95)]), "imbalance")
    assert found.title == "Core 1 is 5.0 % slower in 1 of 1 figures"
    assert "The reference is core 0" in found.body
    assert found.lines == ("octant where -- PROGRAM", "octant bind --place 0")
    assert found.effect is not None
    assert found.effect.middle == pytest.approx(1 / 0.95, rel=1e-3)
    two = only(found_run([together(0.9), together(0.95, title="again"), together(1.0, title="even")]), "imbalance")
    assert two.title == "Core 1 is up to 10 % slower in 2 of 3 figures"


def test_a_slow_host_has_its_name_as_it_is_written() -> None:
    """`Node7` would be another name, which a report for others does not know."""
    summary = found_run([together(0.95)])
    hosts = ("node6", "node7")
    for one in summary.figures[0].points:
        given = tuple(
            replace(rank, host=host, cpus=(0,), thread_masks=((0,),))
            for rank, host in zip(one.given, hosts, strict=True)
        )
        for launch in summary.figures[0].launches:
            if launch.point is one:
                object.__setattr__(launch, "point", replace(one, given=given))
    (found,) = (one for one in findings(summary) if one.rule == "imbalance")
    assert found.title == "Host node7 is 5.0 % slower in 1 of 1 figures"


@pytest.mark.parametrize(("ratio", "launches"), [(1 / 1.029, 6), (0.95, 3), (1.0, 6)])
def test_a_core_that_is_little_or_not_surely_slower_is_none(ratio: float, launches: int) -> None:
    summary = found_run([together(ratio, launches)])
    assert rules(summary) == []
    assert any("no slower core detected" in text for text in passed_checks(summary)) is (launches == 6)


def test_a_core_just_beyond_three_percent_is_one() -> None:
    assert rules(found_run([together(1 / 1.031)])) == ["imbalance"]


def test_wrong_results_come_first() -> None:
    summary = found_run([product(0.9, wrong=True), quick()], taken(lost=0.3))
    assert rules(summary)[0] == "wrong results"
    found = findings(summary)[0]
    assert found.title == "Wrong result: Matrix multiply, 1 core"
    assert found.lines == ("octant run node/gemm n=384",)


def test_what_was_not_given_as_asked_is_a_finding() -> None:
    text = "rank 0: CPUs 0 requested, bound to 0-1"
    found = only(found_run([replace(quick(), mismatches=(text,))]), "request not met")
    assert found.title == "1 of 1 figures were not measured as requested"
    assert text in found.body


def test_rules_of_the_doctor_look_at_what_was_stored() -> None:
    summary = found_run([quick()], system={"governor": "powersave", "thp": "never", "swap_used_bytes": "0"})
    assert rules(summary) == ["governor", "transparent_pages"]
    assert "memory in swap, B: 0" in passed_checks(summary)
    assert rules(found_run([quick()], system={"governor": "performance", "clock_source": "hpet"})) == ["clock_source"]


def test_findings_are_ordered_by_kind_and_then_by_gain() -> None:
    cells = [*ladder({"256MiB": 1.1}), *messages({8192: 1e9, 65536: 9e9, MIB: 1e9}), product(0.5, core=""), quick()]
    slow = {"governor": "powersave", "frequency_driver": "acpi-cpufreq"}
    found = findings(found_run(cells, taken(lost=0.1), software=REQUESTS, system=slow))
    assert [one.rule for one in found] == ["lost time", "message fall", "far from a limit", "pages", "governor"]
    assert [KINDS.index(one.kind) for one in found] == sorted(KINDS.index(one.kind) for one in found)
    gains = [one.gain for one in found if one.kind == "gain"]
    assert gains == sorted(gains, reverse=True)
    assert gains[0] == pytest.approx(math.log(9) / 4, rel=1e-3)  # one of four workloads


def test_of_a_family_one_is_among_the_first_three() -> None:
    far = [product(0.3, core=""), replace(quick(0.4), title="peak"), *ladder({"256MiB": 1.1})]
    everything = found_run(far, taken(lost=0.1, stolen=0.1), software=REQUESTS)
    assert [one.family for one in findings(everything)] == ["lost time", "limit", "pages", "lost time", "limit"]
    assert first_of(findings(everything)) == 3
    same = findings(found_run([quick()], taken(lost=0.1, stolen=0.1)))
    assert [one.rule for one in same] == ["lost time", "steal"]
    assert first_of(same) == 1
    assert first_of(()) == 0


def test_no_line_ends_between_a_number_and_its_unit() -> None:
    found = advised.findings(found_run(ladder(SIZES), software=REQUESTS))[0]
    assert f"Huge pages change 140{NARROW}ns to 100{NARROW}ns at 256{NARROW}MiB" in found.body
    assert f"below ×{NARROW}1.1 at" in found.body


def test_a_run_without_anything_to_mend_says_how_much_was_looked_at() -> None:
    summary = found_run([quick()], taken())
    assert findings(summary) == ()
    assert len(passed_checks(summary)) >= 5


def test_a_run_of_which_nothing_is_known_passes_no_check() -> None:
    summary = found_run([])
    assert findings(summary) == ()
    facts = {"clock source", "transparent huge pages", "frequency governor"}
    assert all(any(text.startswith(fact) for fact in facts) for text in passed_checks(summary))


def test_every_line_of_ours_is_read_by_our_command_line_and_starts_nothing() -> None:
    cells = [*ladder({"256MiB": 1.1}), *messages({8192: 1e9, 65536: 9e9, MIB: 1e9}), product(0.5), quick(0.4)]
    system = {"governor": "powersave", "thp": "madvise", "swap_used_bytes": str(2**30)}
    summaries = [
        found_run(cells, taken(lost=0.1, stolen=0.2, throttled=0.1), software=REQUESTS, system=system),
        found_run([product(0.5, wrong=True)], title="run gemm n=384", on=intel("amx_tile")),
        found_run([replace(product(0.5), mismatches=("rank 0: elsewhere",))], on=intel("amx_tile")),
    ]
    lines = [line for summary in summaries for one in findings(summary) for line in one.lines]
    assert sum(line.startswith("octant ") for line in lines) >= 8
    for line in lines:
        read(line)


def test_no_line_is_made_of_what_a_store_could_smuggle_into_a_shell() -> None:
    bad = "evaluate --quick; rm -rf ~"
    assert only(found_run([quick()], taken(lost=0.1), title=bad), "lost time").lines == ("octant doctor",)
    odd = replace(product(0.5, core=""), knobs={"n": "384", "library": "$(reboot)"})
    assert "'library=$(reboot)'" in only(found_run([odd]), "far from a limit").lines[1]
    named = replace(product(0.5, core=""), knobs={"n": "384", "--store": "x"})
    assert only(found_run([named]), "far from a limit").lines == ("octant workloads node/gemm",)


def read(line: str) -> None:
    """Parses a line without carrying it out; settings of a shell are known by their form."""
    if line.startswith("octant "):
        command_lines.read(line)
    else:
        assert re.fullmatch(r"export \w+=\S+|(echo|sudo) .*|# .*", line), line
