"""Failures: patched loads against loads computed anew, failover policies, recovery in the packet simulation."""

import numpy as np
import pytest

from networks import flows, network, uniform
from octant.failure import Refusal
from octant.simulate import NetworkFile, load, make, solve
from octant.simulate.failures import cables, failure_sweep, random_failures, recover


def without(machine: NetworkFile, *links: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    scale = np.ones(machine.build().links)
    scale[list(links)] = 0
    return scale


@pytest.mark.parametrize("policy", ["stall", "twin", "spread"])
def test_the_sweep_patches_loads_to_what_a_new_solution_gives(policy: str) -> None:
    machine = network("two-level-direct", policy=policy, supernodes=4, drawers=2, octants=4)
    sweep = failure_sweep(machine, uniform(machine), "D")
    ends = list(zip(*machine.build().ends(), strict=True))
    for link, rate in list(zip(sweep.links.tolist(), sweep.rates_per_s, strict=True))[::5]:
        gang = machine.topology.model_dump()["links_per_host"]
        back = next(i for i, (a, b) in enumerate(ends) if (b, a) == ends[link]) + (link - sweep.links[0]) % gang
        anew = solve(machine, uniform(machine), "enumeration", scale=without(machine, link, int(back)))
        assert rate == pytest.approx(anew.rate_per_s, rel=1e-9)


def test_other_topologies_fail_over_too() -> None:
    tree = network("fat-tree", policy="spread", down=(4, 4), up=(4,), planes=2)
    pattern = uniform(tree)
    whole = solve(tree, pattern).rate_per_s
    sweep = failure_sweep(tree, pattern, "port")
    assert 0 < sweep.worst_per_s <= whole
    assert sweep.stalling == 0
    fly = network("dragonfly", policy="spread", groups=3, routers=4, nodes_per_router=1, global_links=2)
    assert failure_sweep(fly, uniform(fly), "global").stalling == 0
    stuck = network("torus", sizes=(4, 4))
    assert failure_sweep(stuck, uniform(stuck), "link").worst_per_s == 0


def test_a_plane_that_fails_costs_its_share_at_most() -> None:
    """A job that saturates every port of eight planes loses one eighth with one of them."""
    tree = network("fat-tree", policy="spread", rates={"endpoint": 1e9}, down=(4, 4), up=(4,), planes=8)
    pattern = make(tree, "shift", 5)
    names = [tree.build().name(i) for i in range(tree.build().links)]
    plane = [i for i, name in enumerate(names) if "plane 3 " in name]
    hurt = solve(tree, pattern, scale=without(tree, *plane))
    assert hurt.rate_per_s == pytest.approx(solve(tree, pattern).rate_per_s * 7 / 8)


def test_recomputed_routes_avoid_what_is_down() -> None:
    ring = network("torus", policy="recompute", sizes=(6,))
    topology = ring.build()
    forward = next(i for i in range(topology.links) if topology.name(i) == "link (0) → (1)")
    pattern = flows(ring, np.array([0], np.int32), np.array([1], np.int32))
    around = solve(ring, pattern, scale=without(ring, forward))
    assert around.loads[topology.fabric :].sum() == 5
    backward = next(i for i in range(topology.links) if topology.name(i) == "link (0) → (5)")
    with pytest.raises(Refusal, match="no path"):
        solve(ring, pattern, scale=without(ring, forward, backward))


def test_degraded_lanes_take_their_part() -> None:
    machine = load("power775").at_size(2)
    lanes = machine.links["D"]
    assert [lanes.left_after(n) for n in (0, 2, 3, 12)] == [1, 1, 0.9, 0]
    sweep = failure_sweep(machine, make(machine, "ptrans"), "D", left=lanes.left_after(3))
    assert sweep.worst_per_s == pytest.approx(0.9 * 4.2e9)


def test_random_sets_of_failures_are_worse_the_more_fail() -> None:
    machine = load("power775").at_size(4)
    pattern = make(machine, "ptrans")
    medians = [random_failures(machine, pattern, "D", k, 15).quantiles_per_s[0.5] for k in (0, 2, 12)]
    assert medians[0] == pytest.approx(8.4e9)
    assert medians == sorted(medians, reverse=True)
    some = random_failures(machine, pattern, "D", 12, 15).quantiles_per_s[0.0]
    assert some < random_failures(machine, pattern, "D", 1, 15).quantiles_per_s[0.0]
    all_links = 4 * 3 * 8
    halved = random_failures(machine, pattern, "D", all_links, 2, left=0.5)
    assert halved.quantiles_per_s == pytest.approx(dict.fromkeys(halved.quantiles_per_s, 4.2e9))
    assert random_failures(machine, pattern, "D", 3, 5) == random_failures(machine, pattern, "D", 3, 5)


def test_on_demand_detection_fails_over_and_loses_nothing() -> None:
    cluster = load("power575-ib").at_size(24)
    pattern = make(cluster, "shift", 12, bytes_each=2048 * 400)
    port = int(cables(cluster, "port")[0])
    mended = recover(cluster, pattern, port, fails_s=20e-6, timeout_s=100e-6, ping_s=10e-6)
    assert mended.lost_packets == mended.resent_packets > 0
    assert mended.undelivered_packets == 0
    assert mended.detected_s == pytest.approx(2 * 100e-6 + 10e-6, rel=0.05)  # two silent timers, then the ping
    assert mended.detected_s < mended.recovered_s < mended.time_s
    assert mended.undisturbed_s < mended.time_s
    lonely = network("torus", sizes=(4,), wraps=False)
    one = flows(lonely, np.array([0], np.int32), np.array([3], np.int32), np.array([50.0]))
    cut = recover(lonely, one, int(cables(lonely, "link")[1]), 5e-6, 1e-6, 1e-6)
    assert cut.undelivered_packets > 0
    assert cut.time_s == float("inf")
    silent = recover(cluster, pattern, port, fails_s=20e-6, timeout_s=0, ping_s=0)
    assert silent.undelivered_packets > 0
    assert silent.time_s == float("inf")
    assert recover(cluster, pattern, port, 20e-6, 100e-6, 10e-6) == mended
