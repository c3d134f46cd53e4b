"""Check that all nodes of a graph can communicate although nodes do not forward traffic of others."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import combinations_with_replacement

from octant.network.quoting import quoted

_MAX_KINDS = 1000  # compared sets of planes; with more, the engine reports the missing path


def require_reachable(names: Sequence[str], nodes: int, cables: Sequence[tuple[int, int, int]]) -> None:
    """Check that no two nodes are connected through other nodes only.

    A plane is a set of switches that are connected by cables. Two nodes can communicate over a common plane or a direct
    cable.

    Args:
        names: names of the vertices by number, nodes first.
        nodes: number of nodes.
        cables: (a, b, class) by number.

    Raises:
        ValueError: two nodes are connected through other nodes only; the message names them and the number of planes.
    """
    plane_of = _planes(len(names), nodes, cables)
    planes = len(set(plane_of.values()))
    if nodes < 2 or (planes == 1 and len({a for a, b, _ in _from_nodes(cables, nodes) if b >= nodes}) == nodes):
        return
    planes_of: list[set[int]] = [set() for _ in range(nodes)]
    direct: list[set[int]] = [set() for _ in range(nodes)]
    for node, end, _ in _from_nodes(cables, nodes):
        if end >= nodes:
            planes_of[node].add(plane_of[end])
        else:
            direct[node].add(end)
            direct[end].add(node)
    if any(all(plane in found for found in planes_of) for plane in planes_of[0]):
        return
    kinds: dict[frozenset[int], list[int]] = defaultdict(list)
    for node, found in enumerate(planes_of):
        kinds[frozenset(found)].append(node)
    for one, other in combinations_with_replacement(list(kinds)[:_MAX_KINDS], 2):
        if one & other:
            continue
        for a in kinds[one]:
            for b in kinds[other]:
                if a != b and b not in direct[a]:
                    raise ValueError(
                        f"{quoted(names[a])} and {quoted(names[b])} are connected through other hosts only, and hosts "
                        f"do not forward traffic ({planes} separate groups of switches); add the missing cables, "
                        f"or describe each group as a separate network"
                    )


def _from_nodes(cables: Sequence[tuple[int, int, int]], nodes: int) -> Iterator[tuple[int, int, int]]:
    """Yield the cables that end at a node, the node first."""
    for a, b, kind in cables:
        if a < nodes:
            yield a, b, kind
        elif b < nodes:
            yield b, a, kind


def _planes(vertices: int, nodes: int, cables: Sequence[tuple[int, int, int]]) -> dict[int, int]:
    """Return one switch of the plane of each switch, the same for all switches of a plane."""
    parent = {vertex: vertex for vertex in range(nodes, vertices)}

    def root(vertex: int) -> int:
        while parent[vertex] != vertex:
            parent[vertex] = vertex = parent[parent[vertex]]
        return vertex

    for a, b, _ in cables:
        if a >= nodes and b >= nodes:
            parent[root(a)] = root(b)
    return {vertex: root(vertex) for vertex in parent}
