"""Predictions of the tests of all ranks on a described machine, with its published values."""

import math
from dataclasses import replace

import numpy as np

from octant.benchmarks.described import OnSystem, PublishedNodeValue, System
from octant.failure import Exit, Refusal
from octant.network.applications import global_fft
from octant.network.collectives import FREE
from octant.network.files import NetworkFile
from octant.network.published_points import PublishedPoint, published_points
from octant.network.rings import rings
from octant.network.scale import ScalePoint, scale
from octant.stats import Interval
from octant.units import counted

RINGS = 10
NEAR = 1.1
"""Largest factor between the requested size and a published size that is shown with it, per node."""
TITLES = {
    "ptrans": "PTRANS",
    "randomaccess": "G-RandomAccess",
    "gfft": "G-FFT",
    "random-ring": "random ring, per rank",
}
"""Names of the tests, by traffic pattern."""


def on_system(network: NetworkFile, nodes: int) -> System:
    """Predict the tests that the network limits, on a number of nodes of a described machine.

    Raises:
        Refusal: more nodes than the machine can have, or fewer than two.
    """
    if nodes < 2:
        raise Refusal(f"cannot use --nodes {nodes} (messages need two nodes); try --nodes 2", Exit.WRONG_WORD)
    per_size = len(network.topology.active()) / network.topology.size()
    size = max(1, math.ceil(nodes / per_size - 1e-9))
    answers, left_out = [], ["HPL: limited by computation, not by the network"]
    for test in TITLES:
        if test == "gfft" and "gfft" not in network.published:
            left_out.append("G-FFT: the node peak is known only for the Power 775")
        else:
            answers.append(_answer(network, test, nodes, size))
    assumptions = [f"only the network of {network.name} limits the rates (G-FFT: also the computation of its rows)"]
    if (word := network.topology.size_word) != "nodes":
        assumptions.append(f"the rate of the slowest node among {size:,} {word}, multiplied by {nodes:,} nodes")
    if any(one.test == "gfft" for one in answers):
        assumptions.append(
            "G-FFT: 2^30 numbers per node; rows are computed at 30 % of a peak of 982 Gflop/s (as in the paper)"
        )
    assumptions.append(f"random ring: {counted(network.endpoint.ranks, 'rank')} per node")
    return System(network.name, tuple(answers), tuple(left_out), tuple(assumptions))


def _answer(network: NetworkFile, test: str, nodes: int, size: int) -> OnSystem:
    if test == "gfft":
        return _fft(network, nodes)
    if test == "random-ring":
        return _ring(network, nodes, size)
    (point,) = scale(network, test, [size]).points
    ends = sorted((point.low_per_s, point.rate_per_s, point.high_per_s))
    known = _nearest(published_points(network, test), size, network.topology.size_word)
    note = ""
    if test == "randomaccess" and "packets" not in point.resource:
        note = "upper bound: the network file states no packet rate"
    per_s = Interval(*(end * nodes for end in ends))
    return _on_system(test, nodes, _unit(point), per_s, _limit(point), known, note)


def _fft(network: NetworkFile, nodes: int) -> OnSystem:
    values = [global_fft(one, nodes).flops for one in (network.at_edge("low"), network, network.at_edge("high"))]
    known = published_points(network, "gfft")
    published = _nearest({size: replace(one, value=one.value / size) for size, one in known.items()}, nodes, "nodes")
    return _on_system("gfft", nodes, "flop/s", Interval(*sorted(values)), "transposes and rows", published)


def _ring(network: NetworkFile, nodes: int, size: int) -> OnSystem:
    if network.endpoint.ranks > 1:
        (point,) = scale(network, "random-ring", [size]).points
        ends = sorted((point.low_per_s, point.rate_per_s, point.high_per_s))
        known = _nearest(published_points(network, "random-ring"), size, network.topology.size_word)
        return _on_system("random-ring", nodes, "B/s", Interval(*ends), _limit(point), known, point.solver)
    values = []
    for one in (network.at_edge("low"), network, network.at_edge("high")):
        sized = one.at_size(size)
        seats = np.asarray(sized.topology.active(), dtype=np.int32)
        values.append(rings(sized, seats[:nodes], FREE, RINGS)[1].bytes_per_s)
    return _on_system("random-ring", nodes, "B/s", Interval(*sorted(values)), "the network")


def _on_system(
    test: str,
    nodes: int,
    unit: str,
    per_s: Interval,
    limited_by: str,
    published: PublishedNodeValue | None = None,
    note: str = "",
) -> OnSystem:
    parts = 1 if test == "random-ring" else nodes
    return OnSystem(test, nodes, unit, per_s, limited_by, published, note, title=TITLES[test], parts=parts)


def _unit(point: ScalePoint) -> str:
    return point.unit.partition(" per ")[0]


def _limit(point: ScalePoint) -> str:
    return f"{point.bottleneck} ({point.resource})" if point.resource else point.bottleneck


def _nearest(known: dict[int, PublishedPoint], size: int, word: str) -> PublishedNodeValue | None:
    near = min(known, key=lambda one: abs(math.log(one / size)), default=None)
    if near is None or not 1 / NEAR <= near / size <= NEAR:
        return None
    one = known[near]
    return PublishedNodeValue(one.value, f"{near:,} {word}", one.derived, one.calibrated)
