"""Export of a network as an edge list that can be read as a network of kind `graph`."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING

from octant.failure import Exit, Refusal

if TYPE_CHECKING:
    from octant.network.files import NetworkFile


def edge_list(network: NetworkFile) -> str:
    """Return cables `a b class`, one per line, with nodes `n0 …` and switches `s0 …`.

    A node that is attached to a router gets a cable of class `endpoint`, which has no limit.

    Raises:
        Refusal: a link has no link in the opposite direction, which an edge list cannot represent.
    """
    topology = network.build()
    ends, classes = topology.ends(), topology.link_classes()
    entries = [topology.entry(node) for node in range(topology.nodes)]
    own = entries == list(range(topology.nodes))
    switches = sorted({int(v) for side in ends for v in side[topology.fabric :]} - set(entries if own else []))
    names = dict(enumerate(f"n{node}" for node in range(topology.nodes))) if own else {}
    names |= {vertex: f"s{i}" for i, vertex in enumerate(switches)}
    directed = Counter(
        (names[int(a)], names[int(b)], network.class_names[kind])
        for a, b, kind in zip(
            ends[0][topology.fabric :], ends[1][topology.fabric :], classes[topology.fabric :], strict=True
        )
    )
    lines = [f"# {network.name}: cables of {topology.nodes} nodes; a b class"]
    lines += [f"# note: {note}" for note in network.topology.notes()]
    if not own:
        lines += [f"n{node} {names[entry]} endpoint" for node, entry in enumerate(entries)]
    for (a, b, kind), count in directed.items():
        if directed[b, a, kind] != count:
            raise Refusal(
                f"cannot export the links between {a} and {b} as cables (their number differs between the directions); "
                "use --to edges",
                Exit.WRONG_WORD,
            )
        if a < b:  # each cable once; unused links at the borders of a mesh have equal ends
            lines += [f"{a} {b} {kind}"] * count
    return "\n".join([*lines, ""])


def graph_file(network: NetworkFile) -> str:
    """Return the network as a network file of kind `graph` with its cables: the same links and capacities.

    Its routes are the shortest paths, with equal shares, independently of the routing of the network.

    Raises:
        Refusal: some nodes do not compute, which a graph cannot represent.
    """
    shape = network.topology
    if len(shape.active()) != shape.nodes():
        raise Refusal(
            f"cannot export {network.name} as a graph (some of its nodes do not compute); use --to edges",
            Exit.WRONG_WORD,
        )
    cables = edge_list(network)
    kinds = list(dict.fromkeys(line.split()[2] for line in cables.splitlines() if not line.startswith("#")))
    lines = [f"name = {json.dumps(network.name + '-graph')}", f"title = {json.dumps(network.title)}"]
    for kind in kinds:
        lines += _table(network, f"links.{json.dumps(kind)}", kind if kind != "endpoint" else None)
    lines += ["", "[endpoint]", f"to_itself = {json.dumps(network.endpoint.to_itself)}"]
    for end in ("injection", "ejection", "local"):
        lines += _table(network, f"endpoint.{end}", end)
    packet = network.packet
    lines += ["", "[packet]", f"payload_bytes = {packet.payload_bytes}", f"overhead_bytes = {packet.overhead_bytes}"]
    lines += ["", "[routing]", 'name = "ecmp"']
    lines += ["", "[topology]", 'kind = "graph"', 'hosts = "n"', f"classes = {json.dumps(kinds)}"]
    lines.append(f"order = {json.dumps([f'n{node}' for node in range(shape.nodes())])}")
    return "\n".join([*lines, "edges = '''", cables.rstrip(), "'''", ""])


def _table(network: NetworkFile, header: str, kind: str | None) -> list[str]:
    lines = ["", f"[{header}]"]
    if kind is None:
        return lines
    link = network.link_class(kind)
    for key in ("bytes_per_s", "packets_per_s"):
        rate = getattr(link, key)
        if rate:
            lines.append(f"{key} = {{ value = {rate.value!r}, low = {rate.low!r}, high = {rate.high!r} }}")
    return [*lines, f"latency = {link.latency!r}"] if link.latency else lines
