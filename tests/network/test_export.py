"""Exports of networks: SimGrid's platform, edge lists, and graphs that read back."""

import math
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace

from networks import network
from octant.failure import Refusal
from octant.network import NetworkFile, load, make, solve
from octant.network.export import write
from octant.network.files import LinkClass, parse
from octant.network.graph_file import edge_list, graph_file
from octant.network.platform import FREE, platform, simgrid_xml, speed
from octant.network.solve import engine
from octant.network.traffic import RANDOM_ACCESS

SINGLE = [
    network("torus", sizes=[4, 3, 2], split_ties=False),
    network("fat-tree", down=[4, 4], up=[4]),
    network("dragonfly", groups=5, routers=2, nodes_per_router=2, global_links=2),
    network("hyperx", sizes=[3, 3], nodes_per_router=2),
]
KINDS = [net.topology.kind for net in SINGLE]


@pytest.mark.parametrize("net", SINGLE, ids=KINDS)
def test_routes_are_the_links_that_the_engine_loads(net: NetworkFile) -> None:
    nodes = net.topology.active()
    exported = platform(net, nodes)
    native, topology = engine(net, net.build()), net.build()
    assert exported.split == 0
    for (a, b), route in exported.routes.items():
        links = {link for link, part in native.shares(int(nodes[a]), int(nodes[b])) if part == 1}
        assert len(set(route)) == len(route)
        limited = {
            link for link in links if speed(net, topology.class_of(link), make(net, "uniform").cost)[0] < math.inf
        }
        assert {exported.wires[link].where for link in route} == {topology.name(link) for link in limited}


def test_pairs_with_several_routes_are_counted() -> None:
    split = platform(network("torus", routing="random-minimal", sizes=[3, 3]), np.arange(9, dtype=np.int32))
    assert split.split == 9 * 4  # the pairs that differ in both dimensions
    assert "36 pairs have several routes" in simgrid_xml(split)


@pytest.mark.parametrize("net", SINGLE, ids=KINDS)
def test_the_xml_declares_what_its_routes_use(net: NetworkFile) -> None:
    root = ET.fromstring(simgrid_xml(platform(net, net.topology.active())))  # noqa: S314 - our own text
    zone = root.find("zone")
    assert zone is not None
    assert root.get("version") == "4.1"
    hosts = [host.get("id") for host in zone.findall("host")]
    links = {link.get("id"): link for link in zone.findall("link")}
    routes = zone.findall("route")
    assert len(hosts) == net.topology.nodes()
    assert {(r.get("src"), r.get("dst")) for r in routes} == {(a, b) for a in hosts for b in hosts}  # loopback too
    used = {part.get("id") for route in routes for part in route}
    assert used <= set(links)
    assert all(route.get("symmetrical") == "NO" and len(route) for route in routes)
    assert links[FREE].get("sharing_policy") == "FATPIPE"
    assert {link.get("bandwidth") for name, link in links.items() if name != FREE} == {"1000000.0Bps"}


def test_a_platform_carries_the_tighter_of_bytes_and_packets() -> None:
    power775 = load("power775")
    d_link = power775.class_names.index("D")
    assert speed(power775, d_link, RANDOM_ACCESS)[0] == pytest.approx(
        0.18e9 * 8
    )  # packets of 32 bytes, 8 of them payload
    transpose = make(power775, "ptrans").cost
    assert speed(power775, d_link, transpose)[0] == pytest.approx(8.96e9 * 1800 / 1920)


def test_latency_can_be_left_out_and_adds_up_along_a_route() -> None:
    bgp = load("bgp")
    nodes = bgp.topology.active()
    assert platform(bgp, nodes).speed_alone(0, 63) == pytest.approx((9e-7, 374e6))
    assert platform(bgp, nodes, latency=False).speed_alone(0, 63)[0] == 0


def test_too_many_hosts_are_refused() -> None:
    with pytest.raises(Refusal, match="maximum: 512"):
        write(load("power775"), "simgrid")


@pytest.mark.parametrize("net", [*SINGLE, load("bgp"), load("power575-ib")], ids=[*KINDS, "bgp", "power575-ib"])
def test_a_graph_reads_back_as_the_same_cables(net: NetworkFile, tmp_path: Path) -> None:
    back = parse(write(net, "graph"), "exported", tmp_path)
    assert back.topology.nodes() == net.topology.nodes()
    assert _cables(back) == _cables(net)
    for name in net.links:
        assert _bytes_per_s(back.links[name]) == _bytes_per_s(net.links[name])
        assert back.links[name].latency == net.links[name].latency
    assert _bytes_per_s(back.endpoint.injection) == _bytes_per_s(net.endpoint.injection)


def _bytes_per_s(link: LinkClass) -> tuple[float, ...]:
    rate = link.bytes_per_s
    return (rate.value, rate.low, rate.high) if rate else ()


def _cables(net: NetworkFile) -> list[list[str]]:
    """Cables without names of switches, which have none of their own."""
    lines = [line.split() for line in edge_list(net).splitlines()[1:]]
    return sorted([*sorted("s" if end.startswith("s") else end for end in line[:2]), line[2]] for line in lines)


@pytest.mark.parametrize("net", [SINGLE[0], SINGLE[1], SINGLE[3]], ids=["torus", "fat-tree", "hyperx"])
def test_minimal_routes_of_the_graph_cross_as_many_links(net: NetworkFile) -> None:
    back = parse(graph_file(net), "exported")
    hops = []
    for one in (net, back):
        answer, topology = solve(one, make(one, "uniform"), "enumeration"), one.build()
        inner = [i for i, name in enumerate(one.class_names) if name in net.links]
        hops.append(answer.loads[np.isin(topology.link_classes(), inner)].sum())
    assert hops[0] == pytest.approx(hops[1])


def test_a_graph_cannot_say_that_nodes_do_not_compute() -> None:
    with pytest.raises(Refusal, match="do not compute"):
        write(load("power775").at_size(2), "graph")


def test_a_mesh_has_no_cables_around() -> None:
    mesh, torus = (network("torus", sizes=[4, 4], wraps=wraps) for wraps in (False, True))
    assert len(edge_list(mesh).splitlines()) == 1 + 2 * 4 * 3
    assert len(edge_list(torus).splitlines()) == 1 + 2 * 4 * 4


def test_what_people_write_is_escaped() -> None:
    odd = replace(SINGLE[0], name='a<b"&c')
    root = ET.fromstring(simgrid_xml(platform(odd, np.arange(4, dtype=np.int32))))  # noqa: S314 - our own text
    zone = root.find("zone")
    assert zone is not None
    assert zone.get("id") == 'a<b"&c'
