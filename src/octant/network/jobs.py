"""Jobs on part of a machine: which of its nodes take part in the traffic, while all of it may carry routes."""

import numpy as np

from octant.failure import Exit, Refusal
from octant.network.files import NetworkFile
from octant.network.traffic import Nodes


def job_nodes(network: NetworkFile, text: str) -> Nodes:
    """Active nodes of the first `2` parts of a machine, or of the parts `0,8` or `4:7`; empty text: of all.

    Parts are what the network's jobs are counted in: supernodes, groups, else nodes, numbered from 0.

    Raises:
        Refusal: no such list, or parts that the machine does not have.
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
            f"cannot put a job on {text[:80]!r} of {network.name} (it has {parts:,} {word}, numbered from 0); "
            f"try --job {min(2, parts)} for the first, or --job 0:{min(1, parts - 1)} for those",
            Exit.WRONG_WORD,
        ) from None
    return nodes


def _checked(part: int, parts: int) -> int:
    if not 0 <= part < parts:
        raise ValueError
    return part
