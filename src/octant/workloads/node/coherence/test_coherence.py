"""Times of pairs from planted samples, and what the kernel counts and checks of them."""

from dataclasses import replace

import numpy as np
import pytest

from kernel_run import KernelRuns
from octant.analysis.clusters import values_of_pairs
from octant.analysis.figures import Figure, figures_of
from octant.machine.discover import discover
from octant.record import Point, Samples
from octant.workloads.node.coherence import WORKLOAD
from pair_times import PASSES, distance_ns, launch


def figures(found: Point) -> dict[str, Figure]:
    return figures_of(WORKLOAD, [found], WORKLOAD.metrics)


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
    assert "does not hold" in figures(bare)["nearest"].missing


def test_every_pair_is_visited_by_every_protocol(run_kernel: KernelRuns) -> None:
    """And what is counted is what the sums of both sides were checked against: two passes a trip."""
    cpus = sorted(discover().topology.allowed)[:4]
    if len(cpus) < 2:
        pytest.skip("one hardware thread has nobody to pass a line to")
    words = ("pattern=pairs", "protocol=exchange,handover,read", "trips=1000", "seconds=0.2")
    done = run_kernel("node/coherence", *words)
    assert done.code == 0, done.stderr
    counted = {one.knobs["protocol"]: one.count("passes") for one in done.points}
    assert counted == {"exchange": PASSES, "handover": PASSES, "read": 2048}
    for point in done.points:
        assert set(values_of_pairs(figures(point)["time"])) >= {(cpus[0], cpus[1])}


@pytest.mark.parametrize(
    ("fault", "check"),
    [("wrong:0", "passes that were lost"), ("wrong:1", "pairs that were not on two hardware threads")],
)
def test_a_lost_pass_and_a_pair_on_one_thread_are_seen(run_kernel: KernelRuns, fault: str, check: str) -> None:
    done = run_kernel("node/coherence", "protocol=exchange,handover,read", "trips=100", "seconds=0.05", fault=fault)
    assert done.code == 2, done.stderr
    assert [[one.name for one in point.failed_checks] for point in done.points] == [[check]] * 3


def test_an_instruction_that_the_processor_lacks_is_refused_and_the_others_go_on(run_kernel: KernelRuns) -> None:
    words = ("pattern=flush", "instruction=clflush,civac", "bytes=64KiB", "state=clean,dirty", "seconds=0.02")
    done = run_kernel("node/coherence", *words)
    assert done.code == 3
    assert len(done.points) == len(done.failures) == 2
    assert all("no such instruction" in failure.reason for failure in done.failures)
