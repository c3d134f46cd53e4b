"""Time steps of applications on the model: measured computing, modelled messages."""

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fake_run import MIB, fake_run, pingpong_s
from networks import network
from octant.failure import Refusal
from octant.network import load
from octant.network.collectives import FREE, MessageCosts
from octant.record import Result, Samples
from octant.simulate.timestep import Halo, Reduction, TimeStep, measured_step, read_step, step_time
from octant.store import StoredRun


def computed(repeats: int = 1) -> StoredRun:
    """Return the fake run with the knobs and notes of real workloads."""
    run, double = fake_run(repeats=repeats), {"element": "double"}
    more = {
        "mpi/p2p": {"buffers": "hot"},
        "node/peakflops": double,
        "node/gemm": double,
        "node/noise": {"additions": "40000"},
    }
    points = (
        dataclasses.replace(
            p, knobs={**p.knobs, **more.get(p.workload, {})}, notes={**p.notes, "width": "512", "lanes": "1"}
        )
        for p in run.points
    )
    return dataclasses.replace(run, points=tuple(points))


MICROSECOND = MessageCosts(overhead_s=1e-6)
CUBE = network("torus", sizes=[4, 4, 4], rates={"endpoint": 1e9})


def test_a_halo_on_its_own_torus_crosses_each_link_once() -> None:
    step = TimeStep(0.1, (Halo(3, 1e5, count=2),))
    found = step_time(CUBE, step, 64, costs=FREE)
    assert found.halo_s == pytest.approx(2 * 0.1)  # 100 kB over links of 1 MB/s
    assert found.limited_by == "link"
    assert found.together_s == pytest.approx(0.3)
    assert found.overlapped_s == pytest.approx(0.2)
    assert found.efficiency == pytest.approx((1 / 3, 1 / 2))


def test_the_longest_of_several_halos_says_what_they_fill() -> None:
    """A tiny halo within leaves, a large one over them: the trunks, not the ports, take the time."""
    tree = network("fat-tree", down=[2, 4], up=[1], rates={"port": 1e9, "endpoint": 1e9, "trunk": 1e6})
    small, large = Halo(2, 0.0), Halo(3, 1e6)
    for halos in ((small, large), (large, small)):
        assert step_time(tree, TimeStep(0.0, halos), 8, costs=FREE).limited_by == "trunk"


def test_a_reduction_costs_a_message_each_round() -> None:
    tree = network("fat-tree", down=[16])
    reduction = Reduction(1000, count=3, algorithm="recursive-doubling")
    found = step_time(tree, TimeStep(0.0, reductions=(reduction,)), 16, costs=MICROSECOND)
    assert found.reduction_s == pytest.approx(3 * 4 * (1e-3 + 2e-6))  # four rounds
    odd = step_time(tree, TimeStep(0.0, reductions=(reduction,)), 12, costs=MICROSECOND)
    assert odd.reduction_s == pytest.approx(3 * 5 * (1e-3 + 2e-6))  # three, one before and one after


def test_every_reduction_takes_the_fastest_algorithm_or_the_one_that_it_names() -> None:
    tree = network("fat-tree", down=[16], rates={"port": 1e9, "endpoint": 1e12})
    step = TimeStep(0.0, reductions=(Reduction(8), Reduction(2**30), Reduction(2**30, 1, "binomial")))
    found = step_time(tree, step, 16, costs=MICROSECOND)
    assert found.algorithms == ("recursive-doubling", "rabenseifner", "binomial")
    chosen = step_time(tree, step, 16, costs=MICROSECOND, algorithm="ring")
    assert chosen.algorithms == ("ring", "ring", "binomial")
    assert chosen.reduction_s > found.reduction_s


@pytest.mark.parametrize("step", [TimeStep(0.0, (Halo(3, 8),)), TimeStep(0.0, reductions=(Reduction(8),))])
def test_no_latency_is_no_answer(step: TimeStep) -> None:
    """A file that states some latencies states none of messages between ranks of one router."""
    fly = load("dragonfly-example")
    with pytest.raises(Refusal, match=r"no latency for a message from node 0 to 1\).*--overhead 1us"):
        step_time(fly, step, 4)
    found = step_time(fly, step, 4, costs=MICROSECOND)
    assert found.together_s > 2e-6


def test_one_rank_sends_nothing() -> None:
    alone = step_time(CUBE, TimeStep(0.5, (Halo(2, 1e6),), (Reduction(8),)), 1, costs=FREE)
    assert alone.reduction_s == 0
    assert alone.compute_s == 0.5


def test_ranks_of_a_node_share_its_endpoint() -> None:
    tree = network("fat-tree", down=[16], rates={"port": 1e9})
    apart, packed = (step_time(tree, TimeStep(1.0, (Halo(3, 1e5),)), 16, per_node=n, costs=FREE) for n in (1, 4))
    assert packed.nodes == 4
    assert packed.halo_s > 1.5 * apart.halo_s


@given(st.integers(1, 10**6), st.integers(1, 10**6), st.sampled_from([2, 3, 8, 12, 27, 64]))
def test_more_bytes_never_take_less_time(few: int, more: int, ranks: int) -> None:
    low, high = sorted((few, more))
    steps = (TimeStep(0.0, (Halo(3, size),), (Reduction(size),)) for size in (low, high))
    times = [step_time(CUBE, step, ranks, costs=MICROSECOND).together_s for step in steps]
    assert times[0] <= times[1]


def test_a_kernel_of_the_store_gives_the_seconds() -> None:
    """2 × 448³ flop in 2 ms a chunk, in launches that differ by nothing."""
    run = computed(repeats=3)
    step = measured_step(run, "gemm mode=one", 10)
    assert step.compute_s == pytest.approx(10 * 2e-3, rel=1e-3)
    assert step.range_s is not None
    assert step.range_s[0] <= step.compute_s <= step.range_s[1] < 10 * 2.1e-3
    assert run.id in step.source
    assert "launches: 3" in step.source
    assert "179,830,784 flops" in step.source  # what a chunk is


def test_ranks_that_compute_at_once_are_not_mixed_with_one_alone() -> None:
    run = computed()
    with pytest.raises(
        Refusal, match=r"3 configurations of gemm match .*; add mode=one\|star\|threads ranks=1\|2 threads=1\|2"
    ):
        measured_step(run, "gemm n=448", 1)
    alone, both, shared = (measured_step(run, f"gemm mode={mode}", 1).compute_s for mode in ("one", "star", "threads"))
    assert (alone, both) == pytest.approx((2e-3, 2e-3), rel=0.01)
    assert shared == pytest.approx(1e-3, rel=0.01)  # two threads share a rank's chunks


def test_times_of_several_ranks_are_those_of_one() -> None:
    """1,000 loads of 110 ns, on one rank or on two at once; a message there and back is one for both of its ranks."""
    run = computed()
    far = {"pages": "thp", "bytes": str(256 * MIB)}
    loads = next(p for p in run.points if p.workload == "node/latency" and far.items() <= p.knobs.items())
    (first,) = loads.read().series
    second = dataclasses.replace(first, head=dataclasses.replace(first.head, rank=1))
    (work,) = loads.work
    both = dataclasses.replace(work, lanes=2, counts={name: 2 * count for name, count in work.counts.items()})
    pair = dataclasses.replace(loads, ranks=2, work=(both,), read=lambda: Samples((first, second)))
    for point in (loads, pair):
        found = measured_step(dataclasses.replace(run, points=(point,)), "latency", 1)
        assert found.compute_s == pytest.approx(110e-6, rel=0.01)
    there_and_back = measured_step(run, "p2p bytes=1KiB", 1).compute_s
    assert there_and_back == pytest.approx(2 * pingpong_s(1024), rel=0.01)


@pytest.mark.parametrize(
    ("kernel", "says"),
    [
        ("gemmm", "does not contain gemmm"),
        ("gemm n=449", "available: n=448"),
        ("gemm n", "write knob=value with one of element, mode, n, ranks"),
        ("gemm m=448", "write knob=value"),
        ("latency", "; add "),
    ],
)
def test_words_that_choose_no_point_are_refused(kernel: str, says: str) -> None:
    with pytest.raises(Refusal, match=says):
        measured_step(computed(), kernel, 1)


@pytest.mark.parametrize("chunks", [0.0, -1.0, float("inf"), float("nan")])
def test_no_number_of_chunks_is_refused(chunks: float) -> None:
    with pytest.raises(Refusal, match="--chunks 1"):
        measured_step(computed(), "gemm mode=one", chunks)


def test_a_wrong_result_has_no_seconds() -> None:
    run = computed()
    wrong = dataclasses.replace(run.points[0], results=(Result("values that differ", 1.0, "1", 0.0),))
    with pytest.raises(Refusal, match="its verification failed"):
        measured_step(dataclasses.replace(run, points=(wrong,)), wrong.workload, 1)


def test_words_become_a_step() -> None:
    step = read_step("1.2ms", ["3d:64KiB:2", "2d:1KiB"], ["8:4", "1KiB", "1GiB:1:ring"])
    reductions = (Reduction(8, 4), Reduction(1024), Reduction(2**30, 1, "ring"))
    assert step == TimeStep(1.2e-3, (Halo(3, 65536, 2), Halo(2, 1024)), reductions)


@pytest.mark.parametrize(
    "words", ["soon 3d:8 8", "1s 4d:8 8", "1s 3d 8", "1s 3d:8 8:x", "1s 3d:8:-1 8", "1s 3d:8 8:1:ring:2"]
)
def test_words_that_are_no_step_are_refused(words: str) -> None:
    compute, halo, reduction = words.split()
    with pytest.raises(Refusal, match="--halo 3d:64KiB:2"):
        read_step(compute, [halo], [reduction])


def test_a_measured_kernel_runs_on_64_octants() -> None:
    octants = load("power775").at_size(4)
    with pytest.raises(Refusal, match="--overhead 1us"):  # the file has no latency
        step_time(octants, read_step("1ms", ["3d:1MB"], ["8"]), 64)
    found = step_time(octants, read_step("1ms", ["3d:1MB"], ["8"]), 64, costs=MICROSECOND)
    assert found.reduction_s > 6 * 2e-6
    assert found.nodes == 64
    assert 0 < found.efficiency[0] <= found.efficiency[1] <= 1
