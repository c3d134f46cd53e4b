"""Flows: their size in the packet simulation, their rates one by one, and jobs on part of a machine."""

import numpy as np
import pytest
from msgspec.structs import replace

from networks import flows, network, packets, uniform
from octant.failure import Refusal
from octant.network import NetworkFile, SolverSettings, load, make, names, solve
from octant.network.failures import cables, recover
from octant.network.jobs import job_nodes
from octant.network.scale import scale
from octant.network.traffic import pairs
from octant.network.whatif import bracket, diff, explain
from octant.untrusted import convert

PERMUTATIONS = ("shift", "reverse", "tornado", "random")
P775 = load("power775")


@pytest.mark.parametrize("pattern", PERMUTATIONS)
@pytest.mark.parametrize("name", names())
def test_packets_agree_with_the_static_load_of_permutations(name: str, pattern: str) -> None:
    """Flows of 1 MiB: what is left is the time of the first and the last packet on their way."""
    machine = load(name) if name != "power775" else P775.at_size(5)
    traffic = make(machine, pattern, bytes_each=2.0**20)
    static = solve(machine, traffic).rate_per_s
    assert solve(machine, traffic, "max-min").rate_per_s == pytest.approx(static, rel=1e-6)
    assert solve(machine, traffic, "packets").rate_per_s == pytest.approx(static, rel=0.07)


def test_packets_converge_to_max_min_as_flows_grow() -> None:
    machine = load("power575-ib")
    rates = []
    for size in (2.0**10, 2.0**14, 2.0**20, 2.0**24):
        traffic = make(machine, "shift", 12, size)
        rates.append(solve(machine, traffic, "packets").rate_per_s)
    assert rates == sorted(rates)
    assert rates[0] < 0.05 * rates[-1]  # a kilobyte is all latency
    assert rates[-1] == pytest.approx(solve(machine, traffic, "max-min").rate_per_s, rel=0.01)


def test_the_last_packet_holds_what_is_left() -> None:
    """Two and a half packets over injection, two hops and ejection, all of 1 B/µs."""
    ring = network("torus", sizes=(8,))
    one = flows(ring, np.array([0], np.int32), np.array([2], np.int32), np.array([2.5]))
    answer = packets(ring, one, per_packet=1, window=64)
    assert answer.time_s == pytest.approx(2e-6 + 3 * 1e-6 + 0.5e-6, rel=1e-9)  # the half packet follows the second
    assert answer.loads == pytest.approx(solve(ring, one).loads)
    small = flows(ring, np.array([0], np.int32), np.array([2], np.int32), np.array([0.25]))
    assert packets(ring, small, per_packet=1, window=64).time_s == pytest.approx(4 * 0.25e-6, rel=1e-9)


def test_a_short_packet_has_the_headers_of_a_full_one_and_counts_as_one() -> None:
    text = {
        "name": "headers",
        "topology": {"kind": "torus", "sizes": [4]},
        "links": {"link": {"bytes_per_s": 1e9, "packets_per_s": 1e6}},
        "endpoint": {"injection": {"bytes_per_s": 1e9}},
        "packet": {"payload_bytes": 900, "overhead_bytes": 100},
        "routing": {"name": "dimension-ordered"},
    }
    fast = convert({**text, "links": {"link": {"bytes_per_s": 1e9}}}, NetworkFile)
    short = pairs(fast, [(0, 1, 1.0)])
    assert solve(fast, short, "packets").time_s == pytest.approx(1e-9 + 101e-9 + 1e-9)
    full = pairs(fast, [(0, 1, 900.0)])
    assert solve(fast, full, "packets").time_s == pytest.approx(900e-9 + 1000e-9 + 900e-9)
    slow = convert(text, NetworkFile)
    assert solve(slow, short, "packets").time_s == pytest.approx(1e-9 + 1e-6 + 1e-9)


@pytest.mark.parametrize(
    ("settings", "bytes_each", "says"),
    [
        (SolverSettings(window=2**31), 1.0, "--window 1 to 1048576"),
        (SolverSettings(window=2**20), 2.0**24, "packets in flight .at most 4000000"),
        (SolverSettings(), 1e15, r"2.67e\+14 packets one by one"),
        (SolverSettings(), 1e17, "packets one by one"),
    ],
)
def test_a_simulation_that_cannot_end_is_refused_before_it_starts(
    settings: SolverSettings, bytes_each: float, says: str
) -> None:
    machine = load("bgp")
    with pytest.raises(Refusal, match=says):
        solve(machine, make(machine, "shift", bytes_each=bytes_each), "packets", settings)


@pytest.mark.parametrize("bytes_each", [0.0, -1.0, 1e18, float("inf"), float("nan")])
def test_flows_have_a_size(bytes_each: float) -> None:
    with pytest.raises(Refusal, match=r"1 to 10\^18 bytes"):
        make(load("bgp"), "shift", bytes_each=bytes_each)


def test_a_recovery_has_bounds() -> None:
    machine = load("power575-ib").at_size(24)
    link = int(cables(machine, "port")[0])
    pattern = make(machine, "shift", 12, 1e6)
    for times in ((1e300, 1e-4, 1e-5), (1e-5, float("inf"), 1e-5), (1e-5, 1e-4, 1e18), (-1.0, 1e-4, 1e-5)):
        with pytest.raises(Refusal, match=r"0 to 3600 s"):
            recover(machine, pattern, link, *times)
    with pytest.raises(Refusal, match="packets one by one"):
        recover(machine, make(machine, "shift", 12, 1e17), link, 1e-5, 1e-4, 1e-5)


def test_max_min_gives_all_rates() -> None:
    """Three of four flows share the link of a line that two of them leave early; one flow stays at home."""
    line = network("torus", sizes=(4,), wraps=False, rates={"endpoint": 8e6})
    ends = np.array([[0, 1], [0, 2], [1, 2], [3, 3]], np.int32)
    found = solve(line, flows(line, ends[:, 0], ends[:, 1]), "max-min").flow_rates
    assert found is not None
    assert (found.crossing, found.inside) == (3, 1)
    assert (found.slowest_per_s, found.mean_per_s, found.fastest_per_s) == pytest.approx((5e5, 5e5, 5e5))
    uneven = flows(line, ends[:, 0][:3], ends[:, 1][:3], np.array([1.0, 1.0, 0.0]))
    assert solve(line, uneven, "max-min").rate_per_s == pytest.approx(5e5)  # a flow of nothing takes no share
    spread = solve(load("bgp"), make(load("bgp"), "random"), "max-min").flow_rates
    assert spread is not None
    known = [spread.slowest_per_s, *spread.quartiles_per_s, spread.fastest_per_s]
    assert known == sorted(known)
    assert spread.slowest_per_s < spread.mean_per_s < spread.fastest_per_s
    crossing = spread.each_per_s[np.isfinite(spread.each_per_s)]
    assert (len(crossing), len(spread.each_per_s)) == (spread.crossing, spread.crossing + spread.inside)
    assert crossing.mean() == pytest.approx(spread.mean_per_s)


@pytest.mark.parametrize("parameter", [0, 64, -64])
def test_flows_inside_nodes_are_reported_and_have_no_rate_of_the_network(parameter: int) -> None:
    machine = load("bgp")
    answer = solve(machine, make(machine, "shift", parameter), "max-min")
    assert answer.flow_rates is None
    assert answer.notes == ("64 of 64 flows are within a node and do not cross the network",)
    assert answer.rate_per_s == pytest.approx(3e9)  # the memory of the node


def test_a_job_uses_part_of_a_machine_and_its_routes_all_of_it() -> None:
    """Two supernodes with helpers (The Power 775 Architecture at Scale): each third supernode adds a way."""
    words = replace(P775.routing, name="indirect", with_direct=True)
    indirect = replace(P775, routing=words)
    rows = {row.size: row for row in diff(P775, indirect, "ptrans", [2, 4, 8, 64], job="2")}
    assert [rows[n].first_per_s / 1e9 for n in rows] == pytest.approx([4.2] * 4)
    assert [rows[n].second_per_s / 1e9 for n in rows] == pytest.approx([4.2, 3 * 4.2, 7 * 4.2, 30.3])
    assert "need at least three" in rows[2].notes[0]
    assert not rows[4].notes
    alone = diff(P775, indirect, "ptrans", [2])[0]
    assert alone.ratio == pytest.approx(1)
    assert alone.notes
    fly = load("dragonfly-example").at_size(2)
    assert "with 2, all routes are direct" in bracket(fly, make(fly, "shift", 32), "valiant").note


def test_jobs_are_named_by_number_or_by_place() -> None:
    assert len(job_nodes(P775, "2")) == 62
    assert job_nodes(P775, "0,8").tolist() == [*range(31), *range(256, 287)]
    assert job_nodes(P775, "1:1").tolist() == list(range(32, 63))
    assert job_nodes(load("bgp"), "3,5:6").tolist() == [3, 5, 6]
    assert len(job_nodes(load("dragonfly-example"), "3")) == 96
    assert len(job_nodes(P775, "")) == 1984
    for text in ("0", "65", "64:64", "-1", "two", "2:1", "1,", "9" * 5000):
        with pytest.raises(Refusal, match=r"--job 2 \(the first ones"):
            job_nodes(P775, text)


def test_a_job_of_a_whole_machine_is_the_machine() -> None:
    whole = P775.at_size(4)
    (point,) = scale(P775, "randomaccess", [4], job="4").points
    assert point.rate_per_s == pytest.approx(solve(whole, make(whole, "randomaccess")).rate_per_s)
    assert point.solver == "class aggregation"
    part = explain(whole, make(whole, "ptrans", job=job_nodes(whole, "0,2")))
    assert part.answer.solver == "class aggregation"
    assert part.causes
    with pytest.raises(Refusal, match="several patterns"):
        scale(P775, "gfft", [4], job="2")


def test_uniform_traffic_of_a_job_loads_what_its_pairs_load() -> None:
    machine = network("torus", sizes=(4, 4))
    nodes = job_nodes(machine, "4")
    everyone = make(machine, "uniform", job=nodes)
    listed = flows(machine, np.repeat(nodes, 4), np.tile(nodes, 4), np.full(16, 0.25))
    assert solve(machine, everyone).rate_per_s == pytest.approx(solve(machine, listed).rate_per_s * 4)
    assert solve(machine, everyone).rate_per_s != pytest.approx(solve(machine, uniform(machine)).rate_per_s)


@pytest.mark.parametrize(
    ("pattern", "nodes", "parameter", "says"),
    [
        ("bisection", 1, 1, "has no pairs"),
        ("incast", 1, 0, "has no pairs"),
        ("halo3d", 1, 1, "has no pairs"),
        ("ordered-ring", 1, 1, "fewer than two"),
        ("random-ring", 4, 0, "at least 1, not 0"),
        ("random-ring", 4, -3, "at least 1, not -3"),
        ("transpose", 6, 1, "square number"),
        ("bit-reverse", 6, 1, "power of two"),
        ("incast", 4, 4, "no such rank"),
        ("shift", 4, 2**31, "out of range"),
        ("tornad", 4, 1, "did you mean tornado"),
    ],
)
def test_a_pattern_that_a_number_of_nodes_cannot_have_is_refused(
    pattern: str, nodes: int, parameter: int, says: str
) -> None:
    machine = network("torus", sizes=(nodes,))
    with pytest.raises(Refusal, match=says):
        make(machine, pattern, parameter)


def test_patterns_of_few_and_odd_numbers_of_nodes() -> None:
    """Two ranks of a ring are each other's left and right; one rank of an odd bisection has no partner."""

    def of(pattern: str, nodes: int, parameter: int = 1) -> list[tuple[int, int]]:
        made = make(network("torus", sizes=(nodes,)), pattern, parameter).flows
        assert made is not None
        return sorted(zip(made.sources.tolist(), made.targets.tolist(), strict=True))

    assert of("ordered-ring", 2) == of("random-ring", 2) == [(0, 1), (0, 1), (1, 0), (1, 0)]
    assert len(of("random-ring", 5, 7)) == 10
    assert of("bisection", 5) == [(0, 2), (1, 3), (2, 0), (3, 1)]
    assert of("reverse", 3) == [(0, 2), (1, 1), (2, 0)]
    assert of("shift", 1) == of("random", 1) == of("pingping", 1)[:1] == [(0, 0)]
    assert of("tornado", 2) == [(0, 0), (1, 1)]
    assert sorted(target for _, target in of("random", 7, 3)) == list(range(7))


def test_pairs_without_bytes_are_left_out() -> None:
    machine = load("bgp")
    some = pairs(machine, [(0, 1, 0.0), (1, 2, 5.0)])
    assert some.flows is not None
    assert len(some.flows) == 1
    with pytest.raises(Refusal, match="contains no bytes"):
        pairs(machine, [(0, 1, 0.0)])
