"""Declared steps on measured messages, against what follows by hand; HPC Challenge's tests on described machines."""

import math
from collections.abc import Mapping

import pytest

from octant import workloads
from octant.benchmarks.hpcc.described import TITLES, on_system
from octant.failure import Refusal
from octant.message_times import LengthSegment, MessageTimes
from octant.network import load
from octant.network.step_rates import MessagePath, Sent, StepRate, rate, sent_by_rank
from octant.step import Part, Step, grid_of, squarest

START_S, PER_BYTE_S = 1e-6, 1e-9
WAY = MessagePath(MessageTimes((LengthSegment(0.0, START_S, PER_BYTE_S),)))
FREE = MessagePath(MessageTimes((LengthSegment(0.0, 0.0, 0.0),)))
FLOPS = ("flops",)
RING = {"bytes": "2000000", "loops": "1", "buffers": "hot"}
STEPS: Mapping[str, Mapping[str, str]] = {
    "hpl": {"n": "4096", "block": "128", "grid": "auto", "transport": "messages", "depth": "1"},
    "ptrans": {
        "n": "4096", "block": "128", "grid": "auto", "transport": "messages", "message": "256KiB", "tile": "192",
    },
    "gfft": {"n": str(2**20), "chunks": "0", "schedule": "prime", "transport": "messages"},
    "hpcc/randomaccess": {
        "bytes": "8MiB", "hpl": "0", "updates": "1", "batch": "0", "transport": "messages", "algorithm": "halves",
    },
}  # fmt: skip


def step_of(name: str, ranks: int, **more: str) -> Step:
    declared = workloads.workload(name).step
    assert declared is not None
    return declared({**STEPS.get(name, RING), **more}, ranks, 1)


def rate_of(name: str, ranks: int, way: MessagePath = WAY) -> StepRate:
    return rate([step_of(name, ranks)], workloads.workload(name).counts_of(), ranks, 1e9, way)


def test_messages_cost_their_starts_and_their_bytes_both_ways_at_once() -> None:
    assert WAY.seconds(Sent(10, 10_000)) == pytest.approx((10e-6, 10e-6))
    shared = MessagePath(WAY.times, duplex=1.5).seconds(Sent(10, 10_000), sharing=4)
    assert shared == pytest.approx((10e-6, 60e-6))
    assert WAY.seconds(Sent(0, 0)) == (0.0, 0.0)


def test_a_stream_has_no_more_than_the_rate_of_its_link() -> None:
    """A ping-pong of short messages may be quicker than the link, which stores what it did not carry."""
    slow = MessagePath(WAY.times, most_per_s=1e8)
    assert slow.seconds(Sent(10, 10_000)) == pytest.approx((10e-6, 100e-6))


def test_a_broadcast_of_which_few_ranks_send_is_waited_for_by_all() -> None:
    parts = (Part("broadcast", 6, 6000, turns=10), Part("exchange", 8, 400))
    assert sent_by_rank(Step({}, 0, parts), 4) == Sent(10 + 2, 1600)


@pytest.mark.parametrize("name", STEPS)
def test_ranks_without_messages_or_with_free_ones_are_as_many_times_as_quick(name: str) -> None:
    alone = rate_of(name, 1)
    assert (alone.per_s.low, alone.per_s.high) == pytest.approx((1e9, 1e9))
    assert rate_of(name, 8, FREE).per_s.middle == pytest.approx(8e9)


@pytest.mark.parametrize("name", STEPS)
@pytest.mark.parametrize("ranks", [2, 3, 6, 64])
def test_the_ends_of_a_rate_are_those_of_one_after_the_other_and_of_all_at_once(name: str, ranks: int) -> None:
    found, step = rate_of(name, ranks), step_of(name, ranks)
    work = sum(step.counts[one] for one in workloads.workload(name).counts_of())
    computing = work / ranks / 1e9
    start, moved = WAY.seconds(sent_by_rank(step, ranks))
    assert found.per_s.low == pytest.approx(work / (computing + start + moved))
    assert found.per_s.high == pytest.approx(work / max(computing, start, moved))
    assert found.per_s.low < found.per_s.middle < found.per_s.high < 1.0000001 * ranks * 1e9


def test_what_two_ranks_send_by_hand() -> None:
    assert step_of("ptrans", 2).bytes_sent == 8 * 4096**2 / 2  # half of each rank's half leaves it
    assert step_of("gfft", 2).bytes_sent == 3 * 16 * 2**20 / 2
    updates = step_of("hpcc/randomaccess", 2)
    assert (updates.messages, updates.bytes_sent) == (2 * 2**19 / 512, 8 * 2**20 / 2)
    assert [step_of(name, 1).bytes_sent for name in STEPS] == [0] * 4


def test_the_quickest_of_several_algorithms_counts() -> None:
    """With many ranks updates go through a hypercube."""
    ranks, updates = 1024, ("updates",)
    direct, cube = (step_of("hpcc/randomaccess", ranks, bytes="8GiB", algorithm=one) for one in ("halves", "hypercube"))
    chosen, first = rate([direct, cube], updates, ranks, 1e8, WAY), rate([direct], updates, ranks, 1e8, WAY)
    assert chosen.per_s.low > 10 * first.per_s.low
    assert chosen == rate([cube], updates, ranks, 1e8, WAY)


def test_a_step_that_only_sends_has_the_rate_of_its_bytes_over_a_link_that_its_node_shares() -> None:
    one, four = (rate([step_of("ring", 8)], (), 8, 0.0, WAY, sharing).per_s for sharing in (1, 4))
    assert one.middle == pytest.approx(2e6 / (START_S + 2e6 * PER_BYTE_S))
    assert four.middle == pytest.approx(2e6 / (START_S + 4 * 2e6 * PER_BYTE_S))
    assert one.low == one.high


def test_grids() -> None:
    assert [squarest(ranks) for ranks in (1, 2, 6, 7, 16)] == [(1, 1), (1, 2), (2, 3), (1, 7), (4, 4)]
    assert grid_of("3x2", 6) == (3, 2)
    with pytest.raises(ValueError, match="do not form a grid"):
        grid_of("2x2", 6)


@pytest.mark.parametrize(
    ("name", "knobs", "grown"),
    [
        ("hpl", {"n": "1000"}, "2000"),
        ("ptrans", {"n": "hpl:2000"}, "2000"),
        ("gfft", {"n": "1000"}, "4000"),
        ("gfft", {"n": str(2**20)}, str(2**22)),
        ("hpcc/randomaccess", {"bytes": "1KiB"}, "4096"),
    ],
)
def test_a_problem_grows_with_the_memory(name: str, knobs: Mapping[str, str], grown: str) -> None:
    scaling = workloads.workload(name).scaling
    assert scaling is not None
    assert scaling.grown(knobs, 4)[scaling.size] == grown


def test_a_transform_grows_to_a_length_that_there_is() -> None:
    scaling = workloads.workload("gfft").scaling
    assert scaling is not None
    assert scaling.grown({"n": "1000"}, 7)["n"] == "7200"


def test_the_power_775_at_1944_nodes_against_published_values() -> None:
    found = {one.test: one for one in on_system(load("power775"), 1944).answers}
    assert set(found) == set(TITLES)
    assert found["gfft"].published is not None
    assert found["gfft"].published.per_part * 1944 == pytest.approx(132658.1e9)
    assert found["randomaccess"].published is not None
    assert found["randomaccess"].published.per_part == pytest.approx(2021e9 / 1980)
    assert not found["randomaccess"].published.calibrated
    assert found["randomaccess"].error == pytest.approx(0.058, abs=0.001)
    assert found["ptrans"].published is not None
    assert found["ptrans"].published.per_part == pytest.approx(60.5e12 / 1980)
    assert found["ptrans"].published.calibrated
    assert found["random-ring"].published is None
    assert found["random-ring"].error is None


def test_a_machine_of_which_less_is_known_says_so() -> None:
    found = on_system(load("power575-ib"), 64)
    answers = {one.test: one for one in found.answers}
    assert "gfft" not in answers
    assert any(text.startswith("G-FFT: ") for text in found.left_out)
    assert "upper bound" in answers["randomaccess"].note
    assert answers["random-ring"].error == pytest.approx(0.0, abs=0.05)  # of a rank, not of a node
    assert all(math.isfinite(one.per_s.middle) for one in found.answers)
    with pytest.raises(Refusal, match="messages need two nodes"):
        on_system(load("power775"), 1)
