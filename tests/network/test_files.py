"""Bad network and traffic files get the line, the reason and the fix."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from networks import network
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
        ('"1 GB/s"', '"1 ns"', ("line 6", "unknown unit 'ns'", "24 GB/s")),
        ('"1 GB/s"', "1e30", ("line 6", "out of range")),
        ('"1 GB/s"', '"fast"', ("line 6", "'fast' is not a rate")),
        ('"1 GB/s"', "{ value = 1e9, low = 2e9, high = 3e9 }", ("line 6", "outside its range")),
        ('"100 ns"', '"100 MB"', ("line 7", "unknown unit 'MB'", "100 ns")),
        ('"100 ns"', '"2 s"', ("line 7", "out of range")),
        ("[4, 4]", "[4, -4]", ("line 4", "topology.sizes")),
        ("[4, 4]", "[400000, 400000]", ("line 2", "too many")),
        ("[4, 4]", "[]", ("line 4", "topology.sizes")),
        ("latency =", "latancy =", ("line 7", "unknown key")),
        ('"torus"', '"taurus"', ("line 3", "'taurus'", "did you mean torus?")),
        ('kind = "torus"', "", ("line 2", "topology.kind", "missing")),
        ('"1 GB/s"', "nan", ("line 6", "positive")),
        ('"1 GB/s"', "inf", ("line 6", "out of range")),
        ('"1 GB/s"', "0", ("line 6", "positive")),
        ('"1 GB/s"', "1" + "0" * 400, ("line 6", "out of range")),
        ('"1 GB/s"', "1" + "0" * 5000, ("cannot read",)),
        ('"1 GB/s"', '"1e999 GB/s"', ("line 6", "out of range")),
        ('"1 GB/s"', '"' + "9" * 5000 + ' GB/s"', ("line 6", "'999")),
        ('"1 GB/s"', '"1 GX/s"', ("line 6", "unknown unit 'GX/s'", "bit/s", "Gi")),
        ('"1 GB/s"', "true", ("line 6", "a bool is not a rate")),
        ("bytes_per_s = 2e9", "packets_per_s = -1.0", ("line 9", "positive")),
        ("bytes_per_s = 2e9", "packets_per_s = 1e300", ("line 9", "out of range")),
        ('"100 ns"', "nan", ("line 7", "out of range")),
        ('"100 ns"', "-1", ("line 7", "out of range")),
        ('"100 ns"', '"100 ns"\nlanes = 0', ("line 8", "links.link.lanes")),
        ('"100 ns"', '"100 ns"\nlanes = 1' + "0" * 400, ("line 8", "links.link.lanes")),
        ('ordered"', 'ordered"\norder = [99999999999999999999]', ("routing.order",)),
        ('ordered"', 'ordered"\norder = [0, 0]', ("routing", "occurs twice")),
        ('ordered"', 'ordered"\n[windows]\nshift = 0', ("windows.shift",)),
        ('ordered"', 'ordered"\n[windows]\nshift = nan', ("windows.shift",)),
        ('ordered"', 'ordered"\n[residual.shift]\nper_doubling = nan\nfrom_nodes = 1\nsource = "s"', ("doubling",)),
        ('"mine"', '"mine"\n[offload."a b/c"]\nradix = 2', ("offload",)),
        ("[4, 4]", "[1048577]", ("line 4", "topology.sizes")),
        ("[4, 4]", "[4, 4, 1, 1, 1, 1, 1, 1, 1]", ("line 4", "topology.sizes")),
        ('"mine"', '"a/../../pwn"', ("line 1", "name")),
        ('"mine"', '"-o"', ("line 1", "name")),
        ('"mine"', '"' + "m" * 101 + '"', ("line 1", "name")),
        ("[4, 4]", "[" * 5000 + "4" + "]" * 5000, ("nested deeper",)),
        ('name = "mine"', "", ("name", "missing")),
        ("[links.link]", "[links.wire]", ("missing: link", "unknown: wire")),
        ("sizes = [4, 4]", "sizes = [4, 4", ("cannot read", "line 5")),
        ('"1 GB/s"', '{ value = 1e9, calibrated_on = { uniform = [0] } }', ("line 6", "uniform.0", "integer >= 1")),
        ('"1 GB/s"', "{ value = 1e9, calibrated_on = { uniform = [] } }", ("line 6", "calibrated_on")),
        ('"1 GB/s"', "{ value = 1e9, calibrated = { uniform = [1] } }", ("line 6", "unknown key")),
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
        ("n1 n1\nn1 s1", "line 2.*to itself"),
        ("n1", "line 2.*is not a cable"),
        ("n1 s1 medium", "unknown class 'medium'"),
        ("s1 s2", "no vertex name begins with 'n'"),
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
    (tmp_path / "fabric.txt").write_text("\n".join(DUMP.split("\n")[:-5]))
    with pytest.raises(Refusal, match="the device 'H-2' in line 7 is not described"):
        load(str(path))


def test_a_dragonfly_that_cannot_connect_its_groups_is_refused() -> None:
    with pytest.raises(Refusal, match="cannot reach 39 other groups"):
        load("dragonfly-example").at_size(40)


def test_cabling_that_the_ports_cannot_hold_is_refused() -> None:
    with pytest.raises(Refusal, match="at most 512"):
        load("power775").at_size(513)
    tight = replace(load("power775").topology, supernodes=65)
    with pytest.raises(Refusal, match="18 D ports"):
        replace(load("power775"), topology=tight).build()


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
    words = replace(machine.routing, name="magic")
    with pytest.raises(Refusal, match="random-minimal"):
        solve(replace(machine, routing=words), make(machine, "uniform"))
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


SHAPES = {
    "torus": ("dimension-ordered", ("link",)),
    "hyperx": ("dimension-ordered", ("link",)),
    "fat-tree": ("d-mod-k", ("port", "trunk")),
    "dragonfly": ("minimal", ("group", "global")),
    "two-level-direct": ("direct", ("L-local", "L-remote", "D")),
}


@pytest.mark.parametrize(
    ("kind", "keys"),
    [
        ("hyperx", "sizes = [1048576]\nnodes_per_router = 1"),
        ("hyperx", "sizes = [50000]\nnodes_per_router = 1"),
        ("hyperx", "sizes = [8, 8]\nnodes_per_router = 1048576"),
        ("dragonfly", "groups = 2\nrouters = 46341\nnodes_per_router = 1\nglobal_links = 1"),
        ("dragonfly", "groups = 2\nrouters = 1024\nnodes_per_router = 1\nglobal_links = 1048576"),
        ("fat-tree", "down = [2, 2, 2]\nup = [1048576, 1048576]"),
        ("fat-tree", "planes = 64\ndown = [1024, 1024]\nup = [1024]"),
        ("torus", "sizes = [1048576, 2]"),
        ("two-level-direct", "supernodes = 1048576"),
        ("two-level-direct", "supernodes = 1024\ndrawers = 1\noctants = 2\nlinks_per_host = 64\nd_ports = 256"),
    ],
)
def test_a_shape_beyond_the_limits_is_refused(kind: str, keys: str) -> None:
    routing, classes = SHAPES[kind]
    links = "".join(f"[links.{name}]\n" for name in classes)
    text = f'name = "big"\n[topology]\nkind = "{kind}"\n{keys}\n{links}[routing]\nname = "{routing}"\n'
    with pytest.raises(Refusal, match=r"(nodes|switches|links) are too many"):
        parse(text, "big.toml")


@pytest.mark.parametrize("name", ["bgp", "dragonfly-example", "power775", "hyperx-example", "power575-ib"])
@pytest.mark.parametrize("size", [0, -1, 2**20 + 1, 1_000_000_007, 10**400])
def test_a_size_that_nothing_has_is_refused_at_once(name: str, size: int) -> None:
    with pytest.raises(Refusal, match="try 1 to 1048576"):
        load(name).at_size(size)


def test_a_network_at_its_own_size_is_the_same_network() -> None:
    torus = parse(GOOD.replace("[4, 4]", "[2, 8]"), "mine.toml")
    assert torus.at_size(16).topology == torus.topology
    flat = network("hyperx", sizes=[4, 8], nodes_per_router=1)
    assert flat.at_size(4).topology == flat.topology


def test_binary_units_are_read() -> None:
    mine = parse(GOOD.replace("1 GB/s", "2 GiB/s"), "mine.toml")
    assert mine.links["link"].bytes_per_s is not None
    assert mine.links["link"].bytes_per_s.value == 2 * 2**30


BESIDE = (
    'name = "lab"\n[topology]\nkind = "graph"\nhosts = "n"\nedges = "{edges}"\n[links.link]\n[routing]\nname = "ecmp"\n'
)


def test_edges_stay_beside_their_file(tmp_path: Path) -> None:
    secret, lab = tmp_path / "secret", tmp_path / "lab"
    secret.write_text("root:x:0:0 s1\n")
    (lab / "cables").mkdir(parents=True)
    (lab / "cables" / "good").write_text("n1 s1\n")
    (lab / "out").symlink_to(secret)
    (lab / "up").symlink_to(tmp_path)
    path = lab / "lab.toml"
    path.write_text(BESIDE.format(edges="cables/good"))
    assert load(str(path)).topology.nodes() == 1
    for edges in ("../secret", str(secret), "out", "up/secret", "cables/../../secret", "\\u0000", "/dev/zero"):
        path.write_text(BESIDE.format(edges=edges))
        with pytest.raises(Refusal, match="not in the folder of this file") as refused:
            load(str(path))
        assert "x:0:0" not in str(refused.value)
        path.write_text(f'extends = "{edges}"\n')
        with pytest.raises(Refusal, match="not in the folder of this file"):
            load(str(path))


def test_a_file_may_not_say_where_its_edges_are_looked_for(tmp_path: Path) -> None:
    path = tmp_path / "lab.toml"
    path.write_text(BESIDE.format(edges="passwd").replace("hosts =", 'folder = "/etc"\nhosts ='))
    with pytest.raises(Refusal):
        load(str(path))


def test_what_is_no_edge_list_is_hardly_quoted() -> None:
    with pytest.raises(Refusal, match="line 1") as refused:
        parse(GRAPH.format(edges="password = " + "s3cret " * 1000).replace("'''\n", "'''", 1), "lab.toml")
    assert len(str(refused.value)) < 200


def test_edges_of_a_base_lie_beside_the_base(tmp_path: Path) -> None:
    (tmp_path / "base").mkdir()
    (tmp_path / "base" / "cables").write_text("n1 s1\nn2 s1\n")
    (tmp_path / "base" / "lab.toml").write_text(BESIDE.format(edges="cables"))
    (tmp_path / "mine.toml").write_text('extends = "base/lab.toml"\nname = "mine"\n')
    assert load(str(tmp_path / "mine.toml")).topology.nodes() == 2


def test_a_long_chain_of_files_is_refused(tmp_path: Path) -> None:
    for i in range(40):
        (tmp_path / f"{i}.toml").write_text(f'extends = "{i + 1}.toml"\n')
    (tmp_path / "40.toml").write_text(GOOD)
    with pytest.raises(Refusal, match="more than 16 files"):
        load(str(tmp_path / "0.toml"))
    assert load(str(tmp_path / "30.toml")).name == "mine"


@pytest.mark.parametrize(
    "classes", ["[]", '["a", "a"]', '["injection"]', '["a b"]', '["a#"]', '[""]', "[" + '"a",' * 100 + "]"]
)
def test_link_classes_of_a_graph_are_words(classes: str) -> None:
    with pytest.raises(Refusal):
        parse(GRAPH.format(edges="n1 s1").replace('["fast", "slow"]', classes), "lab.toml")


def test_a_graph_without_cables_is_refused() -> None:
    with pytest.raises(Refusal, match="the edge list is empty"):
        parse(GRAPH.format(edges="# none").replace("classes", 'order = ["n1"]\nclasses'), "lab.toml")


def test_too_many_cables_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("octant.network.graph.MAX_CABLES", 3)
    with pytest.raises(Refusal, match="line 4: more than 3 cables"):
        parse(GRAPH.format(edges="n1 s1\nn2 s1\nn3 s1\nn4 s1\n").replace("'''\n", "'''", 1), "lab.toml")


def test_many_mistakes_are_cut_short() -> None:
    with pytest.raises(Refusal, match="and 80 more"):
        parse(GOOD + "[windows]\n" + "".join(f"w{i} = 0\n" for i in range(100)), "mine.toml")


def test_an_input_that_is_no_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "zero.toml").symlink_to("/dev/zero")
    with pytest.raises(Refusal, match="not a regular file"):
        load(str(tmp_path / "zero.toml"))
