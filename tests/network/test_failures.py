"""Failures: patched loads against loads computed anew, failover policies, recovery in the packet simulation."""

import numpy as np
import pytest
from msgspec.structs import asdict

from networks import flows, network, uniform
from octant.failure import Refusal
from octant.network import NetworkFile, load, make, solve
from octant.network.failures import cables, failure_sweep, random_failures, recover


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
        gang = asdict(machine.topology)["links_per_host"]
        back = next(i for i, (a, b) in enumerate(ends) if (b, a) == ends[link]) + (link - sweep.links[0]) % gang
        anew = solve(machine, uniform(machine), "enumeration", scale=without(machine, link, int(back)))
        assert rate == pytest.approx(anew.rate_per_s, rel=1e-9)


def test_the_sweep_counts_the_cables_without_effect_and_those_that_stop_traffic() -> None:
    """Two hosts on one switch send to a third on another switch; the fourth host is idle."""
    edges = "n0 a\nn1 a\nn2 b\nn3 b\na b\n"
    tree = network("graph", edges=edges, hosts="n", rates={"link": 1e6, "endpoint": 1e9})
    pattern = flows(tree, np.array([0, 1], np.int32), np.array([2, 2], np.int32))
    sweep = failure_sweep(tree, pattern, "link")
    assert len(sweep.links) == 5
    assert (sweep.harmless, sweep.stalling) == (1, 4)  # without effect is the cable of n3
    half = failure_sweep(tree, pattern, "link", left=0.6)
    assert (half.harmless, half.stalling) == (3, 0)  # n0 and n1 send one flow each, n2 receives both
    assert sorted(half.rates_per_s / half.base_per_s) == pytest.approx([0.6, 0.6, 1.0, 1.0, 1.0])
    quarter = failure_sweep(tree, pattern, "link", left=0.25)
    assert (quarter.harmless, quarter.stalling) == (1, 0)
    assert sorted(quarter.rates_per_s / quarter.base_per_s) == pytest.approx([0.25, 0.25, 0.5, 0.5, 1.0])


@pytest.mark.parametrize("policy", ["stall", "twin", "spread", "recompute"])
@pytest.mark.parametrize("left", [0.0, 0.5])
def test_counts_of_a_sweep_are_those_of_its_rates(policy: str, left: float) -> None:
    machine = network("two-level-direct", policy=policy, supernodes=3, drawers=2, octants=4, links_per_host=2)
    sweep = failure_sweep(
        machine, flows(machine, np.array([0, 1], np.int32), np.array([9, 8], np.int32)), "D", left=left
    )
    lost = 1 - sweep.rates_per_s / sweep.base_per_s
    assert sweep.harmless == int(np.sum(lost < 1e-6))
    assert sweep.stalling == int(np.sum(lost > 1 - 1e-6))
    assert 0 < sweep.harmless < len(sweep.links)


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


@pytest.mark.parametrize(
    "machine",
    [
        network("torus", policy="recompute", sizes=(4, 3), wraps=False),
        network("torus", policy="recompute", sizes=(2, 3, 2)),
        network("two-level-direct", policy="recompute", supernodes=5, drawers=2, octants=4, holes=(3,)),
        network("fat-tree", policy="recompute", down=(3, 4), up=(2,), planes=2),
        network("dragonfly", policy="recompute", groups=4, routers=3, nodes_per_router=2, global_links=2),
        network("hyperx", policy="recompute", sizes=(3, 3), nodes_per_router=2, to_itself="endpoint"),
        network("graph", policy="recompute", edges="a b\nb c\nc a\nc d\nd e\ne f\nf d\n", to_itself="free"),
    ],
    ids=lambda machine: machine.topology.kind,
)  # fmt: skip
@pytest.mark.parametrize("traffic", ["uniform", "pairs"])
def test_the_sweep_recomputes_routes_to_what_a_new_solution_gives(machine: NetworkFile, traffic: str) -> None:
    generator = np.random.default_rng(7)
    active = machine.topology.active()
    start, goal = (generator.choice(active, 30).astype(np.int32) for _ in range(2))
    pattern = uniform(machine) if traffic == "uniform" else flows(machine, start, goal, generator.uniform(0, 2, 30))
    topology = machine.build()
    ends = list(zip(*topology.ends(), strict=True))
    same = [[i for i, pair in enumerate(ends) if pair == one] for one in ends]
    for name in machine.links:
        sweep = failure_sweep(machine, pattern, name)
        assert sweep.policy == "recompute"
        for link, rate in zip(sweep.links.tolist(), sweep.rates_per_s, strict=True):
            gang = same[link].index(link)
            back = [i for i, (a, b) in enumerate(ends) if (b, a) == ends[link] and a != b][gang]
            try:
                anew = solve(machine, pattern, "enumeration", scale=without(machine, link, back))
            except Refusal:
                assert rate == 0
            else:
                assert rate == pytest.approx(anew.rate_per_s, rel=1e-9), topology.name(link)
        half = failure_sweep(machine, pattern, name, left=0.5)
        assert half.worst_per_s >= 0.5 * half.base_per_s * (1 - 1e-9)


def test_hosts_do_not_pass_on_what_is_not_theirs() -> None:
    """Two planes; node 0 has lost its port in one, node 1 in the other: no switch sees both; node 2 is no switch."""
    tree = network("fat-tree", policy="recompute", down=(3,), planes=2)
    names = [tree.build().name(link) for link in range(tree.build().links)]
    lost = [i for i, name in enumerate(names) if "plane 0" in name and "node 0" in name]
    lost += [i for i, name in enumerate(names) if "plane 1" in name and "node 1" in name]
    one = flows(tree, np.array([0], np.int32), np.array([1], np.int32))
    with pytest.raises(Refusal, match="no path"):
        solve(tree, one, scale=without(tree, *lost))
    rails = network("graph", edges="n0 s0\nn1 s1\nn2 s0\nn2 s1\n", hosts="n")
    with pytest.raises(Refusal, match="no path"):
        solve(rails, one)
    line = network("graph", edges="n0 n2\nn2 n1\n", hosts="n")
    ends = flows(line, np.array([0], np.int32), np.array([2], np.int32))
    assert solve(line, ends).loads[line.build().fabric :].sum() == 2  # nodes without switches pass on


def test_a_class_without_cables_cannot_fail() -> None:
    with pytest.raises(Refusal, match="there is no cable of class D"):
        failure_sweep(alone := load("power775").at_size(1), uniform(alone), "D")


def test_degraded_lanes_take_their_part() -> None:
    machine = load("power775").at_size(2)
    lanes = machine.links["D"]
    assert [lanes.left_after(n) for n in (0, 2, 3, 12)] == [1, 1, 0.9, 0]
    sweep = failure_sweep(machine, make(machine, "ptrans"), "D", left=lanes.left_after(3))
    assert sweep.worst_per_s == pytest.approx(0.9 * 4.2e9)


def test_random_sets_of_failures_are_worse_the_more_fail() -> None:
    machine = load("power775").at_size(4)
    pattern = make(machine, "ptrans")
    medians = [random_failures(machine, pattern, "D", k, 15).quantiles_per_s["median"] for k in (0, 2, 12)]
    assert medians[0] == pytest.approx(8.4e9)
    assert medians == sorted(medians, reverse=True)
    some = random_failures(machine, pattern, "D", 12, 15).quantiles_per_s["minimum"]
    assert some < random_failures(machine, pattern, "D", 1, 15).quantiles_per_s["minimum"]
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


def test_a_packet_gives_up_where_every_path_is_dead() -> None:
    """2^20 paths lead to the bridge that fails: no sender can find each of them dead."""
    ladder = "".join(f"s{i}{a} s{i + 1}{b}\n" for i in range(20) for a in "ab" for b in "ab")
    machine = network("graph", hosts="n", edges=f"n1 s0a\nn1 s0b\n{ladder}s20a t\ns20b t\nt n2\n")
    topology = machine.build()
    bridge = next(link for link in range(topology.fabric, topology.links) if topology.ends()[1][link] == 1)
    pattern = flows(machine, np.array([0], np.int32), np.array([1], np.int32), np.array([3.0]))
    found = recover(machine, pattern, bridge, 0.0, 1e-6, 1e-6)
    assert found.undelivered_packets > 0
    assert found.lost_packets < 1000
