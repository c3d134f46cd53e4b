"""Time steps of applications on the model: measured computing, modelled messages."""

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fake_run import fake_run
from networks import network
from octant.failure import Refusal
from octant.simulate import load
from octant.simulate.timestep import Halo, Reduction, Step, measured, read_step, step_time

RING = network("torus", sizes=[8], split_ties=False)
CUBE = network("torus", sizes=[4, 4, 4], rates={"endpoint": 1e9})


def test_a_halo_on_its_own_torus_crosses_each_link_once() -> None:
    step = Step(0.1, (Halo(3, 1e5, count=2),))
    found = step_time(CUBE, step, 64)
    assert found.halo_s == pytest.approx(2 * 0.1)  # 100 kB over links of 1 MB/s
    assert found.limited_by == "link"
    assert found.together_s == pytest.approx(0.3)
    assert found.overlapped_s == pytest.approx(0.2)
    assert found.efficiency == pytest.approx((1 / 3, 1 / 2))


def test_a_reduction_costs_a_message_each_round() -> None:
    tree = network("fat-tree", down=[16])
    found = step_time(tree, Step(0.0, reductions=(Reduction(1000, count=3),)), 16, overhead_s=1e-6)
    assert found.reduction_s == pytest.approx(3 * 4 * (1e-3 + 2e-6))  # four rounds of recursive doubling
    odd = step_time(tree, Step(0.0, reductions=(Reduction(1000),)), 12, overhead_s=1e-6)
    assert odd.reduction_s == pytest.approx(2 * 4 * (1e-3 + 2e-6))  # up and down a binomial tree


def test_one_rank_sends_nothing() -> None:
    alone = step_time(CUBE, Step(0.5, (Halo(2, 1e6),), (Reduction(8),)), 1)
    assert alone.reduction_s == 0
    assert alone.compute_s == 0.5


def test_ranks_of_a_node_share_its_endpoint() -> None:
    tree = network("fat-tree", down=[16], rates={"port": 1e9})
    apart, packed = (step_time(tree, Step(1.0, (Halo(3, 1e5),)), 16, per_node=n) for n in (1, 4))
    assert packed.nodes == 4
    assert packed.halo_s > 1.5 * apart.halo_s


@given(st.floats(1, 1e6), st.floats(1, 1e6), st.sampled_from([2, 3, 8, 12, 27, 64]))
def test_more_bytes_never_take_less_time(few: float, more: float, ranks: int) -> None:
    low, high = sorted((few, more))
    steps = (Step(0.0, (Halo(3, size),), (Reduction(size),)) for size in (low, high))
    times = [step_time(CUBE, step, ranks, overhead_s=1e-6).together_s for step in steps]
    assert times[0] <= times[1]


def test_a_kernel_of_the_store_gives_the_seconds() -> None:
    run = fake_run(repeats=3)
    point = next(p for p in run.points if p.workload == "stream" and p.sampling == "lanes")
    knobs = dict(point.knobs)
    same = [p for p in run.points if p.workload == "stream" and dict(p.knobs) == knobs]
    chunk_s = sorted(p.lanes[0].duration_ns[-1] * 1e-9 / p.batch for p in same)
    seconds, source = measured(run, "stream", knobs, 10)
    assert 10 * chunk_s[0] * 0.9 <= seconds <= 10 * chunk_s[-1] * 1.1
    assert run.id in source
    with pytest.raises(Refusal, match="cannot find gemmm"):
        measured(run, "gemmm", {}, 1)


def test_several_points_are_not_mixed() -> None:
    run = fake_run()
    swept = next(
        p for p in run.points if len({tuple(q.knobs.items()) for q in run.points if q.workload == p.workload}) > 1
    )
    with pytest.raises(Refusal, match="cannot choose one of"):
        measured(run, swept.workload, {}, 1)


def test_a_wrong_answer_has_no_seconds() -> None:
    run = fake_run()
    wrong = dataclasses.replace(run.points[0], verdict=dataclasses.replace(run.points[0].verdict, passed=False))
    with pytest.raises(Refusal, match="its answer is wrong"):
        measured(dataclasses.replace(run, points=(wrong,)), wrong.workload, {}, 1)


def test_words_become_a_step() -> None:
    step = read_step("1.2ms", ["3d:64KiB:2", "2d:1KiB"], ["8:4", "1KiB"])
    assert step == Step(1.2e-3, (Halo(3, 65536, 2), Halo(2, 1024)), (Reduction(8, 4), Reduction(1024)))


@pytest.mark.parametrize("words", ["soon 3d:8 8", "1s 4d:8 8", "1s 3d 8", "1s 3d:8 8:x", "1s 3d:8:-1 8"])
def test_words_that_are_no_step_are_refused(words: str) -> None:
    compute, halo, reduction = words.split()
    with pytest.raises(Refusal, match="--halo 3d:64KiB:2"):
        read_step(compute, [halo], [reduction])


def test_a_measured_kernel_runs_on_64_octants() -> None:
    octants = load("power775").at_size(4)
    with pytest.raises(Refusal, match="give --overhead"):  # the file has no latency: reductions would take nothing
        step_time(octants, read_step("1ms", ["3d:1MB"], ["8"]), 64)
    found = step_time(octants, read_step("1ms", ["3d:1MB"], ["8"]), 64, overhead_s=1e-6)
    assert found.reduction_s > 6 * 2e-6
    assert found.nodes == 64
    assert 0 < found.efficiency[0] <= found.efficiency[1] <= 1
