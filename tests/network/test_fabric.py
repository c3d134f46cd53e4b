"""InfiniBand fabrics from dumps of ibnetdiscover: what is a node, what carries traffic, and what is refused."""

import dataclasses
import math
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from fabrics import HDR, FatTree, MadeFabric, network_of
from networks import network, uniform
from octant.failure import Refusal
from octant.network import NetworkFile, load, make, solve
from octant.network import fabric as fabrics
from octant.network.export import write
from octant.network.failures import failure_sweep
from octant.network.files import parse
from octant.network.inventory import inventory
from octant.network.platform import platform
from octant.network.traffic import pairs

TREES = [
    FatTree((5,)),
    FatTree((1,)),
    FatTree((2, 2), (1,)),
    FatTree((4, 3), (2,)),
    FatTree((4, 3), (4,)),
    FatTree((3, 2, 2), (2, 2)),
    FatTree((4, 2, 3), (2, 1)),
]


def rate(machine: NetworkFile, traffic: str = "uniform", parameter: int = 1) -> float:
    return solve(machine, make(machine, traffic, parameter)).rate_per_s


@pytest.mark.parametrize("planes", [1, 2])
@pytest.mark.parametrize("tree", TREES)
def test_a_fat_tree_has_the_rate_of_the_formula_and_of_the_shape_of_that_name(tree: FatTree, planes: int) -> None:
    tree = replace_tree(tree, planes=planes, aggregation=True, gateways=1, managers=1, routers=1)
    machine = network_of(tree.make().text())
    assert machine.topology.nodes() == tree.nodes
    known = tree.uniform()
    if math.isinf(known):
        return
    assert rate(machine) == pytest.approx(known)
    same = network("fat-tree", "ecmp", rates={"endpoint": 1e15, "port": HDR, "trunk": HDR}, planes=planes,
                   down=tree.down, up=tree.up)  # fmt: skip
    assert solve(same, uniform(same)).rate_per_s == pytest.approx(known)


def replace_tree(tree: FatTree, **change: int) -> FatTree:
    return FatTree(**{**vars(tree), **change})


def test_the_aggregation_nodes_of_switches_are_no_compute_nodes() -> None:
    plain, real = FatTree((2, 2), (1,)), FatTree((2, 2), (1,), aggregation=True)
    machine = network_of(real.make().text())
    assert (machine.topology.nodes(), machine.topology.switches()) == (4, 3)
    assert rate(machine) == rate(network_of(plain.make().text())) == pytest.approx(25e9)
    found = fabrics.read(real.make().text())
    assert [(one.kind, one.count) for one in found.apart] == [("SHARP aggregation node", 3)]
    assert any("3 × SHARP aggregation node" in note for note in machine.topology.notes())


ABRIDGED = """Switch 41 "S-1" # "MF0;leaf1:MQM8700/U1" enhanced port 0 lid 1 lmc 0
[1] "H-11"[1](11) # "node1 HCA-1" lid 4 4xHDR
[2] "H-12"[1](12) # "node2 HCA-1" lid 5 4xHDR
[40] "S-2"[40] # "MF0;leaf2:MQM8700/U1" lid 2 4xHDR
[41] "H-A1"[1](A1) # "Mellanox Technologies Aggregation Node" lid 8 4xHDR
Switch 41 "S-2" # "MF0;leaf2:MQM8700/U1" enhanced port 0 lid 2 lmc 0
[1] "H-21"[1](21) # "node3 HCA-1" lid 6 4xHDR
[2] "H-22"[1](22) # "node4 HCA-1" lid 7 4xHDR
[40] "S-1"[40] # "MF0;leaf1:MQM8700/U1" lid 1 4xHDR
[41] "H-A2"[1](A2) # "Mellanox Technologies Aggregation Node" lid 9 4xHDR
Ca 1 "H-11" # "node1 HCA-1"
Ca 1 "H-12" # "node2 HCA-1"
Ca 1 "H-21" # "node3 HCA-1"
Ca 1 "H-22" # "node4 HCA-1"
Ca 1 "H-A1" # "Mellanox Technologies Aggregation Node"
Ca 1 "H-A2" # "Mellanox Technologies Aggregation Node"
"""
"""Without the lines of GUIDs and without the ports of the adapters, as in mails and manuals."""


def test_an_abridged_dump_with_aggregation_nodes_has_four_nodes() -> None:
    machine = network_of(ABRIDGED)
    assert (machine.topology.nodes(), machine.topology.switches()) == (4, 2)
    assert rate(machine) == pytest.approx(25e9)  # not 31.25 GB/s, as of five nodes


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    down=st.lists(st.integers(1, 3), min_size=1, max_size=3),
    up=st.lists(st.integers(1, 2), min_size=2, max_size=2),
    planes=st.integers(1, 2),
    extras=st.fixed_dictionaries(
        {"aggregation": st.booleans(), "gateways": st.integers(0, 2), "managers": st.integers(0, 2),
         "routers": st.integers(0, 1)}
    ),
    seed=st.integers(0, 9),
)  # fmt: skip
def test_devices_that_are_no_hosts_change_no_rate(
    down: list[int], up: list[int], planes: int, extras: dict[str, int], seed: int
) -> None:
    tree = FatTree(tuple(down), tuple(up[: len(down) - 1]), planes)
    with_them = FatTree(tree.down, tree.up, planes, **extras)  # type: ignore[arg-type]
    plain, full = network_of(tree.make().text()), network_of(with_them.make().text())
    assert full.topology.nodes() == plain.topology.nodes() == tree.nodes
    for traffic in ("uniform", "shift", "random") if tree.nodes > 1 else ():
        assert rate(full, traffic, seed) == rate(plain, traffic, seed)


KINDS = [
    ("Mellanox Technologies Aggregation Node", "SHARP aggregation node"),
    ("MF0;an1:SHArP/U1", "SHARP aggregation node"),
    ("UFM appliance HCA-1", "subnet manager"),
    ("OpenSM subnet manager mlx5_0", "subnet manager"),
    ("Skyway GA100 HCA-3", "gateway"),
    ("MF0;gw1:BX5020/GW2", "gateway"),
    ("BridgeX gateway", "gateway"),
]


@pytest.mark.parametrize(("description", "kind"), KINDS)
def test_devices_that_run_no_jobs_are_listed_by_kind(description: str, kind: str) -> None:
    found = fabrics.read(star("node1 HCA-1", "node2 HCA-1", description).text())
    assert [(one.kind, one.count) for one in found.apart] == [(kind, 1)]
    assert found.apart[0].reason.endswith(".")
    assert found.nodes == 2


@pytest.mark.parametrize("description", ["gateway HCA-1", "sharp HCA-1", "gw1 mlx5_0", "oss01 HCA-1", "login ib0"])
def test_service_nodes_that_only_the_naming_of_a_site_shows_are_hosts(description: str) -> None:
    found = fabrics.read(star("node1 HCA-1", description).text())
    assert (found.nodes, found.apart) == (2, ())


def star(*descriptions: str, systems: tuple[int | None, ...] = ()) -> MadeFabric:
    """Adapters of these descriptions at one switch."""
    made = MadeFabric()
    switch = made.add("Switch", "MF0;leaf:MQM8700/U1")
    for i, words in enumerate(descriptions):
        made.cable(made.add("Ca", words, systems[i] if i < len(systems) else None), switch)
    return made


def names_of(made: MadeFabric) -> list[str]:
    return [name for name in network_of(made.text()).topology.read().numbers if name.startswith("ca:")]  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("descriptions", "systems", "rails", "remark"),
    [
        (("node1 HCA-1", "node1 HCA-2", "node2 HCA-1"), (), {1: 1, 2: 1}, "adapters of 1 node were combined"),
        (("node1 mlx5_0", "node1 mlx5_1"), (77, 77), {2: 1}, ""),  # the ports of one card
        (("node1", "node2"), (), {1: 2}, ""),
        (("localhost HCA-1", "localhost HCA-1"), (), {1: 2}, "name no host"),
        (("localhost HCA-1", "localhost HCA-1"), (5, 5), {2: 1}, "name no host"),
        (("MT4123 ConnectX6 Mellanox Technologies",) * 3, (), {1: 3}, "name no host"),
        (("MT25408 ConnectX Mellanox Technologies",) * 2, (0, 0), {1: 2}, "name no host"),  # no system GUID stated
        (("node1 HCA-1", "node1 HCA-1"), (), {1: 2}, "do not distinguish 2 adapters"),
        (("node1 HCA-1", "node1 HCA-1"), (5, 5), {2: 1}, ""),
        (("node1 mlx5_0", "MT4123 ConnectX6 Mellanox Technologies"), (5, 5), {2: 1}, ""),
        (("node1 mlx5_0", "node2 mlx5_0"), (5, 5), {1: 2}, ""),  # a card that two hosts share
        (("rack 7 node 1 HCA-1", "rack 7 node 1 HCA-2"), (), {2: 1}, "adapters of 1 node were combined"),
    ],
)
def test_adapters_become_nodes_by_host_and_card(
    descriptions: tuple[str, ...], systems: tuple[int | None, ...], rails: dict[int, int], remark: str
) -> None:
    found = fabrics.read(star(*descriptions, systems=systems).text())
    assert found.rails == rails
    guesses = [note for note in found.remarks if "adapter" in note]
    assert (len(guesses) == 1 and remark in guesses[0]) if remark else not guesses


def test_nodes_of_equal_description_have_names_of_their_own() -> None:
    assert len(set(names_of(star(*["localhost HCA-1"] * 4)))) == 4
    assert names_of(star("node 1 HCA-1", "node#2 HCA-1")) == ["ca:node_1", "ca:node_2"]


def test_a_key_leaves_out_adapters_that_are_no_compute_nodes_of_a_site() -> None:
    made = star("node1 HCA-1", "node2 HCA-1", "oss1 HCA-1")
    machine = network_of(made.text(), hosts="ca:node")
    assert machine.topology.nodes() == 2
    assert any("1 × adapter that `hosts` excludes" in note for note in machine.topology.notes())


def test_routers_to_other_subnets_are_left_out_and_listed() -> None:
    found = fabrics.read(FatTree((2,), routers=2).make().text())
    assert (found.nodes, [(one.kind, one.count) for one in found.apart]) == (2, [("router", 2)])


# ------------------------------------------------------------------ hosts do not forward


def test_traffic_of_a_rail_stays_in_its_plane() -> None:
    machine = network_of(FatTree((2, 2), (1,), planes=2).make().text())
    topology = machine.build()
    sources, _ = topology.ends()
    for path in platform_paths(machine):
        inside = path[1:]
        assert all(sources[link] >= topology.nodes for link in inside)
    planes = {frozenset(component(machine, link)) for path in platform_paths(machine) for link in path[1:]}
    assert len(planes) == 2


def platform_paths(machine: NetworkFile) -> list[list[int]]:
    from octant.network.solve import engine

    topology = machine.build()
    native = engine(machine, topology)
    every = range(topology.nodes)
    return [
        [link for link in native.path(s, t, draw) if link >= topology.fabric]
        for s in every for t in every if s != t for draw in range(4)
    ]  # fmt: skip


def component(machine: NetworkFile, link: int) -> set[int]:
    """Switches joined with the end of a link without passing a node."""
    topology = machine.build()
    ends = [side[topology.fabric :] for side in topology.ends()]
    start = next(int(side[link]) for side in topology.ends() if side[link] >= topology.nodes)
    seen, queue = {start}, [start]
    while queue:
        at = queue.pop()
        fresh = {int(v) for v in ends[1][ends[0] == at] if v >= topology.nodes} - seen
        seen |= fresh
        queue += fresh
    return seen


def test_dumps_of_two_planes_are_one_network() -> None:
    made = MadeFabric()
    cards = [made.add("Ca", f"node{i} HCA-1", size=2) for i in range(3)]
    switches = [made.add("Switch", f"plane {plane}") for plane in range(2)]
    for switch in switches:
        for card in cards:
            made.cable(card, switch)
    dumps = ""
    for plane, switch in enumerate(switches, start=1):  # each discovery sees one port of each card
        seen = [dataclasses.replace(card, ports={plane: card.ports[plane]}) for card in cards]
        dumps += made.text(only=[switch, *seen])
    machine = network_of(dumps)
    assert (machine.topology.nodes(), machine.topology.switches()) == (3, 2)
    assert rate(machine) == pytest.approx(2 * HDR * 3 / 2)
    assert machine.topology.notes() == ()


def test_planes_that_only_hosts_join_are_refused() -> None:
    made = MadeFabric()
    left, right = made.add("Switch", "left"), made.add("Switch", "right")
    both, one, other = (made.add("Ca", f"{name} HCA-1") for name in ("both", "one", "other"))
    for device, switch in ((both, left), (both, right), (one, left), (other, right)):
        made.cable(device, switch)
    with pytest.raises(
        Refusal, match=r"'ca:one' and 'ca:other' are connected through other hosts only.*2 separate groups"
    ):
        network_of(made.text())


def test_adapters_without_switches_do_not_forward_either() -> None:
    made = MadeFabric()
    hosts = [made.add("Ca", f"node{i} HCA-1") for i in range(3)]
    made.cable(hosts[0], hosts[1])
    made.cable(hosts[1], hosts[2])
    with pytest.raises(Refusal, match="connected through other hosts only"):
        network_of(made.text())
    made.cable(hosts[2], hosts[0])
    ring = network_of(made.text())
    assert solve(ring, pairs(ring, [(0, 1, 1e9)])).rate_per_s > 0
    cut = failure_sweep(ring, pairs(ring, [(0, 1, 1e9)]), "4xHDR", "recompute")
    assert cut.worst_per_s == 0  # not around over node 2


def test_an_edge_list_whose_nodes_are_switches_too_forwards_still() -> None:
    chain = network("graph", edges="n1 n2\nn2 n3\n", hosts="n")
    assert solve(chain, pairs(chain, [(0, 2, 1.0)])).rate_per_s > 0


# ------------------------------------------------------------------ lines


PLAIN = FatTree((2, 2), (1,), aggregation=True).make()


@pytest.mark.parametrize(
    "text",
    [
        PLAIN.text(grouped=True),
        PLAIN.text(full=True),
        PLAIN.text().replace("\n", "\r\n"),
        re.sub("^", "  ", PLAIN.text(), flags=re.MULTILINE),
        PLAIN.text() + PLAIN.text(),  # as with -g, and in two dumps of one fabric
        PLAIN.text().replace("\n\nvendid", "\nvendid"),
        PLAIN.text() + "[5]\n[6]\t\t# Down\n[7] Down/Polling\n",
        'ibwarn: [77] sim_connect: attached as client 1 at node "Switch1"\n' + PLAIN.text(),
        PLAIN.text().replace('"H-', '"H-0x').replace("(8c0", "(0x8c0"),
    ],
    ids=["-g", "-f", "crlf", "indented", "twice", "dense", "down", "ibsim", "0x"],
)
def test_variants_of_the_format_give_the_same_network(text: str) -> None:
    machine = network_of(text)
    assert machine.topology.nodes() == 4
    assert rate(machine) == pytest.approx(25e9)
    found = fabrics.read(text)
    assert found.lines.unrecognised == found.lines.warnings == ()


def test_every_line_is_counted_once() -> None:
    text = PLAIN.text(grouped=True) + "some words\n"
    lines = fabrics.read(text).lines
    counted = lines.interpreted + sum(lines.irrelevant.values()) + len(lines.warnings) + len(lines.unrecognised)
    assert counted == sum(bool(line.strip()) for line in text.split("\n"))
    assert lines.unrecognised == (f"line {len(text.splitlines())}: 'some words'",)


TEXT = PLAIN.text()
POSITIONS = len(TEXT.split("\n"))
WORDS = st.text(st.characters(codec="ascii", exclude_characters="\n#"), min_size=1, max_size=30)
LINES = st.one_of(
    WORDS,
    WORDS.map(lambda words: f"{words}guid=0x17"),
    WORDS.map(lambda words: f'Switch 36 "S-17" # "x" {words}!'),
    WORDS.map(lambda words: f'[3] "H-0008c0eb030000100"[1] # "x" lid 3 4xHDR {words}!'),
    st.sampled_from(['0: [1] "H-17"[1]', "Ca\t: 0x17 ports 2", "...omitted", "SW 1 2 0x17 4x HDR", '???\t4 "?-17"']),
)  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(line=LINES.filter(lambda line: line.strip()), place=st.integers(0, POSITIONS - 1))
def test_a_line_of_unknown_content_is_never_passed_over_in_silence(line: str, place: int) -> None:
    before = fabrics.read(TEXT)
    lines = TEXT.split("\n")
    text = "\n".join([*lines[:place], line, *lines[place:]])
    try:
        after = fabrics.read(text)
    except ValueError:
        return
    known = after.lines.irrelevant != before.lines.irrelevant or after.lines.interpreted != before.lines.interpreted
    assert known or len(after.remarks) == len(before.remarks) + 1
    if not known:
        assert f"line {place + 1}:" in after.remarks[-1]


@settings(max_examples=60, deadline=None)
@given(cut=st.integers(0, len(TEXT) - 1))
def test_a_dump_that_was_cut_off_never_becomes_a_smaller_network(cut: int) -> None:
    try:
        machine = network_of(TEXT[:cut])
    except Refusal:
        return
    assert (machine.topology.nodes(), machine.topology.fabric_links()) == (4, 2 * 6)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (('"node1 HCA-1" lid 9 4xHDR', '"node1 HCA-1" lid 9 4xHDR plane 2'), "looks like a device or a cable"),
        (("sysimgguid=0x8c0eb0300000100", "sysimgguid=0x8c0e<redacted>"), "looks like a device or a cable"),
        (('Ca\t2 "H-08c0eb0300000100"', 'Xa\t2 "H-08c0eb0300000100"'), "looks like a device or a cable"),
        (('Ca\t2 "H-08c0eb0300000100"', 'Ca\t2 "S-08c0eb0300000100"'), "looks like a device or a cable"),
        (('Ca\t2 "H-08c0eb0300000100"\t\t# "node1 HCA-1"', 'Ca\t2 "H-08c0eb0300000100"'), "looks like a device"),
        (('[2]\t"H-08c0eb0300000200"', '[1]\t"H-08c0eb0300000200"'), "contradicts line"),
        (('Ca\t2 "H-08c0eb0300000200"', 'Ca\t2 "H-08c0eb0300000100"'), "contradicts the device of line"),
        (('[1](8c0eb0300000101)', '[3](8c0eb0300000101)'), "looks like a device or a cable"),
    ],
)  # fmt: skip
def test_lines_that_cannot_be_read_are_quoted(change: tuple[str, str], words: str) -> None:
    assert change[0] in TEXT
    with pytest.raises(Refusal, match=rf"line \d+: '.*{words}"):
        network_of(TEXT.replace(*change))


def test_one_port_has_one_cable() -> None:
    made = star("node1 HCA-1", "node2 HCA-1")
    switch, _, other = made.devices
    other.ports[1] = (switch, 1, "4xHDR")
    with pytest.raises(Refusal, match=r"lines \d+ and \d+ have different cables in port 1"):
        network_of(made.text())


def test_failures_of_the_discovery_are_a_remark() -> None:
    line = "src/query_smp.c:199; umad (DR path slid 0; dlid 0; 0,1,20 Attr 0x11:0) bad status 110; Connection timed out"
    notes = network_of(f"{line}\n{TEXT}").topology.notes()
    assert any("a part of the fabric may be missing (line 1: 'src/query_smp.c" in note for note in notes)


@pytest.mark.parametrize(
    ("line", "tool"),
    [
        ('  10   21[  ] ==( 4X   25.78125 Gbps Active/  LinkUp)==>  40    1[  ] "node3 HCA-2" ( )', "iblinkinfo"),
        ("SW    21  1 0x8c0eb0300add04e 4x HDR - CA  9  1 0x8c0eb0300add056 ( 'leaf' - 'node1' )", "--ports"),
        ('Ca\t: 0x08c0eb0300add056 ports 1 "node1 HCA-2"', "ibhosts"),
        ('< Switch\t36 "S-17"', "--diff"),
        ('"MF0;leaf:MQM8700/U1", Mellanox, 0xb8cef603001bf9de, LID 1', "ibdiagnet"),
    ],
)
@pytest.mark.parametrize("first", ["", "# Topology file: generated on Thu Nov 26 12:00:00 2026\n"])
def test_the_output_of_other_tools_is_refused_with_the_command(line: str, tool: str, first: str) -> None:
    if first and tool == "ibdiagnet":
        return
    with pytest.raises(Refusal, match=rf"output of .*{re.escape(tool)}.*run `ibnetdiscover > FILE`"):
        network_of(f"{first}{line}\n")


# ------------------------------------------------------------------ classes


def test_a_speed_without_a_class_is_refused_with_the_table() -> None:
    made = star("node1 HCA-1", "node2 HCA-1")
    made.cable(made.add("Ca", "node3 HCA-1"), made.devices[0], "2xNDR")
    with pytest.raises(Refusal) as refused:
        network_of(made.text(), ("link",))
    for words in (
        "4xHDR (2), 2xNDR (1)", "'link'", 'classes = ["4xHDR", "2xNDR"]', '[links."2xNDR"] bytes_per_s = "25 GB/s"',
    ):  # fmt: skip
        assert words in str(refused.value)
    kinds = network_of(made.text(), ("2xNDR", "4xHDR")).build().link_classes()[9:]
    assert sorted(kinds.tolist()) == [3] * 2 + [4] * 4


@pytest.mark.parametrize(
    ("speed", "rate"),
    [("4xSDR", "1 GB/s"), ("4xQDR", "4 GB/s"), ("4xFDR10", "5 GB/s"), ("4xFDR", "6.82 GB/s"), ("4xEDR", "12.5 GB/s"),
     ("4xHDR", "25 GB/s"), ("2xHDR", "12.5 GB/s"), ("4xNDR", "50 GB/s"), ("4xXDR", "100 GB/s"), ("4x???", "")],
)  # fmt: skip
def test_widths_and_speeds_have_their_data_rate(speed: str, rate: str) -> None:
    assert fabrics.rate_text(speed) == rate


def test_ends_that_state_different_speeds_give_the_slower_one_and_a_remark() -> None:
    made = star("node1 HCA-1", "node2 HCA-1")
    switch, one, _ = made.devices
    one.ports[1] = (switch, 1, "4xEDR")
    found = fabrics.read(made.text())
    assert found.speeds() == {"4xEDR": 1, "4xHDR": 1}
    assert any("the ends of 1 cable have different speeds (4xHDR and 4xEDR)" in remark for remark in found.remarks)
    switch.ports[1] = (one, 1, "4x???")
    assert fabrics.read(made.text()).speeds() == {"4xEDR": 1, "4xHDR": 1}
    switch.ports[1] = (one, 1, "4xXYZ")
    with pytest.raises(Refusal, match="'4xXYZ' is unknown; known are SDR"):
        network_of(made.text())


def test_cables_that_one_end_lists_count() -> None:
    made = star("node1 HCA-1", "node2 HCA-1")
    made.devices[1].ports.clear()
    found = fabrics.read(made.text())
    assert len(found.cables) == 2
    assert "the dump lists only one end for 1 of 2 cables" in found.remarks


def test_a_dump_without_speeds_has_one_class() -> None:
    text = star("node1 HCA-1", "node2 HCA-1").text().replace(" 4xHDR", "")
    assert any(
        "states no width and speed for 2 of 2 cables" in note for note in network_of(text, ("link",)).topology.notes()
    )
    with pytest.raises(Refusal, match="no width and speed, but 'classes' has 2 names"):
        network_of(text, ("4xHDR", "4xEDR"))


# ------------------------------------------------------------------ networks without a shape of their own

GEMINI = """name = "gemini"
[topology]
kind = "graph"
hosts = "n"
classes = ["host", "x", "y"]
edges = '''
{rows}
'''
[links.host]
[links.x]
bytes_per_s = "3 GB/s"
[links.y]
bytes_per_s = "1 GB/s"
[routing]
name = "ecmp"
"""


def test_a_torus_with_a_rate_for_each_dimension_and_two_nodes_a_router_is_a_graph() -> None:
    wide, tall = 5, 4
    rows = []
    for x in range(wide):
        for y in range(tall):
            rows += [f"n{2 * (x * tall + y) + k} r{x}.{y} host" for k in (0, 1)]
            rows += [f"r{x}.{y} r{(x + 1) % wide}.{y} x", f"r{x}.{y} r{x}.{(y + 1) % tall} y"]
    machine = parse(GEMINI.format(rows="\n".join(rows)), "gemini.toml")
    found = {b.link_class: b.load for b in solve(machine, make(machine, "uniform")).bottlenecks}
    # two nodes a router and two directions a dimension: the mean distance along 5, and along 4, routers
    assert [found["x"], found["y"]] == pytest.approx([6 / 5, 4 / 4])
    assert rate(machine) == pytest.approx(1e9)


# ------------------------------------------------------------------ exports


def test_the_export_for_simgrid_has_hosts_and_is_well_formed(tmp_path: Path) -> None:
    import xml.etree.ElementTree as ET

    made = star("node1 HCA-1", "node2 HCA-1", "UFM -- appliance")
    text = "lines --- of words-\n" + made.text()
    xml = ET.fromstring(write(network_of(text), "simgrid"))  # noqa: S314 - our own
    assert len(xml.findall(".//host")) == 2
    (tmp_path / "back.toml").write_text(write(network_of(text), "graph"))
    back = load(str(tmp_path / "back.toml"))
    assert rate(back) == rate(network_of(text))
    assert np.array_equal(back.build().ends()[0], network_of(text).build().ends()[0])
    assert len(platform(back, back.topology.active()).hosts) == 2
    assert replace(back, name="made").name == "made"


@pytest.mark.parametrize("description", ["ufm01 mlx5_0", "sm-ufm-02 HCA-1", "UFM2", "ib_ufm mlx5_1"])
def test_hosts_named_after_the_fabric_manager_run_no_jobs(description: str) -> None:
    found = fabrics.read(star("node1 HCA-1", "ufmg01 HCA-1", description).text())
    assert [(one.kind, one.count) for one in found.apart] == [("subnet manager", 1)]
    assert found.nodes == 2


@pytest.mark.parametrize("device", ["ibP2p1s0", "ibP6p3s0f1", "roceP1p1s0", "mlx5_bond_0", "ibs1f0"])
def test_adapters_named_after_their_place_are_those_of_one_host(device: str) -> None:
    """Servers with several PCI domains have names with capital letters."""
    found = fabrics.read(star("node1 ibp3s0", f"node1 {device}", "node2 ibp3s0", f"node2 {device}").text())
    assert (found.nodes, found.rails) == (2, {2: 2})


LINKINFO = """CA: node001 mlx5_0:
      0xb83fd20300000911      9    1[  ] ==( 4X      106.25 Gbps Active/  LinkUp)==>       5   1[  ] "leaf0" ( )
Switch: 0xb83fd20300000920 MF0;leaf0:MQM9700/U1:
           5    2[  ] ==(                Down/ Polling)==>             [  ] "" ( )
"""
FAILED = """ibwarn: [123] get_abi_version: can't read ABI version from /sys/class/infiniband_mad/abi_version
ibnetdiscover: iberror: failed: discover failed
"""


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (LINKINFO, "it is output of iblinkinfo"),
        (FAILED, "the discovery failed: 'ibnetdiscover: iberror: failed: discover failed'"),
        ("", "it is empty"),
        ("hello world again\n", "it is neither a network file"),
    ],
)
def test_what_is_no_dump_is_named(text: str, why: str, tmp_path: Path) -> None:
    file = tmp_path / "fabric.ibnet"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(Refusal, match=rf"\({re.escape(why)}.*\); run `ibnetdiscover > FILE`"):
        inventory(str(file))


def test_a_dump_in_place_of_a_network_file_is_refused_with_the_command(tmp_path: Path) -> None:
    file = tmp_path / "fabric.ibnet"
    file.write_text(TEXT, encoding="utf-8")
    with pytest.raises(
        Refusal, match=r"is output of ibnetdiscover, not .*; `octant model show .*fabric\.ibnet` prints"
    ):
        load(str(file))


def test_a_heading_alone_is_refused_without_empty_parentheses() -> None:
    with pytest.raises(Refusal, match="no cable of a compute node; run"):
        network_of("# Topology file: generated on Thu Nov 26 12:00:00 2026\n")


def test_a_speed_that_is_not_known_is_a_remark() -> None:
    found = fabrics.read(star("node1 HCA-1", "node2 HCA-1").text().replace("4xHDR", "4x???"))
    assert any("the speed of 2 cables is unknown (4x???)" in remark for remark in found.remarks)
    assert not any("is unknown" in remark for remark in fabrics.read(TEXT).remarks)
