"""Asks the native engine: a network, a pattern, a solver; one type of answer."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from octant import _network
from octant.failure import Exit, Refusal
from octant.network.files import NetworkFile
from octant.network.predictions import Bottleneck, Bound, Prediction
from octant.network.traffic import Pattern

Solver = Literal["auto", "class", "enumeration", "max-min", "fluid", "queue", "soft", "packets"]
SOLVERS: tuple[Solver, ...] = ("auto", "class", "enumeration", "max-min", "fluid", "queue", "soft", "packets")
_FEW_PAIRS = 50_000_000
_NOTHING = np.empty(0)


def solver_named(word: str) -> Solver:
    """The solver of that name.

    Raises:
        Refusal: no such solver.
    """
    for solver in SOLVERS:
        if solver == word:
            return solver
    raise Refusal(f"cannot solve with {word!r} (there is no such solver); try {', '.join(SOLVERS)}", Exit.WRONG_ANSWER)


@dataclass(frozen=True)
class Settings:
    """Numbers that some solvers need."""

    window: int | None = None  # packets in flight; the machine's own where None
    exponent: float = 8.0  # of the soft minimum
    packets: int = 5000  # per node, in the packet simulation of uniform traffic
    units_per_packet: float | None = None
    seed: int = 1
    in_order: bool = False  # in the packet simulation, a sender's flows of one job go one after the other


DEFAULTS = Settings()


def engine(
    network: NetworkFile, topology: _network.Topology, scale: NDArray[np.float64] = _NOTHING
) -> _network.Network:
    """The topology with the file's routing; `scale`, shape (links,), is what is left of each link."""
    words = network.routing
    numbers = {"split_ties": float(words.split_ties), "with_direct": float(words.with_direct)}
    try:
        return _network.Network(topology, words.name, words.policy, numbers, list(words.order), scale)
    except ValueError as error:
        raise Refusal(str(error), Exit.WRONG_WORD) from error


def solve(
    network: NetworkFile,
    pattern: Pattern,
    solver: Solver = "auto",
    settings: Settings = DEFAULTS,
    scale: NDArray[np.float64] = _NOTHING,
) -> Prediction:
    """Rate, time, loads and ranked bottlenecks of a pattern.

    `auto` counts by class where symmetry allows, else enumerates; both are exact for the static loads and give an upper
    bound of the rate, so the answer carries the closed-queue rate of the machine's window as its `bound`.

    Raises:
        Refusal: the solver does not fit the network, the pattern or the routing.
    """
    if settings.window is not None and settings.window < 1:
        raise Refusal(f"cannot keep {settings.window} packets in flight; try --window 1 or more", Exit.WRONG_ANSWER)
    topology = network.build()
    asked = engine(network, topology, scale)
    by_class = pattern.flows is None and network.topology.symmetric() and not scale.size
    if solver == "class" and not by_class:
        raise Refusal(
            "cannot count by class (only uniform traffic of a whole, healthy, symmetric network); try enumeration"
        )
    if solver == "queue" and pattern.flows is not None:
        why = "it needs uniform traffic"
        raise Refusal(f"cannot queue a list of flows in a closed network ({why}); try packets", Exit.WRONG_WORD)
    if solver in ("auto", "queue", "soft"):
        native = _exact(asked, pattern, by_class, settings, network)
    else:
        native = _run(asked, pattern, solver, settings, network)
    answer = _answer(network, topology, pattern, native)
    if solver == "soft":
        soft = _network.soft_minimum(native, settings.exponent)
        hard = Bound(answer.solver, answer.rate_per_s)
        return replace(_with_rate(answer, f"soft minimum (exponent {settings.exponent:g})", soft, pattern), bound=hard)
    if pattern.flows is not None or solver not in ("auto", "class", "enumeration", "queue"):
        return answer
    queue = _queue(asked, native, pattern, network, settings)
    window = settings.window or network.window(pattern.name)
    if solver == "queue":
        return replace(
            _with_rate(answer, f"closed queue (window {window})", queue, pattern),
            bound=Bound(answer.solver, answer.rate_per_s),
        )
    return replace(answer, bound=Bound(f"closed queue (window {window})", queue))


def _exact(
    asked: _network.Network, pattern: Pattern, by_class: bool, settings: Settings, network: NetworkFile
) -> _network.Answer:
    """Loads by class where the routing allows, else by enumeration."""
    if by_class:
        try:
            return asked.by_class(pattern.shape)
        except ValueError:  # no symmetry under this routing
            pass
    return _run(asked, pattern, "enumeration", settings, network)


def _run(
    asked: _network.Network, pattern: Pattern, solver: Solver, settings: Settings, network: NetworkFile
) -> _network.Answer:
    traffic, shape = pattern.native(), pattern.shape
    try:
        match solver:
            case "class":
                return asked.by_class(shape)
            case "enumeration":
                return asked.enumerate(traffic, shape)
            case "max-min":
                return asked.max_min(traffic, shape)
            case "fluid":
                return asked.fluid(traffic, shape)
            case "packets":
                window = settings.window or network.window(pattern.name)
                each = settings.units_per_packet or (1 / pattern.cost.packets if pattern.cost.packets else 1.0)
                count, seed, in_order = settings.packets, settings.seed, settings.in_order
                return asked.packets(traffic, shape, each, window, count, seed, in_order, -1, 0, 0, 0, 1)[0]
    except ValueError as error:
        raise Refusal(str(error)) from error
    raise Refusal(f"cannot solve with {solver!r} (there is no such solver); try {', '.join(SOLVERS)}")


def _queue(
    asked: _network.Network, native: _network.Answer, pattern: Pattern, network: NetworkFile, settings: Settings
) -> float:
    """Rounds per second with the window's packets in flight per sender."""
    window = settings.window or network.window(pattern.name)
    per_packet = 1 / pattern.cost.packets if pattern.cost.packets else 1.0
    senders = len(pattern.active) if pattern.flows is None else len(np.unique(pattern.flows.sources))
    # The engine counts what is in flight in units of the loads: packets × units per packet.
    packet = _network.Shape(
        pattern.cost.payload_bytes * per_packet, pattern.cost.wire_bytes * per_packet, pattern.cost.packets * per_packet
    )
    return asked.closed_queue(native, packet, senders, window) * per_packet


def _answer(network: NetworkFile, topology: _network.Topology, pattern: Pattern, native: _network.Answer) -> Prediction:
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
    )


def _with_rate(answer: Prediction, solver: str, rounds_per_s: float, pattern: Pattern) -> Prediction:
    rate = rounds_per_s * pattern.units_per_round
    return replace(
        answer, solver=solver, rate_per_s=rate, time_s=1 / rounds_per_s if rounds_per_s > 0 else float("inf")
    )


def solve_program(
    network: NetworkFile,
    operation: str,
    algorithm: str,
    bytes_each: float,
    node_of_rank: NDArray[np.int32],
    overhead_s: float = 0.0,
    gap_s_per_byte: float = 0.0,
) -> tuple[Prediction, Sequence[float]]:
    """A collective as a program of synchronised steps under LogGP; the answer and the seconds of each step.

    Raises:
        Refusal: no such program, or a number of ranks that it cannot have.
    """  # fmt: skip
    from octant.network.traffic import Flows, bulk  # noqa: PLC0415 - only here

    try:
        steps = _network.collective(operation, algorithm, len(node_of_rank), bytes_each)
    except ValueError as error:
        raise Refusal(str(error)) from error
    placed = [Flows(*columns).placed(node_of_rank) for columns in steps]
    pattern = Pattern(f"{operation} {algorithm}", "B", bulk(network), np.unique(node_of_rank), None, per="program")
    traffics = [_network.Traffic.flows(f.sources, f.targets, f.units, f.job) for f in placed]
    topology = network.build()
    native, step_s = engine(network, topology).steps(traffics, pattern.shape, overhead_s, gap_s_per_byte)
    answer = _answer(network, topology, pattern, native)
    return replace(answer, unit="round"), step_s
