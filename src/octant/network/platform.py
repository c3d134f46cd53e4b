"""Export of a network as a SimGrid platform: explicit hosts, links and one route for every pair of hosts."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING
from xml.sax.saxutils import quoteattr

from octant.failure import Exit, Refusal
from octant.network.solve import engine
from octant.network.traffic import TrafficCost, bulk

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from octant.network.files import NetworkFile
    from octant.network.traffic import Nodes

MAX_HOSTS = 512
"""Maximum number of hosts; their 262,144 explicit routes are read by SimGrid in seconds."""

FREE = "free"
_FREE_BYTES_PER_S = 1e15
_DTD = "https://simgrid.org/simgrid.dtd"


@dataclass(frozen=True)
class Wire:
    """One direction of one link: payload bytes per second of bulk messages (`inf`: no limit) and seconds."""

    name: str
    where: str
    bytes_per_s: float
    latency_s: float


@dataclass(frozen=True)
class Platform:
    """Hosts, the links that their routes use, and one route (numbers of links) for every ordered pair of hosts."""

    name: str
    hosts: tuple[str, ...]
    wires: tuple[Wire, ...]
    routes: Mapping[tuple[int, int], tuple[int, ...]]
    split: int  # pairs with several routes in the model; the platform contains one of them

    def speed_alone(self, source: int, target: int) -> tuple[float, float]:
        """Return latency in seconds and payload bytes per second of a message that is alone on the route."""
        wires = [self.wires[link] for link in self.routes[source, target]]
        return sum(wire.latency_s for wire in wires), min((wire.bytes_per_s for wire in wires), default=math.inf)


def platform(network: NetworkFile, nodes: Nodes, latency: bool = True, cost: TrafficCost | None = None) -> Platform:
    """Return the part of the network that `nodes`, shape (hosts,), use, with the payload bandwidths for `cost`.

    `latency=False` omits latencies: SimGrid gives flows with longer latency a smaller share of a link, while Octant
    gives equal shares.

    Raises:
        Refusal: there are too many hosts for explicit routes.
    """
    if len(nodes) > MAX_HOSTS:
        raise Refusal(
            f"cannot export {len(nodes)} hosts with a route per pair (maximum: {MAX_HOSTS}); use a smaller --size",
            Exit.WRONG_WORD,
        )
    topology = network.build()
    native = engine(network, topology)
    paths: dict[tuple[int, int], list[int]] = {}
    split = 0
    for a, s in enumerate(nodes.tolist()):
        for b, t in enumerate(nodes.tolist()):
            paths[a, b] = list(native.path(s, t, s * topology.nodes + t))
            split += any(part < 1 for _, part in native.shares(s, t))
    speeds = [speed(network, number, cost or bulk(network)) for number in range(len(network.class_names))]
    classes = topology.link_classes().tolist()
    used = sorted({link for path in paths.values() for link in path})
    kept = [link for link in used if math.isfinite(speeds[classes[link]][0]) or (latency and speeds[classes[link]][1])]
    number_of = {link: i for i, link in enumerate(kept)}
    wires = tuple(
        Wire(
            f"{network.class_names[classes[link]]}-{link}",
            topology.name(link),
            speeds[classes[link]][0],
            speeds[classes[link]][1] if latency else 0.0,
        )
        for link in kept
    )
    routes = {pair: tuple(number_of[link] for link in path if link in number_of) for pair, path in paths.items()}
    return Platform(network.name, tuple(f"n{node}" for node in nodes.tolist()), wires, routes, split)


def speed(network: NetworkFile, number: int, cost: TrafficCost) -> tuple[float, float]:
    """Return payload bytes per second and latency of a link class, limited by bytes or packets."""
    link = network.link_class(network.class_names[number])
    carried = cost.payload_bytes if number < 3 else cost.wire_bytes  # endpoints count payload
    rates = [math.inf]
    if link.bytes_per_s:
        rates.append(link.bytes_per_s.value / carried * cost.payload_bytes)
    if link.packets_per_s and cost.packets:
        rates.append(link.packets_per_s.value / cost.packets * cost.payload_bytes)
    return min(rates), link.latency


def simgrid_xml(exported: Platform, notes: Sequence[str] = ()) -> str:
    """Return the platform in SimGrid's XML (format 4.1, for SimGrid 3.32): explicit hosts, links and routes.

    `notes` are written as comments. Every link is one direction. Routes of a host to itself are always included,
    because SimGrid otherwise uses a loopback of 498 MB/s and 15 microseconds.
    """
    lines = ["<?xml version='1.0'?>", f'<!DOCTYPE platform SYSTEM "{_DTD}">']
    if exported.split:
        text = f"{exported.split} pairs have several routes in the model; SimGrid has one route per pair"
        notes = [*notes, text]
    lines += [f"<!-- {re.sub('-(?=-)', '- ', note)} -->" for note in notes]  # two hyphens are invalid in comments
    lines += ['<platform version="4.1">', f'  <zone id={quoteattr(exported.name)} routing="Full">']
    lines += [f'    <host id={quoteattr(host)} speed="1Gf"/>' for host in exported.hosts]
    lines.append(_link(FREE, math.inf, 0.0, ""))
    lines += [_link(wire.name, wire.bytes_per_s, wire.latency_s, wire.where) for wire in exported.wires]
    for (a, b), route in exported.routes.items():
        names = [exported.wires[link].name for link in route] or [FREE]
        inside = "".join(f"<link_ctn id={quoteattr(name)}/>" for name in names)
        ends = f"src={quoteattr(exported.hosts[a])} dst={quoteattr(exported.hosts[b])}"
        lines.append(f'    <route {ends} symmetrical="NO">{inside}</route>')
    return "\n".join([*lines, "  </zone>", "</platform>", ""])


def _link(name: str, bytes_per_s: float, latency_s: float, where: str) -> str:
    limited = math.isfinite(bytes_per_s)
    speed = bytes_per_s if limited else _FREE_BYTES_PER_S
    policy = "" if limited else ' sharing_policy="FATPIPE"'
    note = f'<prop id="where" value={quoteattr(where)}/>' if where else ""
    return f'    <link id={quoteattr(name)} bandwidth="{speed!r}Bps" latency="{latency_s!r}s"{policy}>{note}</link>'
