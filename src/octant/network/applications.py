"""Applications on the model: HPCC Global FFT and random ring, message experiments of Blue Gene/P, and all-to-all."""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from msgspec.structs import replace

from octant import _network
from octant.failure import Exit, Refusal, suggestion
from octant.network.files import NetworkFile
from octant.network.solve import SolverSettings, engine, solve
from octant.network.topologies import Torus, TwoLevelDirect
from octant.network.traffic import Flows, TrafficCost, TrafficPattern, bulk, make, place

FftForm = Literal["paper", "consistent"]


@dataclass(frozen=True)
class FftModel:
    """Parameters of the six-step FFT: transposes at `bandwidth`, row FFTs at `efficiency` × `peak`.

    The form of the paper assigns 5 n lg n flops to each of the two compute phases. They execute 2.5 n lg n each, so
    that its efficiency of 0.30 is an effective value. The consistent form uses the executed flops, with an efficiency
    of 0.14 to 0.17.
    """

    form: FftForm = "paper"
    peak_flops: float = 982e9
    efficiency: float | None = None
    points_per_node_lg: float = 30.0

    def rate(self, nodes: int, bandwidth_bytes_per_s: float) -> float:
        """Return flop/s of the whole system (The Power 775 Architecture at Scale, section 4.3)."""
        compute = {"paper": 10.0, "consistent": 5.0}[self.form]
        efficiency = self.efficiency or {"paper": 0.30, "consistent": 0.155}[self.form]
        flops = efficiency * self.peak_flops
        lg_n = self.points_per_node_lg + math.log2(nodes)
        b = bandwidth_bytes_per_s
        return nodes * 5 * lg_n * b * flops / (48 * flops + compute * b * lg_n)

    def of_peak(self, nodes: int, bandwidth_bytes_per_s: float) -> float:
        """Return the share of the peak of the system."""
        return self.rate(nodes, bandwidth_bytes_per_s) / (nodes * self.peak_flops)


@dataclass(frozen=True)
class FftPoint:
    """Global FFT at one size."""

    nodes: int
    flops: float
    of_peak: float
    bandwidth_bytes_per_s: float
    form: FftForm


PAPER_FFT = FftModel()


def global_fft(network: NetworkFile, nodes: int, model: FftModel = PAPER_FFT) -> FftPoint:
    """Predict HPCC Global FFT; each transpose has the rate of PTRANS on the network at that size."""
    sized = network
    if isinstance(network.topology, TwoLevelDirect):
        per_supernode = network.topology.drawers * network.topology.octants - len(network.topology.holes)
        sized = network.at_size(max(1, math.ceil(nodes / per_supernode)))
    bandwidth = solve(sized, make(sized, "ptrans")).rate_per_s
    return FftPoint(nodes, model.rate(nodes, bandwidth), model.of_peak(nodes, bandwidth), bandwidth, model.form)


@dataclass(frozen=True)
class RingPoint:
    """HPCC random ring at one size, per rank."""

    nodes: int
    bytes_per_s: float  # including the empirical factor of the machine, if any
    ideal_bytes_per_s: float
    factor: float
    rings: int


def random_ring(
    network: NetworkFile, nodes: int, rings: int = 100, message_bytes: float = 2e6, seed: int = 1
) -> RingPoint:
    """Predict the random ring bandwidth of HPCC: message size over half the time of an exchange with both neighbours.

    Every ring is a random order of all ranks. Its time is that of the slowest link, and rings are averaged
    geometrically. HPCC uses 30 rings; the model uses more, so that its statistical error is at most one or two percent.
    """
    ranks_per_node = network.endpoint.ranks
    sized = network.at_size(nodes)
    ranks = nodes * ranks_per_node
    if ranks < 2:
        raise Refusal("a ring needs at least 2 ranks; use more nodes", Exit.WRONG_WORD)
    node_of_rank = place(sized, "block", ranks, ranks_per_node)
    traffics = []
    for ring in range(rings):
        sources, targets, units = _network.ring(ranks, seed + ring)
        flows = Flows(sources, targets, units * message_bytes).placed(node_of_rank)
        traffics.append(TrafficPattern("random-ring", "B", bulk(sized), sized.topology.active(), flows).native())
    routed = engine(sized, sized.build())
    shape = TrafficPattern("random-ring", "B", bulk(sized), sized.topology.active()).shape
    times_s = 1 / np.array(routed.each(traffics, shape))
    ideal = math.exp(float(np.mean(np.log(message_bytes / (times_s / 2)))))
    residual = network.residual.get("random-ring")
    factor = residual.factor(nodes) if residual else 1.0
    return RingPoint(nodes, ideal * factor, ideal, factor, rings)


@dataclass(frozen=True)
class Experiment:
    """One of the message experiments of Worley's BG/P paper, section 4.2: bandwidth of one of several active pairs."""

    name: str
    sizes: tuple[int, int, int]
    ranks_per_node: int
    pairs: int
    load: float  # process flows on the most loaded link direction (or within the node)
    bytes_per_s: float  # both directions of one pair


def pair_experiments(network: NetworkFile) -> tuple[Experiment, ...]:
    """Return the bidirectional bandwidth per pair in (a) to (h) of Blue Gene/P's Figure 9, with the file's routing."""
    if not isinstance(network.topology, Torus) or len(network.topology.sizes) != 3:
        raise Refusal(
            "the pair experiments need a torus or mesh with three dimensions; try the network bgp",
            Exit.WRONG_WORD,
        )
    # name, sizes, ranks per node, number of pairs, distance of partners, second half numbered backwards
    plan: tuple[tuple[str, tuple[int, int, int], int, int, int, bool], ...] = (
        ("a", (1, 1, 1), 4, 1, 2, False),
        ("b", (1, 1, 1), 4, 2, 2, False),
        ("c", (2, 1, 1), 1, 1, 1, False),
        ("d", (2, 1, 1), 2, 2, 2, False),
        ("e", (2, 1, 1), 4, 4, 4, False),
        ("f", (4, 1, 1), 4, 8, 8, False),
        ("g", (4, 4, 4), 4, 128, 128, False),
        ("h", (4, 4, 4), 4, 128, 128, True),
    )
    return tuple(_experiment(network, *row) for row in plan)


def _experiment(
    network: NetworkFile,
    name: str,
    sizes: tuple[int, int, int],
    per_node: int,
    pairs: int,
    distance: int,
    inverse: bool,
) -> Experiment:
    shape = replace(network.topology, sizes=sizes)
    sized = replace(network, topology=shape)
    ranks = math.prod(sizes) * per_node
    node_of_rank = place(sized, "TXYZ", ranks, per_node)
    if inverse:  # the nodes of the second half, in opposite order
        nodes = math.prod(sizes)
        order = np.arange(nodes, dtype=np.int32)
        order[nodes // 2 :] = order[nodes // 2 :][::-1]
        node_of_rank = order[node_of_rank]
    low = np.arange(pairs, dtype=np.int32)
    high = low + np.int32(distance)
    flows = Flows(np.concatenate([low, high]), np.concatenate([high, low]), np.ones(2 * pairs)).placed(node_of_rank)
    answer = solve(
        sized, TrafficPattern(f"pairs ({name})", "B", bulk(sized), np.unique(node_of_rank), flows, per="flow")
    )
    tightest = answer.bottlenecks[0]
    return Experiment(name, sizes, per_node, pairs, tightest.load, 2 * answer.rate_per_s)


def alltoall_rate(
    network: NetworkFile, schedule: str, tasks_per_node: int = 32, window: int = 8, layout: str = "block"
) -> float:
    """Return bytes/s of a node in an all-to-all, simulated packet by packet with one window per task.

    Task p's i-th partner is i (`linear`), p + i (`ring`), or P_p × i (`prime-stride`), modulo the number of tasks, P_p
    a prime of its own that is prime to that number (The Power 775 Architecture at Scale, section 4.3). Blocks of 1,024
    bytes travel with 128 bytes of overhead.

    Args:
        network: the network.
        schedule: `linear`, `ring` or `prime-stride`.
        tasks_per_node: number of tasks on every node.
        window: packets in flight per task.
        layout: tasks of a node: neighbours (`block`) or a random choice (`random`).

    Raises:
        Refusal: the schedule or layout is unknown, or the number of tasks is out of range.
    """
    active = network.topology.active()
    tasks = len(active) * tasks_per_node
    if tasks < 2 or tasks_per_node > 2**16 or tasks > 4096:
        raise Refusal(f"the number of tasks is 2 to 4096, not {tasks}; use another --size", Exit.WRONG_WORD)
    if schedule not in (known := ("linear", "ring", "prime-stride")):
        text = f"unknown schedule {schedule!r} of an all-to-all; {suggestion(schedule, known)}"
        raise Refusal(text, Exit.WRONG_WORD)
    if layout not in (layouts := ("block", "random")):
        text = f"unknown layout {layout!r} of tasks; {suggestion(layout, layouts)}"
        raise Refusal(text, Exit.WRONG_WORD)
    task, turn = np.meshgrid(np.arange(tasks), np.arange(tasks), indexing="ij")
    partner = {"linear": turn, "ring": (task + turn) % tasks}.get(schedule)
    if partner is None:
        partner = np.array(_coprime_primes(tasks))[:, None] * turn % tasks
    chosen = partner != task
    seat = np.random.default_rng(1).permutation(tasks) if layout == "random" else np.arange(tasks)
    sources, targets = seat[task[chosen]], seat[partner[chosen]]
    flows = Flows(
        active[sources // tasks_per_node],
        active[targets // tasks_per_node],
        np.full(len(sources), 1024.0),
        (sources % tasks_per_node).astype(np.uint16),
    )
    pattern = TrafficPattern("ptrans", "B", TrafficCost(1.0, 1152 / 1024, 1 / 1024), active, flows, per="flow")
    answer = solve(network, pattern, "packets", SolverSettings(window=window, units_per_packet=1024, in_order=True))
    return float(flows.units.sum()) / len(active) / answer.time_s


def _coprime_primes(count: int) -> list[int]:
    """Return the first `count` primes that do not divide `count`."""
    found: list[int] = []
    candidate = 2
    while len(found) < count:
        if count % candidate and all(candidate % d for d in range(2, math.isqrt(candidate) + 1)):
            found.append(candidate)
        candidate += 1
    return found
