"""Ring tests of HPC Challenge on the model: latency and bandwidth of an exchange with both neighbours."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from octant import _network
from octant.failure import Exit, Refusal
from octant.network.collectives import MessageCosts, exchange
from octant.network.files import NetworkFile
from octant.network.traffic import Flows, Nodes

LATENCY_BYTES, BANDWIDTH_BYTES = 8, 2_000_000
RINGS = 30
MAX_RINGS = 1000


@dataclass(frozen=True)
class RingTimes:
    """Half the time of an exchange with both neighbours, as in HPC Challenge."""

    order: str  # ordered, random
    rings: int  # number of random rings; results are their geometric means
    latency_s: float  # of 8 bytes in each direction
    bytes_per_s: float  # per rank and direction, with messages of 2,000,000 bytes


def rings(
    network: NetworkFile, nodes: Nodes, costs: MessageCosts, count: int = RINGS, seed: int = 1
) -> list[RingTimes]:
    """Return the results of the ring in rank order, and of random rings (HPCC 1.5, `bench_lat_bw`).

    Args:
        network: the network.
        nodes: the node of every rank, shape (ranks,).
        costs: costs of messages in addition to the links.
        count: number of random rings, which are averaged geometrically.
        seed: seed of the first random ring; the next rings use the next seeds.

    Raises:
        Refusal: there are fewer than two ranks, or a message has no known latency.
    """
    if len(nodes) < 2:
        raise Refusal("a ring needs at least 2 ranks; try --ranks 2", Exit.WRONG_WORD)

    def of(order: str, seeds: Sequence[int]) -> RingTimes:
        short, long = (
            _geometric_mean([_half_time_s(network, nodes, costs, seed, size) for seed in seeds])
            for size in (LATENCY_BYTES, BANDWIDTH_BYTES)
        )
        return RingTimes(order, len(seeds), short, BANDWIDTH_BYTES / long if long else math.inf)

    return [of("ordered", [0]), of("random", range(seed, seed + count))]


def _half_time_s(network: NetworkFile, nodes: Nodes, costs: MessageCosts, seed: int, size: int) -> float:
    sources, targets, units = _network.ring(len(nodes), seed)
    return exchange(network, Flows(sources, targets, units * size), nodes, costs).time_s / 2


def _geometric_mean(values: Sequence[float]) -> float:
    return math.exp(sum(map(math.log, values)) / len(values)) if min(values) > 0 else 0.0
