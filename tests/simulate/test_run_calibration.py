"""Calibration from a run of the store, on numbers written here."""

import dataclasses
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from fake_run import MIB, fake_run, lane, point, there_and_back, write_run
from model_command import answer, run
from networks import network
from octant import workloads
from octant.failure import Refusal
from octant.metric import Metric, rate, seconds
from octant.network import NetworkFile, load
from octant.network.calibrate import MeasuredRate, calibrate
from octant.network.collectives import MessageCosts, programs
from octant.network.files import parse
from octant.record import Point, RankResources, Result
from octant.report.network.answers import store_calibration_text
from octant.simulate.run_calibration import StoreCalibration, calibrate_from_run
from octant.store import StoredRun
from octant.workload import NoTraffic, Traffic, Workload

MANY = (0, 8, 64, 512, 2048, 4096, 8192, 16384, 32768, 131072, 2**20)
TREE = network("fat-tree", down=[4], rates={"port": 5e9, "endpoint": 4e9})


def message(length: int, ns: int, buffers: str = "rotating", hosts: tuple[str, str] = ("a", "a"), **more: Any) -> Point:
    """There and back in samples of 2 × (0.98, 1, 1.02) × `ns`: the interval of so few is their range."""
    given = tuple(RankResources(host, (0,), ((0,),), ()) for host in hosts)
    lanes = (lane([2 * ns * part // 100 for part in (98, 100, 102)]),)
    clean: dict[str, Any] = {
        "workload": "mpi/p2p",
        "launch": f"p2p-{length}-{buffers}-0",
        "knobs": {"bytes": str(length), "buffers": buffers, "seconds": "1"},
        "counts": there_and_back(length),
        "ranks": 2,
        "given": given,
        "lanes": lanes,
    }
    return point("steps", **(clean | more))


def stored(*points: Point, others: bool = False) -> StoredRun:
    base = fake_run()
    kept = tuple(p for p in base.points if p.workload == "node/stream" and "ladder" not in p.notes) if others else ()
    return dataclasses.replace(base, points=(*points, *kept))


def test_ranks_of_a_node_show_its_memory() -> None:
    """1 MB in 101 µs, of which 1 µs is start-up: 10 GB/s, at least what it is with the start-up counted."""
    found = calibrate_from_run(TREE, stored(message(0, 1000), message(10**6, 101_000), message(10**6, 51_000, "hot")))
    ((parameter,),) = (fit.parameters for fit in found.fits)
    assert parameter.link_class == "local"
    assert parameter.value == pytest.approx(1e10, rel=1e-3)
    assert parameter.low == pytest.approx(1e6 / (101e-6 * 1.02), rel=1e-3)
    assert math.isinf(parameter.high)
    assert found.evidence[0].between == "ranks of one node"
    start = found.evidence[0].startup
    assert start is not None
    assert (start.seconds.low, start.seconds.middle, start.seconds.high) == pytest.approx((0.98e-6, 1e-6, 1.02e-6))
    assert start.overhead_s == pytest.approx((0, 0.51e-6))
    hot = calibrate_from_run(TREE, stored(message(0, 1000), message(10**6, 51_000, "hot")))
    assert hot.fits[0].parameters[0].value == pytest.approx(1e6 / 51e-6, rel=0.03)
    asked = calibrate_from_run(TREE, stored(message(10**6, 101_000), message(10**6, 51_000, "hot")), "p2p buffers=hot")
    assert asked.fits[0].parameters[0].value == pytest.approx(1e6 / 51e-6, rel=1e-3)


def test_every_protocol_has_its_start_up_and_time_per_byte() -> None:
    def late(n: int) -> int:
        return 1000 + n // 4 + (3000 if n >= 8192 else 0)

    cold = [message(n, late(n)) for n in (0, *(2**k for k in range(4, 21)))]
    found = calibrate_from_run(TREE, stored(*cold, message(2**20, 50_000, "hot"), message(0, 900, "hot")))
    first, second = found.evidence[0].segments
    assert (first.startup_s, second.startup_s) == pytest.approx((1e-6, 4e-6), rel=0.02), "rotating buffers alone"
    assert (first.last, second.first, second.kind) == (4096, 8192, "step")
    text = store_calibration_text(found).replace("\N{NARROW NO-BREAK SPACE}", " ")
    assert "A, to 4 KiB: 1.00 µs + n / 4.00 GB/s, error 0" in text
    assert "step of 3.00 µs" in text


def test_the_memory_traffic_of_the_run_bounds_what_messages_within_a_node_can_reach() -> None:
    """Best stream traffic of the fake run: 3.2 MB in 100 µs / 1.2; a message is read and written once."""
    found = calibrate_from_run(TREE, stored(message(0, 1000), message(10**6, 101_000), others=True))
    assert found.fits[0].parameters[0].high == pytest.approx(38.4e9 / 2, rel=0.01)
    beyond = calibrate_from_run(
        TREE, stored(message(10**6, 40_000), others=True)
    )  # 25 GB/s: some cache held the buffers
    assert math.isinf(beyond.fits[0].parameters[0].high)


def test_messages_between_nodes_bound_every_class_on_their_way_from_below() -> None:
    run_of_two = stored(message(8, 2000, hosts=("a", "b")), message(10**6, 252_000, hosts=("a", "b")))
    found = calibrate_from_run(TREE, run_of_two)
    parameters = {p.link_class: p for p in found.fits[0].parameters}
    assert set(parameters) == {"endpoint", "port"}
    assert all(p.value == pytest.approx(4e9, rel=1e-3) and math.isinf(p.high) for p in parameters.values())
    (port,) = calibrate_from_run(TREE.scaled("endpoint", 0.5), run_of_two, free=["port"]).fits[0].parameters
    assert port.value == pytest.approx(4e9, rel=1e-3)  # whatever the file says of the endpoints
    late = {name: replace(link, latency=0.5e-6) for name, link in TREE.links.items()}
    start = calibrate_from_run(replace(TREE, links=late), run_of_two).evidence[0].startup
    assert start is not None
    assert start.file_latency_s == pytest.approx(1e-6)  # up and down
    assert start.overhead_s == pytest.approx((0.48e-6, 0.52e-6))


def updates(ranks: int, bytes_each: int, hosts: str = "a") -> Point:
    """Each rank applies 10⁸ updates per second; ranks are assigned to the hosts round-robin."""
    return point(
        workload="node/randomaccess", knobs={"bytes": str(bytes_each)},
        notes={"table_bytes": str(bytes_each)}, ranks=ranks, counts={"updates": 1000},
        lanes=tuple(lane([10_000] * 40, rank=r) for r in range(ranks)),
        given=tuple(RankResources(hosts[r % len(hosts)], (0,), ((0,),), ()) for r in range(ranks)),
    )  # fmt: skip


def test_random_updates_of_a_whole_node_bound_it_from_above() -> None:
    """Two cores of 10⁸ updates a second each; their last-level cache has 32 MiB."""
    found = calibrate_from_run(TREE, stored(updates(2, 64 * MIB)))
    (parameter,) = found.fits[0].parameters
    assert (parameter.link_class, parameter.resource, parameter.low) == ("local", "packets", 0)
    assert parameter.value == pytest.approx(2e8, rel=1e-3)
    assert parameter.high == pytest.approx(2e8, rel=1e-3)
    assert "[endpoint.local]" not in store_calibration_text(found)  # an upper bound is no capacity
    (of_two,) = calibrate_from_run(TREE, stored(updates(4, 64 * MIB, "ab"))).fits[0].parameters
    assert of_two.value == pytest.approx(2e8, rel=1e-3)  # per node
    for less in (updates(1, 256 * MIB), updates(2, MIB), updates(2, 256 * MIB, "ab")):
        with pytest.raises(Refusal, match="needs all 2 cores and a table of at least 64 MiB"):
            calibrate_from_run(TREE, stored(less))


@pytest.mark.parametrize(
    ("points", "machine", "why"),
    [
        ((), TREE, "it contains nothing"),
        ((message(8, 1000),), TREE, "it has no messages of at least 64 KiB"),
        (
            (message(MIB, 100_000, results=(Result("bytes that differ", 1.0, "1", 0.0),)),),
            TREE,
            "its verification failed",
        ),
        ((message(MIB, 100_000, share_cores=True),), TREE, "more threads than hardware threads"),
        ((message(MIB, 100_000),), load("power775"), "to_itself = 'endpoint'"),
        ((message(8, 99_000), message(MIB, 100_000)), TREE, "not slower than its shortest"),
    ],
)
def test_a_run_that_says_nothing_is_refused_with_the_reason(
    points: tuple[Point, ...], machine: NetworkFile, why: str
) -> None:
    with pytest.raises(Refusal, match=why):
        calibrate_from_run(machine, stored(*points))


def test_points_that_contradict_one_another_widen_the_range() -> None:
    """0.09 and 0.2 per octant on 2 supernodes, each to 2 %: no capacity gives both."""
    machine = load("power775")
    fit = calibrate(machine, "randomaccess", [MeasuredRate(2, 0.09e9, 0.02), MeasuredRate(2, 0.2e9, 0.02)], ["D"])
    assert fit.widened > 10
    assert fit.parameters[0].low == pytest.approx(2 * 0.98 * 0.09e9, rel=1e-3)
    assert fit.parameters[0].high == pytest.approx(2 * 1.02 * 0.2e9, rel=1e-3)


def test_a_parameter_with_only_a_bound_has_the_value_of_the_bound() -> None:
    machine = load("power775").at_size(2)
    (least,) = calibrate(machine, "randomaccess", [MeasuredRate(2, 0.1e9, 0.05, "at_least")], ["D"]).parameters
    assert (least.value, least.low) == pytest.approx((0.2e9, 0.19e9), rel=1e-3)
    (most,) = calibrate(machine, "randomaccess", [MeasuredRate(2, 0.1e9, 0.05, "at_most")], ["D"]).parameters
    assert (most.value, most.low, most.high) == pytest.approx((0.2e9, 0, 0.21e9), rel=1e-3)


def test_the_command_reads_the_store_and_its_lines_become_a_file(tmp_path: Path) -> None:
    kept = write_run(stored(message(0, 1000), message(10**6, 101_000)), tmp_path)
    words = ("calibrate", "bgp", "--run", "last", "--store", str(tmp_path))
    fit = answer(*words)
    assert fit["fits"][0]["parameters"][0]["value"] == pytest.approx(1e10, rel=1e-3)
    assert fit["fits"][0]["parameters"][0]["high"] is None
    text = run(*words)
    assert kept.id in text
    lines = text.split("Lines for the network file:\n")[1]
    mine = parse(f'extends = "bgp"\nname = "mine"\n{lines}', "mine.toml")
    bytes_per_s = mine.endpoint.local.bytes_per_s
    assert bytes_per_s is not None
    assert bytes_per_s.value == pytest.approx(1e10, rel=1e-3)
    with pytest.raises(Refusal, match="unknown link class"):
        run(*words, "--free", "lonk")
    with pytest.raises(Refusal, match="give --free"):
        run("calibrate", "bgp")
    assert json.loads(json.dumps(fit)) == fit


def test_what_no_file_limits_can_be_calibrated() -> None:
    """`local` of the test networks has no capacity at all."""
    assert TREE.endpoint.local.bytes_per_s is None
    found = calibrate_from_run(TREE, stored(message(10**6, 100_000)))
    assert isinstance(found, StoreCalibration)
    assert found.fits[0].parameters[0].value == pytest.approx(1e10, rel=1e-3)


def ring_workload(traffic: Traffic | NoTraffic) -> Workload:
    """Provide a workload of this test alone; a step is one message to either neighbour."""
    metrics = (Metric("time", "s", "lower", seconds()), Metric("bandwidth", "B/s", "higher", rate("bytes_sent")))
    return Workload("Ring", metrics, {}, "mpi/ring", traffic=lambda _machine, _point: traffic, messages=True)


def ring(length: int, us: int, hosts: str) -> Point:
    """Return figures with steps of `us` microseconds and one rank on each host."""
    lanes = (lane([us * 1000 * part // 100 for part in (98, 100, 102)]),)
    given = tuple(RankResources(host, (0,), ((0,),), ()) for host in hosts)
    counts = {"bytes_sent": length * len(hosts)}
    return point("steps", workload="mpi/ring", knobs={}, ranks=len(hosts), given=given, lanes=lanes, counts=counts)


@pytest.mark.parametrize(
    ("traffic", "hosts", "why"),
    [
        (NoTraffic("its ring is too short"), "abcd", "mpi/ring: its ring is too short"),
        (Traffic("ordered-ring", 1e6), "ab", "its ordered-ring traffic used 2 nodes, but test has 4"),
        (Traffic("ordered-ring", 1e3), "abcd", "it has no messages of at least 64 KiB"),
    ],
)
def test_any_workload_that_declares_its_traffic_calibrates_a_network(
    traffic: Traffic | NoTraffic, hosts: str, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = dict(workloads.workloads())

    def declare(one: Traffic | NoTraffic) -> None:
        monkeypatch.setattr(workloads, "workloads", lambda: {**known, "mpi/ring": ring_workload(one)})

    declare(Traffic("ordered-ring", 1e6, relation="eq", description="rings of 1 MB"))
    found = calibrate_from_run(TREE, stored(ring(10**6, 1000, "abcd")))
    parameters = {p.link_class: p for p in found.fits[0].parameters}
    assert set(parameters) == {"endpoint", "port"}
    assert parameters["port"].low == pytest.approx(2 * 1e9 / 1.02, rel=1e-3)  # both neighbours' messages in 1 ms
    assert (found.evidence[0].says, found.evidence[0].between) == ("rings of 1 MB", "the nodes of test")
    declare(traffic)
    with pytest.raises(Refusal, match=why):
        calibrate_from_run(TREE, stored(ring(10**6, 1000, hosts)))


def both_ways(ratio: float, hosts: tuple[str, str] = ("a", "a")) -> Point:
    """Return points of messages of 1 MB: one direction in 100 µs, both at once in `ratio` times as much."""
    times = {"step": 1 + ratio, "phase/one_way": 1.0, "phase/both_ways": ratio}
    lanes = tuple(lane([round(100_000 * ns)] * 8, rank=r, name=name) for name, ns in times.items() for r in (0, 1))
    counts = {"messages": 3, "bytes_sent": 3 * 10**6, "turns": 2, "bytes_passed": 10**6}
    knobs = {"pattern": "duplex", "window": "1", "bytes": str(10**6), "buffers": "rotating"}
    given = tuple(RankResources(host, (0,), ((0,),), ()) for host in hosts)
    return point(
        "steps", workload="mpi/p2p", launch="duplex-0", knobs=knobs, counts=counts, lanes=lanes, ranks=2, given=given
    )


def test_memory_carries_both_directions_where_these_go_at_once() -> None:
    messages = (message(0, 1000), message(10**6, 101_000))
    for ratio in (1.0, 1.25, 2.0):
        found = calibrate_from_run(TREE, stored(*messages, both_ways(ratio)))
        ((parameter,),) = (fit.parameters for fit in found.fits)
        assert parameter.value == pytest.approx(2 / ratio * 1e10, rel=1e-3)
        assert f"{ratio:.2f} times" in found.evidence[0].says
    between = (message(0, 1000, hosts=("a", "b")), message(10**6, 101_000, hosts=("a", "b")))
    found = calibrate_from_run(TREE, stored(*between, both_ways(1.9, ("a", "b"))))
    assert any("1.90 times" in why for why in found.left_out)  # a link's directions are capacities of their own
    found = calibrate_from_run(TREE, stored(*between, both_ways(1.0, ("a", "b"))))
    assert not any("duplex" in why for why in found.left_out)


def test_the_lines_for_the_file_give_the_model_the_measured_times_of_messages() -> None:
    """Eager to 8 KiB, then 10 µs more and half the rate: what is printed is read back, and a barrier takes it."""
    times = {length: 1000 + length // 10 + (10_000 + length // 10) * (length > 8192) for length in MANY}
    text = store_calibration_text(calibrate_from_run(TREE, stored(*(message(n, ns) for n, ns in times.items()))))
    lines = text[text.index("[messages]") :].partition("\n\n")[0]
    machine = parse(f'extends = "bgp"\nname = "here"\n{lines}\n', "here.toml")
    inside = machine.messages.times.inside
    assert inside is not None
    assert machine.messages.times.between is None
    for length, ns in times.items():
        assert inside.seconds(np.array([float(length)]))[0] == pytest.approx(ns * 1e-9, rel=0.05)
    (barrier,), _ = programs(machine, "barrier", np.zeros(2, np.int32), MessageCosts(), "dissemination")
    assert barrier.seconds(0) == pytest.approx(1e-6, rel=0.05)
