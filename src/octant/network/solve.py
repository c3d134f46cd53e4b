"""Asks the native engine: a network, a pattern, a solver; one type of answer."""

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
MOST_IN_FLIGHT = 2**20
"""Packets per sender."""
_NOTHING = np.empty(0)


def solver_named(word: str) -> Solver:
    """The solver of that name.

    Raises:
        Refusal: no such solver.
    """
    for solver in SOLVERS:
        if solver == word:
            return solver
    raise Refusal(f"cannot solve with {word!r} (no such solver); {suggestion(word, SOLVERS)}", Exit.WRONG_WORD)


@dataclass(frozen=True)
class SolverSettings:
    """Numbers that some solvers need."""

    window: int | None = None  # packets in flight; the machine's own where None
    exponent: float = 8.0  # of the soft minimum
    packets: int = 5000  # per node, in the packet simulation of uniform traffic
    units_per_packet: float | None = None
    seed: int = 1
    in_order: bool = False  # in the packet simulation, a sender's flows of one job go one after the other
    every_link: bool = False  # the answer has the load of every link, not only of classes


DEFAULTS = SolverSettings()
FLOW_BYTES = 2.0**20
"""Payload of every flow of a named pattern in the packet simulation, unless it is given."""


def flow_bytes(routed: float | None, solver: Solver) -> float:
    """Payload of every flow: as asked, else 1 MiB for packets; the rate of the other solvers does not depend on it."""
    return routed or (FLOW_BYTES if solver == "packets" else 1.0)


def engine(
    network: NetworkFile, topology: _network.Topology, scale: NDArray[np.float64] = _NOTHING
) -> _network.Network:
    """The topology with the file's routing; `scale`, shape (links,), is what is left of each link."""
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
    """Rate, time, loads and ranked bottlenecks of a pattern.

    `auto` counts by class where the routing allows, else enumerates; both are exact for the static loads and give an
    upper bound of the rate, so the answer carries the closed-queue rate of the machine's window as its `bound`.

    Raises:
        Refusal: the solver does not fit the network, the pattern or the routing.
    """
    if settings.window is not None and not 1 <= settings.window <= MOST_IN_FLIGHT:
        raise Refusal(
            f"cannot keep {settings.window} packets in flight; try --window 1 to {MOST_IN_FLIGHT}", Exit.WRONG_WORD
        )
    if not pattern.units_per_round > 0:
        raise Refusal(
            f"cannot send nothing ({pattern.name} has no flow of any bytes); try flows of 1 byte or more",
            Exit.WRONG_WORD,
        )
    topology = network.build()
    routed = engine(network, topology, scale)
    if solver == "queue" and pattern.flows is not None:
        raise Refusal(
            "cannot queue a list of flows in a closed network (it needs uniform traffic); try --solver packets",
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
    """Static loads by class where the routing allows, else by enumeration; with `every_link`, link by link.

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
    raise Refusal(f"cannot solve with {solver!r} (no such solver); {suggestion(solver, SOLVERS)}", Exit.WRONG_WORD)


def _queue(
    routed: _network.Network,
    native: _network.Solution,
    pattern: TrafficPattern,
    network: NetworkFile,
    settings: SolverSettings,
) -> float:
    """Rounds per second of uniform traffic, with the window's packets in flight per sender."""
    window = settings.window or network.window(pattern.name)
    per_packet = 1 / pattern.cost.packets if pattern.cost.packets else 1.0
    # The engine counts what is in flight in units of the loads: packets × units per packet.
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
    """Senders and receivers of all flows, in the engine's order."""
    if pattern.flows is None:
        everyone = pattern.active
        return np.repeat(everyone, len(everyone)), np.tile(everyone, len(everyone))
    return pattern.flows.sources, pattern.flows.targets


def _flow_rates(pattern: TrafficPattern, rates: NDArray[np.float64]) -> FlowRates | None:
    """What the rates of all flows come to; `None` where a solver gives none, or no flow crosses the network."""
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
    """What the shape leaves uneven, flows that stay inside a node, and a routing that has no ways at this size."""
    found = list(network.topology.notes())
    if pattern.flows is not None and (inside := int(np.sum(pattern.flows.sources == pattern.flows.targets))):
        found.append(f"{inside:,} of {len(pattern.flows):,} flows stay inside their nodes and do not cross the network")
    if detour := no_detour(network):
        found.append(detour)
    return tuple(found)


def no_detour(network: NetworkFile) -> str:
    """Says so where a routing by way of a third supernode or group finds none in a machine of that size."""
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
        f"{name} routes go by way of a third of the {word}, and this machine has {built}: all are direct; "
        f"for a job on {built} of a larger machine, give a larger size and --job {built}"
    )


def _with_rate(answer: Prediction, solver: str, rounds_per_s: float, pattern: TrafficPattern) -> Prediction:
    rate = rounds_per_s * pattern.units_per_round
    return replace(
        answer, solver=solver, rate_per_s=rate, time_s=1 / rounds_per_s if rounds_per_s > 0 else float("inf")
    )
