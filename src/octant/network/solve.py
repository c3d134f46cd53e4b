"""Solution of traffic patterns on networks with the native engine."""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from octant import _network
from octant.failure import Exit, Refusal, suggestion
from octant.network.files import NetworkFile
from octant.network.predictions import Bottleneck, Bound, FlowRates, Prediction
from octant.network.topologies import Dragonfly, TwoLevelDirect
from octant.network.traffic import Nodes, TrafficPattern

Solver = Literal["auto", "class", "enumeration", "max-min", "fluid", "queue", "soft", "packets"]
SOLVERS: tuple[Solver, ...] = ("auto", "class", "enumeration", "max-min", "fluid", "queue", "soft", "packets")
MAX_IN_FLIGHT = 2**20
"""Maximum number of packets in flight per sender."""
_NOTHING = np.empty(0)


def solver_named(word: str) -> Solver:
    """Return the solver with this name.

    Raises:
        Refusal: the solver is unknown.
    """
    for solver in SOLVERS:
        if solver == word:
            return solver
    raise Refusal(f"unknown solver {word!r}; {suggestion(word, SOLVERS)}", Exit.WRONG_WORD)


@dataclass(frozen=True)
class SolverSettings:
    """Parameters of the solvers."""

    window: int | None = None  # packets in flight; `None`: that of the machine
    exponent: float = 8.0  # of the soft minimum
    packets: int = 5000  # per node, in the packet simulation of uniform traffic
    units_per_packet: float | None = None
    seed: int = 1
    in_order: bool = False  # in the packet simulation, a sender processes the flows of one job sequentially
    every_link: bool = False  # return the load of every link, not only of classes


DEFAULTS = SolverSettings()
FLOW_BYTES = 2.0**20
"""Default payload of every flow of a named pattern in the packet simulation."""


def flow_bytes(requested: float | None, solver: Solver) -> float:
    """Return the payload of every flow: as given, or 1 MiB for packets. Other solvers do not depend on it."""
    return requested or (FLOW_BYTES if solver == "packets" else 1.0)


def engine(
    network: NetworkFile, topology: _network.Topology, scale: NDArray[np.float64] = _NOTHING
) -> _network.Network:
    """Return the topology with the routing of the file; `scale`, shape (links,), is the share left of each link."""
    words = network.routing
    numbers = {"split_ties": float(words.split_ties), "with_direct": float(words.with_direct)}
    try:
        return _network.Network(topology, words.name, words.policy, numbers, list(words.order), scale)
    except _network.UnknownWord as error:
        why, word, known = error.args
        raise Refusal(f"{why}; {suggestion(word, known)}", Exit.WRONG_WORD) from error
    except ValueError as error:
        raise Refusal(str(error), Exit.WRONG_WORD) from error


def solve(
    network: NetworkFile,
    pattern: TrafficPattern,
    solver: Solver = "auto",
    settings: SolverSettings = DEFAULTS,
    scale: NDArray[np.float64] = _NOTHING,
) -> Prediction:
    """Return rate, time, loads and ranked bottlenecks of a pattern.

    `auto` computes loads by class if the routing permits, otherwise by enumeration. Both are exact for static loads and
    give an upper bound of the rate. Therefore the result contains the closed-queue rate for the window of the machine
    as its `bound`.

    Raises:
        Refusal: the solver does not support the network, the pattern or the routing.
    """
    if settings.window is not None and not 1 <= settings.window <= MAX_IN_FLIGHT:
        raise Refusal(
            f"a window of {settings.window} packets is out of range; try --window 1 to {MAX_IN_FLIGHT}",
            Exit.WRONG_WORD,
        )
    if not pattern.units_per_round > 0:
        raise Refusal(
            f"all flows of {pattern.name} are empty; use flows of at least 1 byte",
            Exit.WRONG_WORD,
        )
    topology = network.build()
    routed = engine(network, topology, scale)
    if solver == "queue" and pattern.flows is not None:
        raise Refusal(
            "the queue solver needs uniform traffic, not a list of flows; try --solver packets",
            Exit.WRONG_WORD,
        )
    if solver in ("auto", "queue", "soft"):
        native = exact(routed, pattern, settings.every_link)
    else:
        native = _run(routed, pattern, solver, settings, network)
    answer = _answer(network, topology, pattern, native)
    if solver == "soft":
        soft = _network.soft_minimum(native, settings.exponent)
        hard = Bound(answer.solver, answer.rate_per_s)
        return replace(_with_rate(answer, f"soft minimum (exponent {settings.exponent:g})", soft, pattern), bound=hard)
    if pattern.flows is not None or solver not in ("auto", "class", "enumeration", "queue"):
        return answer
    queue = _queue(routed, native, pattern, network, settings)
    window = settings.window or network.window(pattern.name)
    if solver == "queue":
        return replace(
            _with_rate(answer, f"closed queue (window {window})", queue, pattern),
            bound=Bound(answer.solver, answer.rate_per_s),
        )
    return replace(answer, bound=Bound(f"closed queue (window {window})", queue))


def exact(routed: _network.Network, pattern: TrafficPattern, every_link: bool = False) -> _network.Solution:
    """Compute static loads by class if the routing permits, otherwise by enumeration; `every_link`: link by link.

    Raises:
        Refusal: there is no route, or enumeration would take too long.
    """
    try:
        return routed.exactly(pattern.native(), pattern.shape, every_link)
    except ValueError as error:
        raise Refusal(str(error), Exit.WRONG_WORD) from error


def _run(
    routed: _network.Network, pattern: TrafficPattern, solver: Solver, settings: SolverSettings, network: NetworkFile
) -> _network.Solution:
    traffic, shape = pattern.native(), pattern.shape
    try:
        match solver:
            case "class":
                return routed.by_class(traffic, shape)
            case "enumeration":
                return routed.enumerate(traffic, shape)
            case "max-min":
                return routed.max_min(traffic, shape)
            case "fluid":
                return routed.fluid(traffic, shape)
            case "packets":
                window = settings.window or network.window(pattern.name)
                each = settings.units_per_packet or (1 / pattern.cost.packets if pattern.cost.packets else 1.0)
                count, seed, in_order = settings.packets, settings.seed, settings.in_order
                return routed.packets(traffic, shape, each, window, count, seed, in_order, -1, 0, 0, 0, 1)[0]
    except ValueError as error:
        raise Refusal(str(error), Exit.WRONG_WORD) from error
    raise Refusal(f"unknown solver {solver!r}; {suggestion(solver, SOLVERS)}", Exit.WRONG_WORD)


def _queue(
    routed: _network.Network,
    native: _network.Solution,
    pattern: TrafficPattern,
    network: NetworkFile,
    settings: SolverSettings,
) -> float:
    """Return rounds per second of uniform traffic with the window of packets in flight per sender."""
    window = settings.window or network.window(pattern.name)
    per_packet = 1 / pattern.cost.packets if pattern.cost.packets else 1.0
    # The engine counts packets in flight in units of the loads: packets × units per packet.
    packet = _network.UnitCost(
        pattern.cost.payload_bytes * per_packet, pattern.cost.wire_bytes * per_packet, pattern.cost.packets * per_packet
    )
    return routed.closed_queue(native, packet, len(pattern.active), window) * per_packet


def _answer(
    network: NetworkFile, topology: _network.Topology, pattern: TrafficPattern, native: _network.Solution
) -> Prediction:
    names = network.class_names
    units = pattern.units_per_round
    tightest = min((b.rounds_per_s for b in native.bottlenecks), default=0.0)
    bottlenecks = tuple(
        Bottleneck(
            link_class=names[b.link_class],
            link=topology.name(b.link),
            resource="packets" if b.packets else "bytes",
            load=b.load,
            capacity_per_s=b.capacity,
            rate_per_s=b.rounds_per_s * units,
            headroom=b.rounds_per_s / tightest if tightest > 0 else float("inf"),
            links=round(b.links),
        )
        for b in native.bottlenecks
    )
    rounds = native.rounds_per_s
    return Prediction(
        network=network.name,
        pattern=pattern.name,
        unit=pattern.unit,
        per=network.node if pattern.per == "node" else pattern.per,
        solver=native.solver,
        rate_per_s=rounds * units,
        time_s=1 / rounds if rounds > 0 else float("inf"),
        bottlenecks=bottlenecks,
        stalled=native.stalled,
        loads=native.loads,
        rates=native.rates,
        flow_rates=_flow_rates(pattern, native.rates),
        units_each=units,
        notes=_notes(network, pattern),
    )


def _ends(pattern: TrafficPattern) -> tuple[Nodes, Nodes]:
    """Return senders and receivers of all flows, in the order of the engine."""
    if pattern.flows is None:
        everyone = pattern.active
        return np.repeat(everyone, len(everyone)), np.tile(everyone, len(everyone))
    return pattern.flows.sources, pattern.flows.targets


def _flow_rates(pattern: TrafficPattern, rates: NDArray[np.float64]) -> FlowRates | None:
    """Return statistics of the rates of all flows; `None`: the solver gives none, or no flow crosses the network."""
    if not rates.size:
        return None
    sources, targets = _ends(pattern)
    crosses = sources != targets
    if pattern.flows is not None:
        crosses &= pattern.flows.units > 0
    of = rates[crosses]
    if not of.size:
        return None
    low, *quartiles, high = (float(q) for q in np.quantile(of, [0.0, 0.25, 0.5, 0.75, 1.0], method="lower"))
    each = np.where(crosses, rates, np.nan)
    return FlowRates(
        of.size,
        int(np.sum(sources == targets)),
        low,
        (quartiles[0], quartiles[1], quartiles[2]),
        float(of.mean()),
        high,
        each,
    )


def _notes(network: NetworkFile, pattern: TrafficPattern) -> tuple[str, ...]:
    """Return remarks about the topology, about flows within nodes, and about an unavailable routing."""
    found = list(network.topology.notes())
    if pattern.flows is not None and (inside := int(np.sum(pattern.flows.sources == pattern.flows.targets))):
        found.append(f"{inside:,} of {len(pattern.flows):,} flows are within a node and do not cross the network")
    if detour := no_detour(network):
        found.append(detour)
    return tuple(found)


def no_detour(network: NetworkFile) -> str:
    """Return a remark if a routing needs a third supernode or group, and the machine has none."""
    shape, name = network.topology, network.routing.name
    if not (name == "indirect" and isinstance(shape, TwoLevelDirect)) and not (
        name == "valiant" and isinstance(shape, Dragonfly)
    ):
        return ""
    built = shape.nodes() // shape.nodes_per_part()
    if built > 2:
        return ""
    word = shape.size_word
    return (
        f"{name} routes need at least three {word}; with {built}, all routes are direct "
        f"(for a job on {built} of a larger machine, use a larger size and --job {built})"
    )


def _with_rate(answer: Prediction, solver: str, rounds_per_s: float, pattern: TrafficPattern) -> Prediction:
    rate = rounds_per_s * pattern.units_per_round
    return replace(
        answer, solver=solver, rate_per_s=rate, time_s=1 / rounds_per_s if rounds_per_s > 0 else float("inf")
    )
