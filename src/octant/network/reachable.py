"""Whether all nodes of a graph reach one another if no node passes on the traffic of others."""

from collections import defaultdict
from collections.abc import Sequence
from itertools import combinations_with_replacement

from octant.network.quoting import quoted

_MOST_KINDS = 1000  # sets of planes that are compared with one another; beyond, the engine finds the missing path


def require_reachable(names: Sequence[str], nodes: int, cables: Sequence[tuple[int, int, int]]) -> None:
    """Refuse a graph in which two nodes are joined through other nodes only.

    A plane is a set of switches that are joined by cables. Two nodes reach one another in a plane that both are cabled
    to, or over a cable between them.

    Args:
        names: of the vertices by number, nodes first.
        nodes: how many of them are nodes.
        cables: (a, b, class) by number.

    Raises:
        ValueError: two such nodes; the message names them and the number of planes.
    """
    planes_of, direct, planes = _planes(len(names), nodes, cables)
    if nodes < 2 or (planes and any(all(plane in found for found in planes_of) for plane in planes_of[0])):
        return
    kinds: dict[frozenset[int], list[int]] = defaultdict(list)
    for node, found in enumerate(planes_of):
        kinds[frozenset(found)].append(node)
    for one, other in combinations_with_replacement(list(kinds)[:_MOST_KINDS], 2):
        if one & other:
            continue
        for a in kinds[one]:
            for b in kinds[other]:
                if a != b and b not in direct[a]:
                    raise ValueError(
                        f"{quoted(names[a])} and {quoted(names[b])} are joined through other hosts only, and hosts do "
                        f"not forward traffic ({planes} separate groups of switches); add the missing cables, "
                        f"or describe each group as a network of its own"
                    )


def _planes(
    vertices: int, nodes: int, cables: Sequence[tuple[int, int, int]]
) -> tuple[list[set[int]], list[set[int]], int]:
    """Return the planes of each node, its direct neighbours among the nodes, and the number of planes."""
    parent = list(range(vertices))

    def root(vertex: int) -> int:
        while parent[vertex] != vertex:
            parent[vertex] = vertex = parent[parent[vertex]]
        return vertex

    for a, b, _ in cables:
        if a >= nodes and b >= nodes:
            parent[root(a)] = root(b)
    planes_of: list[set[int]] = [set() for _ in range(nodes)]
    direct: list[set[int]] = [set() for _ in range(nodes)]
    for a, b, _ in cables:
        for node, other in ((a, b), (b, a)):
            if node < nodes:
                (direct if other < nodes else planes_of)[node].add(other if other < nodes else root(other))
    return planes_of, direct, len({root(vertex) for vertex in range(nodes, vertices)})
