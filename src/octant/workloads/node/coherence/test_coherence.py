"""Times of pairs from planted samples, and what the kernel counts and checks of them."""

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from kernel_run import KernelRuns
from octant.analysis.clusters import values_of_pairs
from octant.analysis.figures import Figure, MeasuredCell, figures_of
from octant.failure import Exit
from octant.record import Point, Samples
from octant.workloads.node.coherence import WORKLOAD
from pair_times import PASSES, distance_ns, launch
from preload import FEW_THREADS, preloaded


def figures(found: Point) -> dict[str, Figure]:
    return figures_of(MeasuredCell(WORKLOAD, [found], WORKLOAD.metrics))


def test_a_pair_takes_the_median_of_its_visits_whoever_calls() -> None:
    found = figures(launch())
    pairs = values_of_pairs(found["time"])
    assert len(pairs) == 16 * 15 // 2
    assert all(a < b for a, b in pairs)
    assert pairs == pytest.approx({pair: distance_ns(*pair) * 1e-9 for pair in pairs}, rel=1e-3)


def test_the_median_pair_stands_for_all_and_the_ends_have_names() -> None:
    middles = {name: one.value.middle for name, one in figures(launch()).items() if one.value}
    assert middles == pytest.approx({"time": 210e-9, "nearest": 7e-9, "farthest": 210e-9}, rel=1e-3)


def test_visits_without_marks_have_no_time_and_are_left_out() -> None:
    """Where marks cost much, every second burst has none: readings are of all samples, times of the others."""
    found = launch([0, 1, 2], visits=4)
    samples = found.read().series
    without = tuple(
        replace(one, values=np.delete(one.values, range(3, 6)), entries=np.ones(9)) if "phase" in one.head.name else one
        for one in samples
    )
    marked = replace(found, marks_off=((3, 6, 0),), read=lambda: Samples(without))
    pairs = values_of_pairs(figures(marked)["time"])
    assert pairs == pytest.approx({pair: distance_ns(*pair) * 1e-9 for pair in pairs}, rel=1e-3)


def test_a_record_without_pairs_has_no_such_metric() -> None:
    found = launch()
    bare = replace(found, read=lambda: Samples(found.read().series[:2]))
    assert "lacks the data" in figures(bare)["nearest"].missing


@pytest.fixture
def two() -> Iterator[tuple[int, int]]:
    """Two hardware threads, to which what the test starts is bound: 64 have more pairs than a short run visits."""
    allowed = sorted(os.sched_getaffinity(0))
    if len(allowed) < 2:
        pytest.skip("one hardware thread has nobody to pass a line to")
    os.sched_setaffinity(0, allowed[:2])
    yield allowed[0], allowed[1]
    os.sched_setaffinity(0, allowed)


def test_a_pair_is_visited_by_every_protocol(run_kernel: KernelRuns, two: tuple[int, int]) -> None:
    """And what is counted is what the number that was passed is checked against: two passes a trip."""
    words = ("pattern=pairs", "protocol=exchange,handover,read", "trips=1000", "seconds=0.2")
    done = run_kernel("node/coherence", *words)
    assert done.code == 0, done.stderr
    counted = {one.knobs["protocol"]: one.count("passes") for one in done.points}
    assert counted == {"exchange": PASSES, "handover": PASSES, "read": 2048}
    for point in done.points:
        assert set(values_of_pairs(figures(point)["time"])) == {two}


@pytest.mark.parametrize(
    ("fault", "pairs", "sharing"),
    [
        ("wrong:0", "lost transfers", "words whose sum is wrong"),
        ("wrong:1", "pairs on a wrong hardware thread", "threads on a wrong hardware thread"),
    ],
)
@pytest.mark.usefixtures("two")
def test_what_is_lost_and_who_is_elsewhere_are_seen(
    run_kernel: KernelRuns, fault: str, pairs: str, sharing: str
) -> None:
    words = ("pattern=pairs,sharing", "protocol=exchange,handover,read", "trips=100", "seconds=0.05")
    done = run_kernel("node/coherence", *words, fault=fault)
    assert done.code == Exit.WRONG_ANSWER, done.stderr
    seen = [(point.knobs["pattern"], [one.name for one in point.failed_checks]) for point in done.points]
    assert seen == [("pairs", [pairs])] * 3 + [("sharing", [sharing])] * 3


def test_an_instruction_that_the_processor_lacks_is_refused_and_the_others_go_on(run_kernel: KernelRuns) -> None:
    words = ("pattern=flush", "instruction=clflush,civac", "bytes=64KiB", "state=clean,dirty", "seconds=0.02")
    done = run_kernel("node/coherence", *words)
    assert done.code == 3
    assert len(done.points) == len(done.failures) == 2
    assert all("no such instruction" in failure.reason for failure in done.failures)


@pytest.mark.usefixtures("two")
def test_a_thread_that_the_system_does_not_start_is_refused_and_the_sweep_goes_on(
    run_kernel: KernelRuns, tmp_path: Path
) -> None:
    words = ("pattern=pairs,sharing,flush", "instruction=clflush", "bytes=64KiB", "seconds=0.02")
    environment = preloaded(FEW_THREADS, tmp_path) | {"MAX_THREADS": "0"}
    done = run_kernel("node/coherence", *words, environment=environment)
    assert done.code == Exit.NOT_SUPPORTED, done.stderr
    refused = [failure.reason for failure in done.failures if "cannot start a thread" in failure.reason]
    assert len(refused) == 2
    assert all("try a smaller sharers=, or higher limits" in reason for reason in refused)
