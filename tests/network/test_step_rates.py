"""HPC Challenge's tests on measured messages, against what follows by hand, and on described machines."""

import math

import pytest

from octant.failure import Refusal
from octant.network import load
from octant.network.hpcc import HALF_BATCH, RING_BYTES, TESTS, Sent, Test, Way, grid, grown, rate, sent, work
from octant.network.larger import on_system
from octant.network.message_times import MessageTimes, Stretch

START_S, PER_BYTE_S = 1e-6, 1e-9
WAY = Way(MessageTimes((Stretch(0.0, START_S, PER_BYTE_S),)))
FREE = Way(MessageTimes((Stretch(0.0, 0.0, 0.0),)))
SIZES: dict[Test, float] = {"hpl": 4096, "ptrans": 4096, "randomaccess": 2**24, "gfft": 2**20}


def test_messages_cost_their_starts_and_their_bytes_both_ways_at_once() -> None:
    assert WAY.seconds(Sent(10, 10_000)) == pytest.approx((10e-6, 10e-6))
    shared = Way(WAY.times, duplex=1.5).seconds(Sent(10, 10_000), sharing=4)
    assert shared == pytest.approx((10e-6, 60e-6))
    assert WAY.seconds(Sent(0, 0)) == (0.0, 0.0)


def test_a_stream_has_no_more_than_the_rate_of_its_link() -> None:
    """A ping-pong of short messages may be quicker than the link, which stores what it did not carry."""
    slow = Way(WAY.times, most_per_s=1e8)
    assert slow.seconds(Sent(10, 10_000)) == pytest.approx((10e-6, 100e-6))


@pytest.mark.parametrize("test", SIZES)
def test_ranks_without_messages_or_with_free_ones_are_as_many_times_as_quick(test: Test) -> None:
    size = SIZES[test]
    alone = rate(test, size, 1, 1e9, WAY)
    assert (alone.per_s.low, alone.per_s.high) == pytest.approx((1e9, 1e9))
    assert rate(test, size, 8, 1e9, FREE).per_s.middle == pytest.approx(8e9)


@pytest.mark.parametrize("test", SIZES)
@pytest.mark.parametrize("ranks", [2, 3, 6, 64])
def test_the_ends_of_a_rate_are_those_of_one_after_the_other_and_of_all_at_once(test: Test, ranks: int) -> None:
    found = rate(test, SIZES[test], ranks, 1e9, WAY)
    computing = work(test, SIZES[test]) / ranks / 1e9
    start, moved = WAY.seconds(sent(test, SIZES[test], ranks)[0])
    assert found.per_s.low == pytest.approx(work(test, SIZES[test]) / (computing + start + moved))
    assert found.per_s.high == pytest.approx(work(test, SIZES[test]) / max(computing, start, moved))
    assert found.per_s.low < found.per_s.middle < found.per_s.high < 1.0000001 * ranks * 1e9


def test_what_two_ranks_send_by_hand() -> None:
    (transposed,) = sent("ptrans", 1024, 2)
    assert transposed.bytes == 8 * 1024**2 / 4  # half of a rank's half leaves it
    (transformed,) = sent("gfft", 2**20, 2)
    assert transformed.bytes == 3 * 16 * 2**20 / 4
    direct, cube = sent("randomaccess", 2**20, 2)
    assert direct == Sent(2**19 / HALF_BATCH, 8 * 2**20 / 4)
    assert cube.bytes == direct.bytes
    (panels,) = sent("hpl", 4096, 2)
    diagonal = 4096 * 128 + 4096 * 129  # half of its blocks in the triangle, then all of them again with the pivots
    assert panels.bytes == 8 * (4096**2 / 2 + diagonal - 4096 * 64) / 2  # every other panel
    assert [one.bytes for test in SIZES for one in sent(test, 1024, 1)] == [0.0] * 4


def test_many_ranks_take_the_hypercube_for_updates() -> None:
    many = {default: rate("randomaccess", 2**30, 1024, 1e8, WAY, default=default) for default in (True, False)}
    assert many[False].per_s.low > 10 * many[True].per_s.low


def test_a_ring_has_a_message_each_way_over_a_link_that_its_node_shares() -> None:
    one, four = (rate("random-ring", 0, 8, 0, WAY, sharing).per_s for sharing in (1, 4))
    assert one.middle == pytest.approx(RING_BYTES / (START_S + RING_BYTES * PER_BYTE_S))
    assert four.middle == pytest.approx(RING_BYTES / (START_S + 4 * RING_BYTES * PER_BYTE_S))


def test_grids_and_sizes() -> None:
    assert [grid(ranks) for ranks in (1, 2, 6, 7, 16)] == [(1, 1), (1, 2), (2, 3), (1, 7), (4, 4)]
    assert grown("hpl", 1000, 4) == 2000
    assert grown("gfft", 1000, 4) == 4000


def test_the_power_775_at_1944_nodes_beside_what_was_published() -> None:
    found = {one.test: one for one in on_system(load("power775"), 1944).answers}
    assert set(found) == set(TESTS) - {"hpl"}
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
    with pytest.raises(Refusal, match="cannot ask for 1 nodes"):
        on_system(load("power775"), 1)
