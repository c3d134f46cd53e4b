"""Functions of the network model for studies. Their arguments are plain values; they return a rate, a share or a time.

If capacities are known as ranges, the result is an interval: its ends are the results with every capacity at the low
and at the high end. Free parameters are treated in the same way.
"""

import functools
import math
from collections.abc import Callable, Mapping

import numpy as np
from msgspec.structs import replace

from octant import _network, catalogue
from octant.failure import Exit, Refusal
from octant.network import collectives
from octant.network.applications import FftForm, FftModel, alltoall_rate, global_fft, pair_experiments
from octant.network.collectives import MessageCosts
from octant.network.failures import failure_sweep
from octant.network.files import NetworkFile, load
from octant.network.scale import scale
from octant.network.solve import engine, solve
from octant.network.traffic import Flows, TrafficPattern, bulk, make, pairs, place
from octant.network.whatif import sized as with_size
from octant.network.whatif import with_routing
from octant.stats import Interval

_DRAWS = 8
"""Number of routes that are sampled per pair: the number of D links between two supernodes of a Power 775."""


def rate(network: str, traffic: str, size: int) -> Interval:
    """Return the rate per node (random ring: per rank; gfft: of the whole system) at a size of the machine."""
    (point,) = scale(load(network), traffic, [size]).points
    return Interval(*sorted((point.low_per_s, point.rate_per_s, point.high_per_s)))


def fft_percent_of_peak(
    network: str, nodes: int, form: FftForm = "paper", points_per_node_lg: float = 30.0
) -> Interval:
    """Return the Global FFT rate in percent of the peak of the system."""
    model = FftModel(form, points_per_node_lg=points_per_node_lg)
    return _at_edges(load(network), lambda sized: 100 * global_fft(sized, nodes, model).of_peak)


def pair_bandwidth(network: str, scenario: str) -> Interval:
    """Return the bidirectional bandwidth of one pair in bytes/s, scenarios (a) to (h) of Worley's BG/P paper, 4.2."""
    return _at_edges(
        load(network), lambda file: next(e.bytes_per_s for e in pair_experiments(file) if e.name == scenario)
    )


def between_two_groups(network: str, routing: str, size: int) -> Interval:
    """Return bytes/s of one pair while all nodes of a group send to the same nodes of another one of `size` groups."""
    sized = with_routing(network, routing, None).at_size(size)
    active = sized.topology.active()
    group = len(active) // size
    traffic = pairs(sized, [(int(active[i]), int(active[group + i]), 1.0) for i in range(group)])
    return _at_edges(sized, lambda file: solve(file, traffic).rate_per_s)


@functools.lru_cache(maxsize=64)  # about ten seconds each, and a study needs a value once per measure and finding
def exchange_rate(
    network: str,
    schedule: str,
    size: int,
    tasks_per_node: int = 32,
    least: int = 4,
    most: int = 16,
    layout: str = "block",
) -> Interval:
    """Return bytes/s of a node in an all-to-all with a schedule, from a packet simulation.

    The number of packets in flight per task is not published for any machine. The ends of the interval are the rates
    with `least` and `most` packets.
    """
    sized = load(network).at_size(size)
    windows = (least, math.isqrt(least * most), most)
    rates = sorted(alltoall_rate(sized, schedule, tasks_per_node, window, layout) for window in windows)
    return Interval(rates[0], rates[1], rates[2])


def collective_time(
    network: str,
    operation: str,
    algorithm: str,
    ranks: int | None = None,
    ranks_per_node: int = 1,
    size: int | None = None,
    bytes_each: int = 8,
    least_overhead_us: float = 1.0,
    most_overhead_us: float = 1.0,
) -> Interval:
    """Return seconds of one collective with one algorithm and block placement, by default on all nodes.

    The ends of the interval are the times with the least and the most software overhead of a message, which is
    published for few machines.
    """
    sized = with_size(load(network), size)
    count = len(sized.topology.active()) * ranks_per_node if ranks is None else ranks
    nodes = place(sized, "block", count, ranks_per_node)
    middle_us = math.sqrt(least_overhead_us * most_overhead_us)
    times = []
    for overhead_us in (least_overhead_us, middle_us, most_overhead_us):
        (program,), _ = collectives.programs(sized, operation, nodes, MessageCosts(1e-6 * overhead_us), algorithm)
        times.append(program.seconds(bytes_each))
    return Interval(times[0], times[1], times[2])


def over_links(network: str, links: int, size: int, injection_times: float = 1.0, failing: bool = False) -> Interval:
    """Return bytes/s of the slowest flow of a shift with this number of links per node; 0: a failure leaves no route.

    Args:
        injection_times: injection and ejection limits of the node over those of the file.
        failing: with the worst single failed port.
    """
    file = load(network)
    topology = replace(file.topology, planes=links)
    sized = replace(file, topology=topology).at_size(size)
    for end in ("injection", "ejection"):
        sized = sized.scaled(end, injection_times)

    def of(one: NetworkFile) -> float:
        traffic = make(one, "shift")
        return failure_sweep(one, traffic, "port").worst_per_s if failing else solve(one, traffic).rate_per_s

    return _at_edges(sized, of)


def halo(network: str, order: str, size: int, ranks_per_node: int, near: bool) -> Interval:
    """Return bytes/s of the slowest flow of a three-dimensional halo exchange, with ranks in a letter order.

    Args:
        near: neighbours in the grid are neighbours in rank order; otherwise the ranks are shuffled.
    """
    sized = load(network).at_size(size)
    ranks = size * ranks_per_node
    node_of_rank = place(sized, order, ranks, ranks_per_node)
    if not near:
        node_of_rank = np.random.default_rng(1).permutation(node_of_rank)
    edge = round(ranks ** (1 / 3))
    shape = [edge, edge, ranks // edge**2]
    if shape[0] * shape[1] * shape[2] != ranks:
        raise Refusal(f"{ranks} ranks do not form a nearly cubic grid; try a multiple of a cube", Exit.WRONG_WORD)
    flows = Flows(*_network.halo(shape, True)).placed(node_of_rank)
    traffic = TrafficPattern("halo", "B", bulk(sized), np.unique(node_of_rank), flows, per="flow")
    return _at_edges(sized, lambda file: solve(file, traffic).rate_per_s)


@functools.lru_cache(maxsize=64)
def _hops(network: str, routing: str, size: int) -> frozenset[int]:
    """Return the route lengths in links, from the nodes of one part; the other parts are equivalent."""
    sized = with_routing(network, routing, None).at_size(size)
    topology = sized.build()
    routes = engine(sized, topology)
    nodes = [int(node) for node in sized.topology.active()]
    sources = [node for node in nodes if node < sized.topology.nodes_per_part()]
    return frozenset(
        sum(link >= topology.fabric for link in routes.path(source, target, draw))
        for source in sources
        for target in nodes
        if source != target
        for draw in range(_DRAWS)
    )


def most_hops(network: str, routing: str, size: int) -> float:
    """Return the number of links on the longest route, in a machine of this size."""
    return max(_hops(network, routing, size))


def hop_classes(network: str, routing: str, size: int) -> float:
    """Return the number of different route lengths, which is the number of latency classes."""
    return len(_hops(network, routing, size))


def _rate_calibrated_on(network: str, traffic: str, size: int) -> tuple[str, ...]:
    return load(network).calibrated_on(traffic, size)


def _over_links_calibrated_on(
    network: str, links: int, size: int, injection_times: float = 1.0, failing: bool = False
) -> tuple[str, ...]:
    """Return the calibration of a node without failures; it does not depend on the size of the machine."""
    del size, injection_times
    return () if failing else load(network).calibrated_on("one-way", links)


def _at_edges(network: NetworkFile, of: Callable[[NetworkFile], float]) -> Interval:
    middle = of(network)
    values = (middle, of(network.at_edge("low")), of(network.at_edge("high")))
    return Interval(min(values), middle, max(values))


def published_over_peak(system: str, benchmark: str) -> Interval | str:
    """Return a published result over the peak: HPL and Global FFT in percent, others in bytes or updates/s per Gflop/s.

    For the K computer, the document contains only two-digit ratios to the Power 775; the interval includes their
    rounding. A text states why there is no result.
    """
    own = {row.metric: row.value or 0.0 for row in catalogue.results()["p775-full-system"].observations}
    peak_gflops = own["peak"] * 1e6
    fft = 100 * own["gfft"] * 1e3 / peak_gflops
    ratios = {row.metric: row.value or 0.0 for row in catalogue.results()["p775-gfft-scaling"].observations}
    (bgq,) = catalogue.results()["p775-gups-scaling"].find("gups", {"machine": "bgq-hpcc"})
    bgq_gflops = float(catalogue.machines()["bgq-hpcc"].others["peak_pflops_system"]) * 1e6
    faster, larger, half = ratios["gfft_ratio"], ratios["peak_ratio"], 0.05  # half of the last digit
    least, most = (faster - half) / (larger + half), (faster + half) / (larger - half)
    known = {
        **{("power575", name): _sure(value) for name, value in _power575_over_peak().items()},
        ("power775", "RandomAccess"): _sure(own["random_access"] * 1e9 / peak_gflops),
        ("power775", "PTRANS"): _sure(own["ptrans"] * 1e12 / peak_gflops),
        ("power775", "Global FFT"): _sure(fft),
        ("bgq", "RandomAccess"): _sure((bgq.value or 0.0) * 1e9 / bgq_gflops),
        ("k", "Global FFT"): Interval(fft * least, fft * faster / larger, fft * most),
    }
    return known.get((system, benchmark), "no published value")


def published_value(system: str, table: str, metric: str, scale: float = 1.0, baseline: str = "") -> Interval | str:
    """Return the value of a machine in a table of the catalogue, in base units; 1 for the baseline.

    The metric `clock` is read from the entry of the machine. A text states why there is no value.
    """
    if metric == "clock":
        clock_ghz = catalogue.machines()[system].clock_ghz
        return "no published value" if clock_ghz is None else _sure(clock_ghz * 1e9)
    if system == baseline:
        return _sure(1.0)
    rows = [row for row in catalogue.results()[table].find(metric, {"machine": system}) if row.value is not None]
    return _sure((rows[0].value or 0.0) * scale) if len(rows) == 1 else "no published value"


def _power575_over_peak() -> dict[str, float]:
    """Return the results of the largest cluster of the table (64 nodes) over its peak."""
    rows = catalogue.results()["p6-hpcc-scaling"]
    nodes = 64
    assumed = catalogue.machines()["power575"].others["assumed"]
    peak_gflops = float(assumed["peak_gflops_per_node"]) * nodes

    def of(metric: str) -> float:
        (row,) = rows.find(metric, {"nodes": str(nodes)})
        return (row.value or 0.0) / peak_gflops

    return {
        "HPL": 100 * of("hpl"),
        "PTRANS": 1e9 * of("ptrans"),
        "RandomAccess": 1e9 * of("random_access"),
        "Global FFT": 100 * of("mpifft"),
    }


def _sure(value: float) -> Interval:
    return Interval(value, value, value)


MODELS: Mapping[str, Callable[..., float | Interval | str]] = {
    "rate": rate,
    "fft_percent_of_peak": fft_percent_of_peak,
    "pair_bandwidth": pair_bandwidth,
    "between_two_groups": between_two_groups,
    "exchange_rate": exchange_rate,
    "collective": collective_time,
    "over_links": over_links,
    "halo": halo,
    "most_hops": most_hops,
    "hop_classes": hop_classes,
    "normalised": published_over_peak,
    "published": published_value,
}
"""Functions that study files may use, by name."""

CALIBRATED_ON: Mapping[str, Callable[..., tuple[str, ...]]] = {
    "rate": _rate_calibrated_on,
    "over_links": _over_links_calibrated_on,
}
"""For the same arguments: the values of the network file that were calibrated with the published value."""
