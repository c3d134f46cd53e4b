"""Everything that the pictures of a machine and a traffic show: the curve, the load maps, and single failures."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from octant.failure import Exit, Refusal
from octant.network.failures import cables, failure_sweep
from octant.network.files import NetworkFile
from octant.network.jobs import job_nodes
from octant.network.loads import LoadMap, load_map
from octant.network.scale import ScalingCurve, scale
from octant.network.topologies import FatTree, Torus
from octant.network.traffic import NAMES, make

POLICIES = ("twin", "spread", "recompute")
MOST_CABLES = 10_000
MOST_NODES = 4096  # of a load map on a page, which holds every link
MOST_LOADED = 65_536  # of one that is only summed up or drawn
MOST_RECOMPUTED = 2_500  # cables; each makes new routes
_SWEPT = 6


@dataclass(frozen=True)
class WorstFailure:
    """The worst single failure of a link class at one size: what it leaves of the rate."""

    size: int
    link_class: str
    policy: str
    left: float  # rate over the healthy rate
    link: str
    harmless: float  # part of all cables whose failure costs nothing


@dataclass(frozen=True)
class Overview:
    """A traffic on a machine from small to large. Applications have a curve only: they are several patterns."""

    network: NetworkFile
    traffic: str
    curve: ScalingCurve
    maps: dict[int, LoadMap]
    failures: tuple[WorstFailure, ...]


def sizes(network: NetworkFile) -> tuple[int, ...]:
    """Sizes worth showing: each of a few dozen, or powers, up to the machine as it stands."""
    shape = network.topology
    most = shape.size()
    if isinstance(shape, Torus):
        sides = range(2, round(most ** (1 / len(shape.sizes))) + 1)
        return tuple(side ** len(shape.sizes) for side in sides) or (most,)
    if isinstance(shape, FatTree):
        return tuple(sorted({*(2**power for power in range(1, most.bit_length()) if 2**power <= most), most}))
    first = 1 if shape.size_word == "supernodes" else 2
    return tuple(range(first, most + 1, -(-most // 64))) if shape.size_word != "nodes" else (most,)


def has_load_map(network: NetworkFile, traffic: str) -> bool:
    """True for a single pattern of nodes; HPCC's random ring of all ranks is a hundred of them."""
    return traffic in NAMES and not (traffic == "random-ring" and network.endpoint.ranks > 1)


def overview(
    network: NetworkFile,
    traffic: str,
    at: Sequence[int] = (),
    tick: Callable[[str], None] = lambda _: None,
    failures: bool = True,
    job: str = "",
) -> Overview:
    """Solves the traffic at all sizes (`at`, or those of `sizes`), link by link where enumeration takes moments.

    `job` is the part of the machine that takes part, as `job_nodes` reads it.

    Raises:
        Refusal: unknown traffic, a size that the machine cannot be built at, or at which nothing limits the traffic.
    """  # fmt: skip
    chosen_sizes = tuple(at) or sizes(network)
    tick("curve against scale")
    curve = scale(network, traffic, chosen_sizes, job=job)
    if unlimited := [str(point.size) for point in curve.points if math.isinf(point.rate_per_s)]:
        raise Refusal(
            f"cannot draw {traffic} on {network.name} (nothing limits it with {', '.join(unlimited[:5])} "
            f"{curve.size_word}); try other --sizes",
            Exit.WRONG_WORD,
        )
    maps: dict[int, LoadMap] = {}
    for point in curve.points if has_load_map(network, traffic) else ():
        if point.nodes <= (MOST_NODES if failures else MOST_LOADED):
            tick(f"loads at {point.size} {curve.size_word}")
            sized = network.at_size(point.size)
            maps[point.size] = load_map(sized, make(sized, traffic, job=job_nodes(sized, job)))
    return Overview(
        network, traffic, curve, maps, tuple(_failures(network, traffic, list(maps), tick)) if failures else ()
    )


def _failures(network: NetworkFile, traffic: str, at: list[int], tick: Callable[[str], None]) -> Iterable[WorstFailure]:
    kind = network.topology.link_classes()[-1]  # the longest: the one that fails
    swept = [size for size in at if _cables(network, kind, size)]
    wanted = swept[:: max(1, -(-len(swept) // _SWEPT))]
    for size in dict.fromkeys([*wanted, *swept[-1:]]):
        for policy in POLICIES:
            if policy == "recompute" and len(cables(network.at_size(size), kind)) > MOST_RECOMPUTED:
                continue
            tick(f"single failures at {size} ({policy})")
            sized = network.at_size(size)
            try:
                found = failure_sweep(sized, make(sized, traffic), kind, policy)
            except Refusal:  # this network knows no such policy
                continue
            left = found.worst_per_s / found.base_per_s
            yield WorstFailure(size, kind, policy, left, found.worst_link, found.harmless / len(found.links))


def _cables(network: NetworkFile, kind: str, size: int) -> bool:
    """True where there are cables of that class, and few enough to let each of them fail."""
    return 0 < len(cables(network.at_size(size), kind)) <= MOST_CABLES
