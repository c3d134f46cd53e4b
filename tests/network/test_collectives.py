"""Collectives under LogGP: what algorithms deliver, closed forms, recorded simulations, the choice by time."""

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from networks import network
from octant import _network
from octant.failure import Refusal
from octant.message_times import LengthSegment, MeasuredTimes, MessageTimes
from octant.network import NetworkFile, load, make, solve
from octant.network.collectives import (
    FREE,
    MessageCosts,
    Program,
    exchange,
    fastest,
    operations,
    programs,
    time_collective,
)
from octant.network.files import parse
from octant.network.traffic import Flows, place
from paths import ROOT

ALL = _network.collectives()
RANKS = (1, 2, 3, 4, 5, 6, 7, 8, 12, 13, 16)
LATENCY, OVERHEAD, GAP, RATE = 3e-6, 5e-6, 1e-9, 1e9


def switch(ranks: int) -> NetworkFile:
    """Every rank has a port of its own on one switch: nothing is in anything's way."""
    tree = network("fat-tree", down=[ranks], rates={"port": RATE, "endpoint": 1e12})
    port = replace(tree.links["port"], latency=LATENCY / 2)  # up and down
    return replace(tree, links={**tree.links, "port": port})


def program(machine: NetworkFile, operation: str, algorithm: str, ranks: int, costs: MessageCosts = FREE) -> Program:
    (found,), _ = programs(machine, operation, place(machine, "block", ranks), costs, algorithm)
    return found


def messages(operation: str, algorithm: str, ranks: int) -> Iterator[list[tuple[int, int, float, int]]]:
    """Step by step, each message as sender, receiver, pieces, and into how many the buffer is cut."""
    for cut, times, segmented, (sources, targets, pieces) in _network.collective(operation, algorithm, ranks):
        rows = zip(sources.tolist(), targets.tolist(), pieces.tolist(), [cut] * len(sources), strict=True)
        step = list(rows)
        yield from [step] * int(times + segmented)


# What all ranks together send at least, in buffers: each rank must receive what it does not have.
LEAST: dict[str, Callable[[int], int]] = {
    "allreduce": lambda p: 2 * (p - 1),
    "bcast": lambda p: p - 1,
    "reduce": lambda p: p - 1,
    "allgather": lambda p: p * (p - 1),
    "alltoall": lambda p: p * (p - 1),
    "reduce-scatter": lambda p: p * (p - 1),
    "gather": lambda p: p - 1,
    "scatter": lambda p: p - 1,
    "scan": lambda p: p - 1,
    "barrier": lambda _: 0,
}


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize(("operation", "algorithm"), ALL)
def test_everybody_gets_what_the_operation_promises(operation: str, algorithm: str, ranks: int) -> None:
    """Contributions spread along messages: to a root's, from a root's, or from all to all."""
    if algorithm == "pairwise" and operation == "alltoall" and ranks & (ranks - 1):
        pytest.skip("needs a power of two")
    if algorithm == "chain":
        pytest.skip("segments: see the pipeline's own test")
    known = [{rank} for rank in range(ranks)]
    sent = 0.0
    for step in messages(operation, algorithm, ranks):
        before = [set(one) for one in known]
        for source, target, pieces, cut in step:
            assert source != target
            known[target] |= before[source]
            sent += pieces / cut
    everybody = set(range(ranks))
    if operation in ("bcast", "scatter"):
        assert all(0 in one for one in known)
    elif operation in ("reduce", "gather"):
        assert known[0] == everybody
    elif operation == "scan":
        assert all(set(range(rank + 1)) <= one for rank, one in enumerate(known))
    else:
        assert all(one == everybody for one in known)
    assert sent >= LEAST[operation](ranks) - 1e-9


@pytest.mark.parametrize(
    ("operation", "algorithm", "ranks", "buffers"),
    [
        ("alltoall", "ring", 6, 5), ("alltoall", "pairwise", 8, 7), ("alltoall", "linear", 5, 4),
        ("alltoall", "bruck", 8, 12), ("alltoall", "prime-stride", 9, 8),
        ("allgather", "ring", 5, 4), ("allgather", "recursive-doubling", 8, 7), ("allgather", "bruck", 6, 5),
        ("allreduce", "ring", 5, 8 / 5), ("allreduce", "recursive-doubling", 8, 3),
        ("allreduce", "rabenseifner", 8, 2 * 7 / 8), ("allreduce", "binomial", 7, 2 * 6 / 7),
        ("allreduce", "recursive-doubling", 12, (4 + 3 * 8 + 4) / 12),
        ("bcast", "binomial", 7, 6 / 7), ("bcast", "scatter-allgather", 4, (2 / 4 + 2 / 4 + 3) / 4),
        ("reduce", "binomial", 7, 6 / 7), ("reduce-scatter", "recursive-halving", 8, 7),
        ("reduce-scatter", "ring", 5, 4), ("barrier", "dissemination", 8, 0),
        ("gather", "linear", 7, 6 / 7), ("gather", "binomial", 8, 12 / 8), ("scatter", "binomial", 6, (2 + 2 + 3) / 6),
        ("scan", "recursive-doubling", 8, 3), ("scan", "recursive-doubling", 6, (6 + 4 + 4) / 6),
    ],
)  # fmt: skip
def test_a_rank_sends_on_average_what_its_algorithm_must(
    operation: str, algorithm: str, ranks: int, buffers: float
) -> None:
    steps = messages(operation, algorithm, ranks)
    assert sum(pieces / cut for step in steps for _, _, pieces, cut in step) / ranks == pytest.approx(buffers)


P, M = 16, 2**20
LG, A = int(math.log2(P)), LATENCY + 2 * OVERHEAD
FIXED, EACH = A - GAP, GAP + 1 / RATE  # of a message, and of each of its bytes


@pytest.mark.parametrize(
    ("operation", "algorithm", "expected_s"),
    [
        ("allreduce", "recursive-doubling", LG * (FIXED + M * EACH)),
        ("allreduce", "ring", 2 * (P - 1) * (FIXED + M / P * EACH)),
        ("allreduce", "rabenseifner", 2 * LG * FIXED + 2 * (P - 1) / P * M * EACH),
        ("allreduce", "binomial", 2 * LG * (FIXED + M * EACH)),
        ("bcast", "binomial", LG * (FIXED + M * EACH)),
        ("bcast", "scatter-allgather", (LG + P - 1) * FIXED + 2 * (P - 1) / P * M * EACH),
        ("reduce", "binomial", LG * (FIXED + M * EACH)),
        ("reduce", "rabenseifner", 2 * LG * FIXED + 2 * (P - 1) / P * M * EACH),
        ("allgather", "ring", (P - 1) * (FIXED + M * EACH)),
        ("allgather", "recursive-doubling", LG * FIXED + (P - 1) * M * EACH),
        ("allgather", "bruck", LG * FIXED + (P - 1) * M * EACH),
        ("alltoall", "ring", (P - 1) * (FIXED + M * EACH)),
        ("alltoall", "pairwise", (P - 1) * (FIXED + M * EACH)),
        ("alltoall", "bruck", LG * (FIXED + P / 2 * M * EACH)),
        ("alltoall", "linear", LATENCY + 2 * (P - 1) * OVERHEAD + (M - 1) * GAP + (P - 1) * M / RATE),
        ("reduce-scatter", "ring", (P - 1) * (FIXED + M * EACH)),
        ("reduce-scatter", "recursive-halving", LG * FIXED + (P - 1) * M * EACH),
        ("gather", "linear", LATENCY + (P - 1) * OVERHEAD + (M - 1) * GAP + (P - 1) * M / RATE),
        ("gather", "binomial", LG * FIXED + (P - 1) * M * EACH),
        ("scatter", "linear", LATENCY + (P - 1) * OVERHEAD + (M - 1) * GAP + (P - 1) * M / RATE),
        ("scatter", "binomial", LG * FIXED + (P - 1) * M * EACH),
        ("scan", "recursive-doubling", LG * (FIXED + M * EACH)),
        ("barrier", "dissemination", LG * A),
    ],
)
def test_on_a_network_without_contention_algorithms_take_their_closed_forms(
    operation: str, algorithm: str, expected_s: float
) -> None:
    found = program(switch(P), operation, algorithm, P, MessageCosts(OVERHEAD, gap_s_per_byte=GAP))
    assert found.seconds(M) == pytest.approx(expected_s, rel=1e-9)
    assert found.at(M).time_s == pytest.approx(expected_s, rel=1e-9)


def test_a_pipeline_has_the_number_of_segments_that_takes_least() -> None:
    found = program(switch(P), "bcast", "chain", P, MessageCosts(OVERHEAD, gap_s_per_byte=GAP))
    times = [(P - 2 + s) * (FIXED + math.ceil(M / s) * EACH) for s in range(1, 4096)]
    # the choice leaves the gap's one byte out of the fixed part
    assert min(times) * (1 - 1e-12) <= found.seconds(M) <= min(times) * (1 + 1e-4)
    assert found.at(M).sent_bytes == pytest.approx(M, rel=0.01)
    assert found.seconds(1) == pytest.approx((P - 1) * A + (P - 1) / RATE)
    assert program(switch(2), "bcast", "chain", 2).at(M).steps == 1


@pytest.mark.parametrize("ranks", [3, 8, 33])
def test_segments_are_of_whole_bytes_and_the_better_of_both_numbers_around_the_best(ranks: int) -> None:
    """A byte takes about as long as a message starts, so that rounding decides."""
    byte_s = 1e-5
    tree = network("fat-tree", down=[ranks], rates={"port": 1 / byte_s, "endpoint": 1e12})
    port = replace(tree.links["port"], latency=LATENCY / 2)
    slow = replace(tree, links={**tree.links, "port": port})
    found = program(slow, "bcast", "chain", ranks, MessageCosts(OVERHEAD))
    chosen = set()
    for size in range(1, 400):
        root = math.sqrt((ranks - 2) * byte_s * size / A)
        around = {min(size, max(1, number)) for number in (math.floor(root), math.ceil(root))}
        times = {number: (ranks - 2 + number) * (A + math.ceil(size / number) * byte_s) for number in around}
        assert found.seconds(size) == pytest.approx(min(times.values()), rel=1e-9), size
        if len(times) == 2:
            chosen.add(min(times, key=lambda number: times[number]) == max(times))
    assert chosen == {True, False}, "each of both is the better one somewhere"


@pytest.mark.parametrize("ranks", [2, 3, 5, 8])
def test_blocks_arrive_once_and_a_prefix_of_a_scan_is_whole(ranks: int) -> None:
    """Of a gather the root gets every block once; of a scan each rank has added up those before it, each once."""
    for algorithm in ("binomial", "linear"):
        held = [{rank} for rank in range(ranks)]
        for step in messages("gather", algorithm, ranks):
            for source, target, pieces, _ in step:
                assert pieces == len(held[source])
                assert not held[source] & held[target]
                held[target] |= held[source]
        assert held[0] == set(range(ranks))
    sums = [{rank} for rank in range(ranks)]  # of a block: what the rank hands on
    prefixes = [{rank} for rank in range(ranks)]
    for step in messages("scan", "recursive-doubling", ranks):
        before = [set(one) for one in sums]
        for source, target, _, _ in step:
            assert not before[source] & sums[target]
            sums[target] |= before[source]
            if source < target:
                assert not before[source] & prefixes[target]
                prefixes[target] |= before[source]
    assert prefixes == [set(range(rank + 1)) for rank in range(ranks)]


@pytest.mark.parametrize("ranks", [3, 5, 12])
def test_ranks_left_over_cost_a_step_before_and_after(ranks: int) -> None:
    core = 2 ** int(math.log2(ranks))
    found = program(switch(ranks), "allreduce", "recursive-doubling", ranks, MessageCosts(OVERHEAD))
    assert found.at(8).steps == math.log2(core) + 2
    assert found.seconds(8) == pytest.approx((math.log2(core) + 2) * (A + 8 / RATE))


@pytest.mark.parametrize(("operation", "algorithm"), ALL)
def test_one_rank_takes_no_time_and_two_ranks_one_message_at_least(operation: str, algorithm: str) -> None:
    costs = MessageCosts(OVERHEAD)
    alone = program(switch(2), operation, algorithm, 1, costs).at(M)
    assert (alone.steps, alone.time_s, alone.sent_bytes) == (0, 0.0, 0.0)
    for size in (0, 1, 8, M):
        assert program(switch(2), operation, algorithm, 2, costs).seconds(size) >= A * (1 - 1e-12)


def test_a_buffer_smaller_than_the_ranks_is_not_cut_below_a_byte() -> None:
    found = program(switch(P), "allreduce", "ring", P, MessageCosts(OVERHEAD))
    assert found.at(1).sent_bytes == found.at(P).sent_bytes == 2 * (P - 1)
    assert found.at(0).sent_bytes == 0


# Alltoall of 8 KiB per pair on tori of 425 MB/s links, milliseconds: the fullest link of each step, without latencies,
# then what SMPI (SimGrid 3.32) gives for the same routes without its factors, acknowledgements and computing; it adds
# 16 bytes to a message, 0.2 % of 8 KiB.
STATIC = [
    ((4, 4, 4), "linear", 0.925, 0.9282), ((4, 4, 4), "ring", 2.159, 2.164264), ((8, 8, 4), "ring", 14.50, 14.559245),
    ((4, 4, 4), "pairwise", 1.928, 1.932509), ((4, 4, 4), "bruck", 5.551, 5.552838),
]  # fmt: skip


@pytest.mark.parametrize(("sizes", "algorithm", "static_ms", "smpi_ms"), STATIC)
def test_alltoall_on_a_torus_takes_what_its_fullest_links_take(
    sizes: tuple[int, ...], algorithm: str, static_ms: float, smpi_ms: float
) -> None:
    torus = network("torus", sizes=sizes, split_ties=False, rates={"link": 425e6, "endpoint": 1e12})
    found = program(torus, "alltoall", algorithm, int(np.prod(sizes))).seconds(8192) * 1e3
    assert found == pytest.approx(static_ms, rel=5e-4)
    assert found < smpi_ms < found * 1.005


def test_alltoall_on_a_fat_tree_is_that_of_smpi_with_its_latencies() -> None:
    """256 ranks, 2 GB/s, 1 us per link: every step passes two to four links; SMPI's ranks wait for each other less."""
    text = (ROOT / "examples" / "networks" / "fat-tree-64.toml").read_text(encoding="utf-8")
    tree = parse(text.replace("[8, 8]", "[16, 16]").replace("[8]", "[16]"), "fat-tree-256")
    times = {one: program(tree, "alltoall", one, 256).seconds(8192) for one in ("ring", "pairwise")}
    assert times["ring"] == pytest.approx(255 * (8192 / 2e9 + 4e-6), rel=1e-9)
    assert times["pairwise"] == pytest.approx(255 * 8192 / 2e9 + (15 * 2 + 240 * 4) * 1e-6, rel=1e-9)
    assert times["ring"] * 1e3 < 2.082711 < times["ring"] * 1.011e3
    assert times["pairwise"] * 1e3 < 2.042465 < times["pairwise"] * 1.007e3


def test_alltoall_at_once_is_the_static_load_of_uniform_traffic() -> None:
    """The enumeration counts a node's own share, which moves nothing here."""
    torus = network("torus", sizes=(4, 4, 4), rates={"endpoint": 1e12}, to_itself="free")
    assert program(torus, "alltoall", "linear", 64).seconds(1000) == pytest.approx(
        64 * 1000 * solve(torus, make(torus, "uniform")).time_s
    )


@pytest.mark.parametrize("machine", ["torus", "fat-tree"])
@given(size=st.integers(0, 2**24), ranks=st.integers(2, 16))
def test_the_fastest_is_the_fastest_and_more_bytes_never_take_less(machine: str, size: int, ranks: int) -> None:
    shape: dict[str, Any] = {"torus": {"sizes": [4, 4]}, "fat-tree": {"down": [4, 4], "up": [2]}}[machine]
    known, _ = programs(network(machine, **shape), "allreduce", np.arange(ranks, dtype=np.int32), MessageCosts(1e-6))
    best = fastest(known, size)
    assert best.seconds(size) == min(one.seconds(size) for one in known)
    for one in known:
        assert one.seconds(size) <= one.seconds(size + 1 + size // 3)


def test_a_message_without_a_known_latency_is_refused_not_free() -> None:
    """Ranks of one router of a dragonfly share no link whose latency the file states: 8 bytes took 960 ps."""
    fly = load("dragonfly-example")
    near, far = place(fly, "block", 4), place(fly, "round-robin", 64)
    with pytest.raises(Refusal, match=r"no latency for a message from node 0 to 1\).*--overhead 1us.*--latency"):
        programs(fly, "allreduce", near, MessageCosts())
    with pytest.raises(Refusal, match="contains no latency"):  # some of its messages stay within a router
        programs(fly, "barrier", far, MessageCosts())
    with pytest.raises(Refusal, match=r"a message within node 0\)"):
        programs(load("bgp"), "allreduce", place(load("bgp"), "block", 4, 4), MessageCosts())
    for costs in (MessageCosts(1e-6), MessageCosts(latency_s=2e-6)):
        assert fastest(programs(fly, "allreduce", near, costs)[0], 8).seconds(8) >= 2 * 2e-6
    assert fastest(programs(fly, "allreduce", near, FREE)[0], 8).seconds(8) < 1e-9  # asked for, and said


def test_an_assumed_latency_does_not_replace_a_stated_one() -> None:
    machine = switch(4)
    assumed = program(machine, "barrier", "dissemination", 4, MessageCosts(latency_s=1.0))
    assert assumed.seconds(0) == pytest.approx(2 * LATENCY)


def test_messages_of_a_step_share_links_and_the_busiest_rank_pays_for_each() -> None:
    star = switch(5)
    sources, targets = np.array([1, 2, 3, 4], np.int32), np.zeros(4, np.int32)
    timing = exchange(
        star, Flows(sources, targets, np.full(4, 1000.0)), np.arange(5, dtype=np.int32), MessageCosts(1e-6)
    )
    assert timing.time_s == pytest.approx(LATENCY + 4 * 1e-6 + 4 * 1000 / RATE)
    limit, share = timing.limited_by
    assert limit == "overhead"
    assert share == pytest.approx(4e-6 / timing.time_s)
    assert list(timing.wire_s) == ["port"]


def straight(*stretches: tuple[float, float, float]) -> MessageTimes:
    return MessageTimes(tuple(LengthSegment(*one) for one in stretches))


EAGER = straight((0, 2e-6, 1e-9), (8192, 20e-6, 2 / RATE))  # a step of 9.8 µs at 8 KiB


def test_measured_times_of_messages_stand_for_latency_overhead_and_gap() -> None:
    """A step takes what its longest message takes by itself, whichever protocol it goes by."""
    costs = MessageCosts(measured=MeasuredTimes(between=EAGER))
    for size in (0, 1, 8191):
        assert program(switch(8), "bcast", "binomial", 8, costs).seconds(size) == pytest.approx(
            3 * (2e-6 + size / RATE)
        )
    found = program(switch(8), "bcast", "binomial", 8, costs).at(10_000)
    assert found.time_s == pytest.approx(3 * (20e-6 + (10_000 - 8192) * 2 / RATE))
    assert found.time_s == pytest.approx(found.latency_s + found.overhead_s + found.gap_s + sum(found.wire_s.values()))
    assert program(switch(8), "allreduce", "ring", 8, costs).seconds(8 * 4096) == pytest.approx(
        14 * (2e-6 + 4096 / RATE)
    )


def test_where_links_are_shared_the_fullest_one_takes_longer_than_a_message_by_itself() -> None:
    costs = MessageCosts(measured=MeasuredTimes(between=EAGER))
    (alltoall,), _ = programs(switch(8), "alltoall", np.arange(8, dtype=np.int32), costs, "linear")
    assert alltoall.seconds(1000) == pytest.approx(2e-6 + 12 * 1e-6 + 7 * 1000 / RATE)


def test_ranks_of_a_node_and_nodes_have_times_of_their_own() -> None:
    near = straight((0, 1e-6, 0.0))
    nodes = np.array([0, 0, 1, 1], np.int32)
    both = MessageCosts(measured=MeasuredTimes(near, EAGER))
    (barrier,), _ = programs(switch(2), "barrier", nodes, both)
    assert barrier.seconds(0) == pytest.approx(2 * 2e-6)  # each step has a message between nodes
    (inside,), _ = programs(switch(2), "barrier", nodes[:2], both)
    assert inside.seconds(0) == pytest.approx(1e-6)
    with pytest.raises(Refusal, match="contains no latency for a message within node 0"):
        programs(load("bgp"), "barrier", np.array([0, 0], np.int32), MessageCosts(measured=MeasuredTimes(None, EAGER)))


@given(st.lists(st.tuples(st.floats(1, 1e6), st.floats(0, 1e-6), st.floats(0, 1e-8)), min_size=1, max_size=5))
def test_the_time_of_a_message_never_falls_with_its_length(steps: list[tuple[float, float, float]]) -> None:
    stretches, first, time = [], 0.0, 1e-6
    for length, step, slope in steps:
        stretches.append((first, time + step, slope))
        first, time = first + length, time + step + length * slope
    lengths = np.linspace(0, first * 1.5, 500)
    seconds = straight(*stretches).seconds(lengths)
    assert np.all(np.diff(seconds) >= -1e-15)
    assert seconds[0] == pytest.approx(straight(*stretches).startup_s)


MEASURED = """
extends = "bgp"
name = "measured"
[messages]
between = [{ first = 0, time = "3 us", bytes_per_s = "300 MB/s" }, { first = 8192, time = "40 us" }]
source = "a test"
"""


def test_a_file_s_times_of_messages_hold_unless_others_are_given() -> None:
    machine = parse(MEASURED, "measured.toml")
    assert program(machine, "barrier", "dissemination", 8, MessageCosts()).seconds(0) == pytest.approx(3 * 3e-6)
    given_s = program(machine, "barrier", "dissemination", 8, MessageCosts(1e-6)).seconds(0)
    assert given_s == program(load("bgp"), "barrier", "dissemination", 8, MessageCosts(1e-6)).seconds(0)
    with pytest.raises(Refusal, match="are not ascending"):
        parse(MEASURED.replace("8192", "0"), "measured.toml")


def test_ranks_of_a_node_share_its_port() -> None:
    times = []
    for per_node in (1, 2):
        nodes = np.arange(8, dtype=np.int32) // per_node
        (alltoall,), _ = programs(switch(8), "alltoall", nodes, FREE, "linear")
        times.append(alltoall.at(10**6).wire_s["port"])
    assert times == pytest.approx([7e6 / RATE, 2 * 6e6 / RATE])


TREE = """
extends = "bgp"
name = "with-tree"
[offload.tree]
operations = ["allreduce", "barrier", "bcast"]
radix = 2
hop = "1 us"
bytes_per_s = "850 MB/s"
source = "a test"
"""


def test_a_tree_in_hardware_costs_its_depth() -> None:
    machine = parse(TREE, "tree.toml")
    for ranks, depth in ((1, 0), (2, 1), (64, 6), (33, 6)):
        up_and_down = program(machine, "allreduce", "tree", ranks, MessageCosts(0.5e-6))
        sent = (2 * 0.5e-6 + 850 / 850e6) * (ranks > 1)
        assert up_and_down.seconds(850) == pytest.approx(2 * depth * 1e-6 + sent)
    down = program(machine, "bcast", "tree", 64)
    assert down.seconds(0) == pytest.approx(6e-6)
    assert program(machine, "barrier", "tree", 64).seconds(10**6) == pytest.approx(12e-6)  # carries nothing
    assert operations(machine)["reduce"] == operations(load("bgp"))["reduce"]
    found = time_collective(machine, "allreduce", place(machine, "block", 64), [0], MessageCosts(2e-6))
    assert found.fastest[0].algorithm == "tree"


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("radix = 2", "radix = 1", "offload.tree.radix"),
        ('hop = "1 us"', 'hop = "0 s"', "offload.tree.hop"),
        ('"bcast"', '"alltoall"', "offload.tree.operations"),
        ("offload.tree", "offload.ring", "is the name of a software algorithm"),
    ],
)
def test_a_tree_that_is_none_is_refused(old: str, new: str, why: str) -> None:
    with pytest.raises(Refusal, match=why):
        parse(TREE.replace(old, new), "tree.toml")


def test_the_algorithm_changes_where_another_becomes_faster_to_the_byte() -> None:
    nodes = np.arange(16, dtype=np.int32)
    costs = MessageCosts(1e-6)
    found = time_collective(switch(16), "allreduce", nodes, [2**k for k in range(3, 31)], costs)
    assert [one.algorithm for one in found.fastest] == ["recursive-doubling", "rabenseifner"]
    known, _ = programs(switch(16), "allreduce", nodes, costs)
    edge = found.fastest[1].bytes_each
    assert fastest(known, edge).algorithm == "rabenseifner"
    assert fastest(known, edge - 1).algorithm == "recursive-doubling"
    assert [sized[0].bytes_each for sized in found.timings] == [2**k for k in range(3, 31)]


def test_an_algorithm_that_cannot_serve_is_left_out_with_its_reason() -> None:
    nodes = np.arange(6, dtype=np.int32)
    found = time_collective(switch(6), "alltoall", nodes, [8], MessageCosts(1e-6))
    assert found.left_out == ("cannot run alltoall by pairwise on 6 ranks (not a power of two); try ring",)
    with pytest.raises(Refusal, match="not a power of two"):
        programs(switch(6), "alltoall", nodes, MessageCosts(1e-6), "pairwise")
    with pytest.raises(Refusal, match="500000000 messages"):
        programs(switch(6), "alltoall", np.zeros(30_000, np.int32), FREE, "linear")


@pytest.mark.parametrize(
    ("operation", "algorithm", "sizes", "why"),
    [
        ("allredcue", "all", [8], "unknown collective.*did you mean allreduce"),
        ("broadcast", "all", [8], "did you mean bcast"),
        ("allreduce", "rign", [8], "unknown algorithm.*did you mean ring"),
        ("bcast", "rabenseifner", [8], "try one of all, binomial"),
        ("allreduce", "ring", [2**50 + 1], "0 to 1PiB"),
        ("allreduce", "ring", [-1, 8], "0 to 1PiB"),
        ("allreduce", "ring", [], "0 to 1PiB"),
    ],
)
def test_words_and_sizes_that_mean_nothing_are_refused(
    operation: str, algorithm: str, sizes: list[int], why: str
) -> None:
    with pytest.raises(Refusal, match=why):
        time_collective(switch(4), operation, np.arange(4, dtype=np.int32), sizes, FREE, algorithm)


def test_ranks_have_a_bound() -> None:
    with pytest.raises(Refusal, match="try 1 to 1048576"):
        programs(switch(4), "barrier", np.zeros(2**20 + 1, np.int32), FREE)


def test_all_algorithms_are_refused_before_the_first_where_one_takes_too_long() -> None:
    """Routes of a mesh of a million nodes have hundreds of links; the refusal names what can be asked."""
    torus = network("torus", sizes=[1024, 1024], wraps=[False, False])
    nodes = np.linspace(0, 2**20 - 1, 16384).astype(np.int32)
    with pytest.raises(
        Refusal, match=r"it would take about \d+ .* of processor time.*try --algorithm bruck, or fewer ranks"
    ):
        programs(torus, "alltoall", nodes, FREE)
    assert programs(torus, "alltoall", nodes, FREE, "bruck")[0][0].at(8).steps == 14


def test_a_ring_of_many_ranks_is_priced_once() -> None:
    """32,766 steps that are all alike: one is priced."""
    nodes = np.arange(16384, dtype=np.int32) % 64
    (ring,), _ = programs(load("bgp"), "allreduce", nodes, MessageCosts(1e-6), "ring")
    assert ring.at(2**30).steps == 2 * 16383
    assert len(_network.collective("allreduce", "ring", 16384)) == 1
