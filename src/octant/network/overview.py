"""Overview of a traffic on a machine: curve over sizes, load maps, and single failures."""

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
from octant.network.traffic import NAMES, TrafficPattern, make

POLICIES = ("twin", "spread", "detour", "recompute")
MAX_CABLES = 10_000
MAX_NODES = 4096  # of a load map on a page, which contains every link
MAX_LOADED = 65_536  # of a load map that is only summarised or plotted
MAX_RECOMPUTED = 2_500  # cables; each failure needs new routes
MAX_DETOURED = 10_000_000  # pairs of nodes × cables, if `detour` lists the pairs
_SWEPT = 6
_WITH_SUMS = ("direct", "minimal")  # routings for which `detour` does not list the pairs of uniform traffic


@dataclass(frozen=True)
class WorstFailure:
    """The worst single failure of a link class at one size."""

    size: int
    link_class: str
    policy: str
    left: float  # rate over the rate without failures
    link: str
    harmless: float  # share of the cables whose failure does not reduce the rate
    quantiles: dict[str, float]  # of the rates over the rate without failures, if all traffic has a route
    disconnecting: float  # share of the cables whose failure leaves traffic without a route


@dataclass(frozen=True)
class Overview:
    """A traffic on a machine at several sizes. Applications have only a curve, since they use several patterns."""

    network: NetworkFile
    traffic: str
    curve: ScalingCurve
    maps: dict[int, LoadMap]
    failures: tuple[WorstFailure, ...]


def sizes(network: NetworkFile) -> tuple[int, ...]:
    """Return the sizes of an overview: up to a few dozen, or powers, up to the present size of the machine."""
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
    """Return whether a traffic is a single pattern of nodes; HPCC's random ring of all ranks uses a hundred."""
    return traffic in NAMES and not (traffic == "random-ring" and network.endpoint.ranks > 1)


def overview(
    network: NetworkFile,
    traffic: str,
    at: Sequence[int] = (),
    tick: Callable[[str], None] = lambda _: None,
    failures: bool = True,
    job: str = "",
) -> Overview:
    """Solve the traffic at all sizes (`at`, or those of `sizes`), link by link for small networks.

    `job` is the part of the machine with traffic, as `job_nodes` reads it.

    Raises:
        Refusal: the traffic is unknown, the machine cannot have a size, or no link limits the traffic at a size.
    """  # fmt: skip
    chosen_sizes = tuple(at) or sizes(network)
    tick("computing the curve over sizes")
    curve = scale(network, traffic, chosen_sizes, job=job)
    if unlimited := [str(point.size) for point in curve.points if math.isinf(point.rate_per_s)]:
        raise Refusal(
            f"cannot plot {traffic} on {network.name} (no link limits it with {', '.join(unlimited[:5])} "
            f"{curve.size_word}); use other --sizes",
            Exit.WRONG_WORD,
        )
    maps: dict[int, LoadMap] = {}
    for point in curve.points if has_load_map(network, traffic) else ():
        if point.nodes <= (MAX_NODES if failures else MAX_LOADED):
            tick(f"computing loads at {point.size} {curve.size_word}")
            sized = network.at_size(point.size)
            maps[point.size] = load_map(sized, make(sized, traffic, job=job_nodes(sized, job)))
    return Overview(
        network, traffic, curve, maps, tuple(_failures(network, traffic, list(maps), tick)) if failures else ()
    )


def _failures(network: NetworkFile, traffic: str, at: list[int], tick: Callable[[str], None]) -> Iterable[WorstFailure]:
    kind = network.topology.link_classes()[-1]  # the longest links
    swept = [size for size in at if _cables(network, kind, size)]
    wanted = swept[:: max(1, -(-len(swept) // _SWEPT))]
    for size in dict.fromkeys([*wanted, *swept[-1:]]):
        for policy in POLICIES:
            sized = network.at_size(size)
            pattern = make(sized, traffic)
            if _is_too_costly(sized, pattern, kind, policy):
                continue
            tick(f"computing single failures at {size} ({policy})")
            try:
                found = failure_sweep(sized, pattern, kind, policy)
            except Refusal:  # this network does not support the policy
                continue
            left = found.worst_per_s / found.base_per_s
            quantiles = {name: rate / found.base_per_s for name, rate in found.quantiles_per_s.items()}
            harmless, disconnecting = (count / len(found.links) for count in (found.harmless, found.stalling))
            yield WorstFailure(size, kind, policy, left, found.worst_link, harmless, quantiles, disconnecting)


def _is_too_costly(network: NetworkFile, pattern: TrafficPattern, kind: str, policy: str) -> bool:
    """Return whether the failures of a page would take minutes with this policy."""
    count = len(cables(network, kind))
    if policy == "detour" and not (pattern.flows is None and network.routing.name in _WITH_SUMS):
        pairs = len(pattern.active) ** 2 if pattern.flows is None else len(pattern.flows)
        return pairs * count > MAX_DETOURED
    return policy == "recompute" and count > MAX_RECOMPUTED


def _cables(network: NetworkFile, kind: str, size: int) -> bool:
    """Return whether there are cables of this class, and few enough for all single failures."""
    return 0 < len(cables(network.at_size(size), kind)) <= MAX_CABLES
