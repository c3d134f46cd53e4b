"""Jobs on part of a machine: the nodes with traffic; routes may use the whole machine."""

import numpy as np

from octant.failure import Exit, Refusal
from octant.network.files import NetworkFile
from octant.network.traffic import Nodes


def job_nodes(network: NetworkFile, text: str) -> Nodes:
    """Return the active nodes of the first `2` parts of a machine, or of the parts `0,8` or `4:7`; "": all.

    Parts are the supernodes or groups of the network, otherwise its nodes, numbered from 0.

    Raises:
        Refusal: the list is invalid, or the machine does not have these parts.
    """
    active = network.topology.active()
    if not text:
        return active
    each = network.topology.nodes_per_part()
    parts, word = network.topology.nodes() // each, network.topology.size_word if each > 1 else "nodes"
    chosen: set[int] = set()
    try:
        if text.isdecimal():
            chosen.update(range(_checked(int(text) - 1, parts) + 1))
        else:
            for piece in text.split(","):
                first, _, last = piece.partition(":")
                chosen.update(range(_checked(int(first), parts), _checked(int(last or first), parts) + 1))
        nodes = active[np.isin(active // each, sorted(chosen))]
        if not len(nodes):
            raise ValueError
    except ValueError:
        raise Refusal(
            f"invalid job {text[:80]!r} on {network.name} ({parts:,} {word}, numbered from 0); "
            f"try --job {min(2, parts)} (the first ones) or --job 0:{min(1, parts - 1)} (a range)",
            Exit.WRONG_WORD,
        ) from None
    return nodes


def _checked(part: int, parts: int) -> int:
    if not 0 <= part < parts:
        raise ValueError
    return part
