"""The rings of HPC Challenge on the model, against what follows from one switch by hand."""

import math

import pytest
from msgspec.structs import replace

from networks import network
from octant.failure import Refusal
from octant.network import NetworkFile
from octant.network.collectives import MessageCosts
from octant.network.rings import BANDWIDTH_BYTES, LATENCY_BYTES, rings
from octant.network.traffic import place

LATENCY, RATE = 2e-6, 1e9


def switch(ranks: int) -> NetworkFile:
    tree = network("fat-tree", down=[ranks], rates={"port": RATE, "endpoint": 1e12})
    port = replace(tree.links["port"], latency=LATENCY / 2)
    return replace(tree, links={**tree.links, "port": port})


def test_on_one_switch_every_order_is_the_same_and_a_port_carries_two_messages() -> None:
    machine, costs = switch(8), MessageCosts(overhead_s=1e-6)
    ordered, random = rings(machine, place(machine, "block", 8), costs, count=3)
    # A rank sends two messages and receives two: the latency of a route, four overheads, and both through its port.
    fixed_s = LATENCY + 4 * costs.overhead_s
    for one, count in ((ordered, 1), (random, 3)):
        assert one.rings == count
        assert one.latency_s == pytest.approx((fixed_s + 2 * LATENCY_BYTES / RATE) / 2, rel=1e-9)
        assert BANDWIDTH_BYTES / one.bytes_per_s == pytest.approx((fixed_s + 2 * BANDWIDTH_BYTES / RATE) / 2, rel=1e-9)


def test_a_random_order_is_slower_on_a_mesh_than_the_order_of_the_ranks() -> None:
    machine = network("torus", sizes=[4, 4, 4])
    ordered, random = rings(machine, place(machine, "block", 64), MessageCosts(latency_s=1e-6), count=5)
    assert random.bytes_per_s < ordered.bytes_per_s
    assert math.isfinite(random.bytes_per_s)


def test_one_rank_is_no_ring() -> None:
    machine = switch(2)
    with pytest.raises(Refusal, match="a ring needs at least 2 ranks"):
        rings(machine, place(machine, "block", 1), MessageCosts(latency_s=0.0))
