"""Bad network and traffic files get the line, the reason and the fix."""

from pathlib import Path

import pytest

from octant.failure import Refusal
from octant.network import files, load, make, names, solve
from octant.network.files import parse
from octant.network.traffic import pairs, place, read_map, read_pairs

GOOD = """name = "mine"
[topology]
kind = "torus"
sizes = [4, 4]
[links.link]
bytes_per_s = "1 GB/s"
latency = "100 ns"
[endpoint.injection]
bytes_per_s = 2e9
[routing]
name = "dimension-ordered"
"""


def test_a_good_file_loads_and_solves() -> None:
    mine = parse(GOOD, "mine.toml")
    assert mine.links["link"].bytes_per_s is not None
    assert mine.links["link"].bytes_per_s.value == 1e9
    assert solve(mine, make(mine, "uniform")).rate_per_s > 0


@pytest.mark.parametrize("name", names())
def test_every_network_of_the_catalogue_loads(name: str) -> None:
    machine = load(name)
    assert machine.sources
    assert machine.build().nodes == machine.topology.nodes()
    answer = solve(machine, make(machine, "uniform"))
    assert answer.bottleneck is not None


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('"1 GB/s"', '"-1 GB/s"', ("line 6", "links.link.bytes_per_s", "positive", "24 GB/s")),
        ('"1 GB/s"', '"1 ns"', ("line 6", "no unit 'ns'", "24 GB/s")),
        ('"1 GB/s"', "1e30", ("line 6", "out of range")),
        ('"1 GB/s"', '"fast"', ("line 6", "cannot read 'fast'")),
        ('"1 GB/s"', "{ value = 1e9, low = 2e9, high = 3e9 }", ("line 6", "outside its own range")),
        ('"100 ns"', '"100 MB"', ("line 7", "no unit 'MB'", "100 ns")),
        ('"100 ns"', '"2 s"', ("line 7", "out of range")),
        ("[4, 4]", "[4, -4]", ("line 4", "topology.sizes")),
        ("[4, 4]", "[400000, 400000]", ("line 2", "too many")),
        ("[4, 4]", "[]", ("line 4", "topology.sizes")),
        ("latency =", "latancy =", ("line 7", "no such key")),
        ('"torus"', '"taurus"', ("line 2", "'taurus'")),
        ('name = "mine"', "", ("name", "missing")),
        ("[links.link]", "[links.wire]", ("missing: link", "unknown: wire")),
        ("sizes = [4, 4]", "sizes = [4, 4", ("as TOML", "line 5")),
        ('"1 GB/s"', '{ value = 1e9, calibrated_on = { uniform = [0] } }', ("line 6", "calibrated_on", "greater than")),
        ('"1 GB/s"', "{ value = 1e9, calibrated_on = { uniform = [] } }", ("line 6", "calibrated_on")),
        ('"1 GB/s"', "{ value = 1e9, calibrated = { uniform = [1] } }", ("line 6", "no such key")),
    ],
)  # fmt: skip
def test_a_mistake_is_named_with_its_line_and_its_fix(old: str, new: str, words: tuple[str, ...]) -> None:
    assert old in GOOD
    with pytest.raises(Refusal) as refused:
        parse(GOOD.replace(old, new, 1), "mine.toml")
    for word in ("mine.toml", *words):
        assert word in str(refused.value)
    assert refused.value.code == 2


def test_files_that_extend_one_another_in_a_cycle_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text('extends = "b.toml"\n')
    (tmp_path / "b.toml").write_text('extends = "a.toml"\n')
    with pytest.raises(Refusal, match="cycle"):
        load(str(tmp_path / "a.toml"))


def test_a_file_may_change_one_value_of_another(tmp_path: Path) -> None:
    path = tmp_path / "faster.toml"
    path.write_text('extends = "power775"\nname = "faster"\n[links.D]\npackets_per_s = "0.36 Gpackets/s"\n')
    machine = load(str(path)).at_size(2)
    assert solve(machine, make(machine, "randomaccess")).rate_per_s == pytest.approx(
        8.96e9 / 32 / 2
    )  # now bound by bytes


GRAPH = """name = "lab"
[topology]
kind = "graph"
hosts = "n"
classes = ["fast", "slow"]
edges = '''
{edges}
'''
[links.fast]
bytes_per_s = "2 GB/s"
[links.slow]
bytes_per_s = "1 GB/s"
[routing]
name = "ecmp"
"""


def test_an_edge_list_becomes_a_network() -> None:
    lab = parse(GRAPH.format(edges="n1 s1 fast\nn2 s1 slow  # comment\nn3 s2 fast\ns1 s2\n"), "lab.toml")
    assert (lab.topology.nodes(), lab.build().vertices, lab.build().links) == (3, 5, 9 + 8)
    answer = solve(lab, pairs(lab, [(0, 1, 1e9), (0, 2, 1e9)]))
    assert answer.time_s == pytest.approx(1.0)  # both leave over n1's 2 GB/s; n2's slow cable takes as long


@pytest.mark.parametrize(
    ("edges", "words"),
    [
        ("n1 s1\nn2 s2", "disconnected"),
        ("n1 n1\nn1 s1", "line 2.*cycle of one"),
        ("n1", "line 2.*no cable"),
        ("n1 s1 medium", "no class 'medium'"),
        ("s1 s2", "no vertex begins with 'n'"),
    ],
)
def test_a_bad_edge_list_is_refused(edges: str, words: str) -> None:
    with pytest.raises(Refusal, match=words):
        parse(GRAPH.format(edges=edges), "lab.toml")


DUMP = """#
# Topology file: generated on Fri Nov 20 12:00:00 2026
vendid=0x2c9
switchguid=0x5ad00(5ad00)
Switch\t24 "S-a"\t\t# "leaf one" enhanced port 0 lid 3 lmc 0
[1]\t"H-1"[1](2c901)\t\t# "n1 HCA-1" lid 4 4xDDR
[2]\t"H-2"[1](2c902)\t\t# "n2 HCA-1" lid 5 4xDDR
[24]\t"S-b"[24]\t\t# "leaf two" lid 6 4xQDR

Switch\t24 "S-b"\t\t# "leaf two" enhanced port 0 lid 6 lmc 0
[1]\t"H-3"[2](2c903)\t\t# "n1 HCA-2" lid 7 4xDDR
[24]\t"S-a"[24]\t\t# "leaf one" lid 3 4xQDR

Ca\t2 "H-1"\t\t# "n1 HCA-1"
[1](2c901)\t"S-a"[1]\t\t# lid 4 lmc 0 "leaf one" lid 3 4xDDR
Ca\t2 "H-2"\t\t# "n2 HCA-1"
[1](2c902)\t"S-a"[2]\t\t# lid 5 lmc 0 "leaf one" lid 3 4xDDR
Ca\t2 "H-3"\t\t# "n1 HCA-2"
[2](2c903)\t"S-b"[1]\t\t# lid 7 lmc 0 "leaf two" lid 6 4xDDR
"""


def test_what_ibnetdiscover_prints_becomes_a_network(tmp_path: Path) -> None:
    (tmp_path / "fabric.txt").write_text(DUMP)
    path = tmp_path / "fabric.toml"
    path.write_text(
        'name = "fabric"\n[topology]\nkind = "graph"\nedges = "fabric.txt"\nclasses = ["4xDDR", "4xQDR"]\n'
        '[links.4xDDR]\nbytes_per_s = "2 GB/s"\n[links.4xQDR]\nbytes_per_s = "4 GB/s"\n[routing]\nname = "ecmp"\n'
    )
    fabric = load(str(path))
    topology = fabric.build()
    assert (topology.nodes, topology.vertices, topology.links - topology.fabric) == (2, 4, 8)
    assert sorted(topology.link_classes()[topology.fabric :].tolist()) == [3] * 6 + [4] * 2
    assert solve(fabric, pairs(fabric, [(0, 1, 2e9)])).time_s == pytest.approx(1.0)
    (tmp_path / "fabric.txt").write_text(DUMP.replace('Ca\t2 "H-2"', "#"))
    with pytest.raises(Refusal, match="'H-2' is cabled to but not described"):
        load(str(path))


def test_a_dragonfly_that_cannot_connect_its_groups_is_refused() -> None:
    with pytest.raises(Refusal, match="disconnected"):
        load("dragonfly-example").at_size(40)


def test_cabling_that_the_ports_cannot_hold_is_refused() -> None:
    with pytest.raises(Refusal, match="at most 512"):
        load("power775").at_size(513)
    tight = load("power775").topology.model_copy(update={"supernodes": 65})
    with pytest.raises(Refusal, match="18 D ports"):
        load("power775").model_copy(update={"topology": tight}).build()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("0 1 5\n0 1\n", "line 2"),
        ("0 1 -5\n", "line 1"),
        ("# none\n", "empty"),
        ("0 x 1\n", "line 1"),
        ("0 1 1e99\n", "line 1"),
    ],
)
def test_bad_traffic_files_are_refused(text: str, words: str, tmp_path: Path) -> None:
    path = tmp_path / "pairs.txt"
    path.write_text(text)
    with pytest.raises(Refusal, match=words):
        pairs(load("bgp"), read_pairs(path))


def test_traffic_outside_the_network_is_refused() -> None:
    machine = load("bgp")
    with pytest.raises(Refusal, match="nodes 0 … 63"):
        solve(machine, pairs(machine, [(0, 64, 1.0)]))


def test_placements_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    machine = load("bgp")
    with pytest.raises(Refusal, match="65 ranks"):
        place(machine, "block", 65)
    with pytest.raises(Refusal, match="TXYZ"):
        place(machine, "TXY", 4)
    path = tmp_path / "map"
    path.write_text("0\nseven\n")
    with pytest.raises(Refusal, match="one node number per line"):
        read_map(path)


def test_unknown_words_are_refused_with_the_known_ones() -> None:
    machine = load("bgp")
    with pytest.raises(Refusal, match="bgp"):
        load("bluegene")
    with pytest.raises(Refusal, match="random-ring"):
        make(machine, "all")
    words = machine.routing.model_copy(update={"name": "magic"})
    with pytest.raises(Refusal, match="random-minimal"):
        solve(machine.model_copy(update={"routing": words}), make(machine, "uniform"))
    with pytest.raises(Refusal, match="power of two"):
        make(load("power775").at_size(1), "bit-reverse")
    assert files.names() == names()


def test_another_value_does_not_keep_the_range_and_evidence_of_the_one_that_it_replaces(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('extends = "power775"\nname = "mine"\n[links.D]\npackets_per_s = { value = "0.5 Gpackets/s" }\n')
    packets = load(str(path)).links["D"].packets_per_s
    assert packets is not None
    assert (packets.low, packets.high, packets.source, packets.calibrated_on) == (0.5e9, 0.5e9, "", {})


def test_a_file_says_on_which_published_points_it_was_calibrated() -> None:
    machine = load("power775")
    assert machine.calibrated_on("randomaccess", 24) == ("D packets/s",)
    assert machine.calibrated_on("ptrans", 64) == ("injection bytes/s",)
    assert machine.calibrated_on("ptrans", 24) == machine.calibrated_on("uniform", 1) == ()
    ring = [load("power575-ib").calibrated_on("random-ring", nodes) for nodes in (1, 2, 4)]
    assert ring == [("local bytes/s",), ("injection bytes/s",), ("residual factor of random-ring",)]
