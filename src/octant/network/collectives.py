"""Collectives on the model: algorithms as synchronised steps under LogGP, evaluated once for all sizes.

A step takes L + 2 o + (m - 1) G + the time of the most loaded link, where L is the latency of the longest route. A rank
that sends and receives more than two messages in a step pays o for each of them. With measured message times, a step
takes the maximum of the time of its longest message, and the time of an empty message plus that of the most loaded
link; o is half the time of an empty message.
"""

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from octant import _network
from octant.failure import Exit, Refusal, suggestion
from octant.message_times import NOT_MEASURED, MeasuredTimes
from octant.network.files import NetworkFile, Offload
from octant.network.solve import engine
from octant.network.traffic import Flows, Nodes, bulk

MAX_RANKS = 2**20
MAX_BYTES = 2**50
_MAX_SEGMENTS = 2**20
_MAX_CHANGES = 8  # of the fastest algorithm between two adjacent sizes
_ROW = [
    ("cut", "i8"), ("times", "f8"), ("segmented", "?"), ("latency_s", "f8"), ("untimed_from", "i8"),
    ("untimed_to", "i8"), ("messages", "i8"), ("largest", "f8"), ("sent", "f8"), ("wire_s", "f8"), ("link_class", "i8"),
    ("inside", "f8"), ("between", "f8"),
]  # fmt: skip


@dataclass(frozen=True)
class MessageCosts:
    """Costs of a message in addition to the transfer over links."""

    overhead_s: float = 0.0  # o, of every message at either end
    latency_s: float | None = None  # of routes without a latency in the network file; `None`: they are refused
    gap_s_per_byte: float = 0.0  # G, time of the processor for every byte of a message except the first
    measured: MeasuredTimes = NOT_MEASURED  # by length; replace the other costs for these messages

    def on(self, network: NetworkFile) -> "MessageCosts":
        """Return these costs, or the message times of the network file if no cost is given."""
        given = self.overhead_s or self.latency_s is not None or self.gap_s_per_byte or self.measured
        return self if given else replace(self, measured=network.messages.times)


STATED = MessageCosts()
"""Only the costs in the network file; messages without a latency in the file are refused."""
FREE = MessageCosts(latency_s=0.0)
"""As `STATED`, but messages without a latency in the file have latency 0: for questions about bandwidth."""


@dataclass(frozen=True)
class Timing:
    """A collective by one algorithm at one size."""

    algorithm: str
    bytes_each: int
    steps: int
    sent_bytes: float  # of the rank that sends most
    time_s: float
    latency_s: float
    overhead_s: float
    gap_s: float
    wire_s: dict[str, float]  # by the class of the most loaded link

    @property
    def limited_by(self) -> tuple[str, float]:
        """The part with the largest share of the time, and this share; "" if nothing is sent."""
        parts = {"latency": self.latency_s, "overhead": self.overhead_s, "gap": self.gap_s, **self.wire_s}
        name = max(parts, key=lambda one: parts[one])
        return (name, parts[name] / self.time_s) if self.time_s else ("", 0.0)


class Program:
    """The steps of one algorithm with their costs on one network, for any buffer size."""

    def __init__(
        self, algorithm: str, rows: Sequence[tuple[object, ...]], classes: Sequence[str], costs: MessageCosts
    ) -> None:
        self.algorithm = algorithm
        self._rows = np.array(list(rows), dtype=_ROW)
        self._classes = classes
        self._gap_s = costs.gap_s_per_byte
        self._measured = costs.measured
        latency_s = self._rows["latency_s"]
        if costs.latency_s:
            latency_s = np.where(self._rows["untimed_from"] >= 0, np.maximum(latency_s, costs.latency_s), latency_s)
        messages = self._rows["messages"]
        overhead_s = costs.overhead_s * np.where(messages, np.maximum(2, messages), 0)
        inside, between = self._rows["inside"] >= 0, self._rows["between"] >= 0
        start_s = self._measured.startup_s(inside, between)
        self._timed: NDArray[np.bool_] = (inside | between) & np.isfinite(start_s)  # by measured times
        self._latency_s: NDArray[np.float64] = np.where(self._timed, start_s, latency_s)
        further_s = start_s / 2 * np.maximum(0, messages - 2)
        self._overhead_s: NDArray[np.float64] = np.where(self._timed, further_s, overhead_s)

    def seconds(self, bytes_each: int) -> float:
        """Return the time at a size."""
        return float(sum(part.sum() for part in self._parts(bytes_each)))

    def at(self, bytes_each: int) -> Timing:
        """Return the time at a size, with its parts."""
        times, piece = self._shape(bytes_each)
        latency_s, overhead_s, gap_s, wire_s = self._parts(bytes_each)
        link_class = self._rows["link_class"]
        by_class = {
            self._classes[number]: float(wire_s[link_class == number].sum())
            for number in np.unique(link_class[wire_s > 0])
        }
        busy = times - self._rows["segmented"] * self._rows["times"]  # a rank of a pipeline waits while it fills
        latency, overhead, gap, wire = (float(part.sum()) for part in (latency_s, overhead_s, gap_s, wire_s))
        steps, sent = times[self._rows["messages"] > 0].sum(), (busy * piece * self._rows["sent"]).sum()
        whole = latency + overhead + gap + wire
        return Timing(self.algorithm, bytes_each, int(steps), float(sent), whole, latency, overhead, gap, by_class)

    def _parts(self, bytes_each: int) -> tuple[NDArray[np.float64], ...]:
        """Return seconds of latency, overhead, gap and transfer, shape (distinct steps,) each."""
        times, piece = self._shape(bytes_each)
        gap_s, wire_s = np.maximum(0.0, self._rows["largest"] * piece - 1) * self._gap_s, self._rows["wire_s"] * piece
        if self._timed.any():
            longest_s = self._measured.seconds(
                *(np.where(self._rows[name] < 0, -1.0, self._rows[name] * piece) for name in ("inside", "between"))
            )
            gap_s = np.where(self._timed, np.maximum(0.0, longest_s - self._latency_s - wire_s), gap_s)
        return times * self._latency_s, times * self._overhead_s, times * gap_s, times * wire_s

    def _shape(self, bytes_each: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return how often each distinct step is executed, and its number of bytes per piece."""
        times, cut = self._rows["times"].copy(), self._rows["cut"].astype(np.float64)
        for number in np.flatnonzero(self._rows["segmented"]):
            cut[number] = self._segments(int(number), bytes_each)
            times[number] += cut[number]
        return times, np.ceil(bytes_each / cut)

    def _segments(self, number: int, bytes_each: int) -> int:
        """Return the optimal number of segments: (F + S) (a + b m / S) is minimal at S² = F b m / a."""
        row = self._rows[number]
        fixed_s = self._latency_s[number] + self._overhead_s[number]
        per_byte_s = row["wire_s"] + self._gap_s
        if self._timed[number]:
            slopes = [one.seconds_per_byte for one in (self._measured.inside, self._measured.between) if one]
            per_byte_s = max(float(row["wire_s"]), *slopes)
        most = max(1, min(bytes_each, _MAX_SEGMENTS))
        best = math.sqrt(row["times"] * per_byte_s * bytes_each / fixed_s) if fixed_s > 0 else float(most)
        around = {min(most, max(1, round_(best))) for round_ in (math.floor, math.ceil)}
        return min(
            around, key=lambda count: (row["times"] + count) * (fixed_s + per_byte_s * math.ceil(bytes_each / count))
        )


@dataclass(frozen=True)
class FastestFrom:
    """The fastest algorithm from a size on."""

    bytes_each: int  # first size
    algorithm: str


@dataclass(frozen=True)
class Collective:
    """One collective on a network, with several algorithms and sizes."""

    network: str
    operation: str
    routing: str
    ranks: int
    nodes: int
    overhead_s: float
    assumed_latency_s: float | None
    timings: tuple[tuple[Timing, ...], ...]  # one per size, with the algorithms in their order
    fastest: tuple[FastestFrom, ...]  # ascending by size
    left_out: tuple[str, ...]  # algorithms that are not applicable, with reasons


def operations(network: NetworkFile) -> dict[str, tuple[str, ...]]:
    """Return every operation with its algorithms, including those in the hardware of the network."""
    known: dict[str, tuple[str, ...]] = {}
    for operation, algorithm in _network.collectives():
        known[operation] = (*known.get(operation, ()), algorithm)
    return {
        operation: (*algorithms, *(name for name, one in network.offload.items() if operation in one.operations))
        for operation, algorithms in known.items()
    }


def programs(
    network: NetworkFile,
    operation: str,
    nodes: Nodes,
    costs: MessageCosts,
    algorithm: str = "all",
) -> tuple[list[Program], tuple[str, ...]]:
    """Return the algorithms of an operation on the nodes of its ranks, and the reasons for unsuitable ones.

    Args:
        network: the network.
        operation: `allreduce`, `bcast`, …: see `operations`.
        nodes: the node of every rank, shape (ranks,).
        costs: costs of messages in addition to the links.
        algorithm: one name, or `all` for every algorithm that supports this number of ranks.

    Raises:
        Refusal: the operation or algorithm is unknown, a message has no known latency, there are too many ranks, or the
            estimated computing time exceeds 10 minutes.
    """
    known = operations(network)
    if operation not in known:
        raise Refusal(f"unknown collective {operation!r}; {suggestion(operation, known)}", Exit.WRONG_WORD)
    wanted = known[operation] if algorithm == "all" else (algorithm,)
    if algorithm not in ("all", *known[operation]):
        text = suggestion(algorithm, ["all", *known[operation]])
        raise Refusal(f"unknown algorithm {algorithm!r} of {operation}; {text}", Exit.WRONG_WORD)
    if not 1 <= len(nodes) <= MAX_RANKS:
        raise Refusal(f"{len(nodes)} ranks are out of range; try 1 to {MAX_RANKS}", Exit.WRONG_WORD)
    messages: dict[str, float] = {}
    left_out: list[str] = []
    for one in wanted:
        if one in network.offload:
            continue
        try:
            messages[one] = _network.messages(operation, one, len(nodes))
        except ValueError as error:
            left_out.append(str(error))
    rows = _price(network, operation, messages, nodes)
    costs = costs.on(network)
    found: list[Program] = []
    for one in wanted:
        if one in network.offload:
            found.append(_offloaded(one, network.offload[one], operation, nodes, costs))
        elif one in rows:
            _require_latency(network, operation, rows[one], costs)
            found.append(Program(one, rows[one], network.class_names, costs))
    if not found:
        raise Refusal("; ".join(left_out), Exit.WRONG_WORD)
    return found, tuple(left_out)


_Rows = Sequence[tuple[object, ...]]


def _price(network: NetworkFile, operation: str, messages: Mapping[str, float], nodes: Nodes) -> dict[str, _Rows]:
    """Return the steps of algorithms with their costs.

    Args:
        messages: number of messages of each algorithm.
    """
    if not messages:
        return {}
    fewest = min(messages, key=lambda one: messages[one])
    instead = f"--algorithm {fewest}, or fewer ranks" if len(messages) > 1 else "fewer ranks"
    routed = engine(network, network.build())
    try:
        rows = routed.price(operation, list(messages), nodes, _byte(network), instead)
    except ValueError as error:
        raise Refusal(str(error), Exit.WRONG_WORD) from error
    return dict(zip(messages, rows, strict=True))


def fastest(found: Sequence[Program], bytes_each: int) -> Program:
    """Return the fastest algorithm at a size; the first one of equal ones."""
    return min(found, key=lambda program: program.seconds(bytes_each))


def exchange(network: NetworkFile, flows: Flows, nodes: Nodes, costs: MessageCosts) -> Timing:
    """Return the time of simultaneous messages between ranks.

    Args:
        flows: messages between ranks.
        nodes: the node of every rank, shape (ranks,).

    Raises:
        Refusal: a message has no known latency.
    """
    routed = engine(network, network.build())
    row = routed.price_flows(flows.sources, flows.targets, flows.units, nodes, _byte(network))
    costs = costs.on(network)
    _require_latency(network, "this exchange", [row], costs)
    return Program("exchange", [row], network.class_names, costs).at(1)


def time_collective(
    network: NetworkFile,
    operation: str,
    nodes: Nodes,
    sizes: Sequence[int],
    costs: MessageCosts,
    algorithm: str = "all",
) -> Collective:
    """Return the times of one collective at several sizes, and the fastest algorithm by size.

    Raises:
        Refusal: as `programs`, or a size is out of range.
    """
    if not sizes or not 0 <= min(sizes) <= max(sizes) <= MAX_BYTES:
        size = max(sizes, default=0)
        raise Refusal(f"a size of {size} bytes is out of range; use 0 to 1PiB ({MAX_BYTES})", Exit.WRONG_WORD)
    found, left_out = programs(network, operation, nodes, costs, algorithm)
    ordered = sorted(set(sizes))
    return Collective(
        network=network.name,
        operation=operation,
        routing=network.routing.name,
        ranks=len(nodes),
        nodes=len(np.unique(nodes)),
        overhead_s=costs.overhead_s,
        assumed_latency_s=costs.latency_s,
        timings=tuple(tuple(program.at(size) for program in found) for size in ordered),
        fastest=tuple(_changes(found, ordered)),
        left_out=left_out,
    )


def _changes(found: Sequence[Program], sizes: Sequence[int]) -> list[FastestFrom]:
    """Return the fastest algorithm at the first size, and the exact sizes at which it changes."""
    winner = fastest(found, sizes[0]).algorithm
    steps = [FastestFrom(sizes[0], winner)]
    for low, high in itertools.pairwise(sizes):
        target = fastest(found, high).algorithm
        for _ in range(_MAX_CHANGES):  # near a tie, rounding to whole bytes may let two alternate
            if winner == target:
                break
            same, other = max(low, steps[-1].bytes_each), high
            while other - same > 1:
                middle = (same + other) // 2
                if fastest(found, middle).algorithm == winner:
                    same = middle
                else:
                    other = middle
            winner = fastest(found, other).algorithm
            steps.append(FastestFrom(other, winner))
        if winner != target:
            winner = target
            steps.append(FastestFrom(high, winner))
    return steps


def _byte(network: NetworkFile) -> _network.UnitCost:
    cost = bulk(network)
    return _network.UnitCost(cost.payload_bytes, cost.wire_bytes, cost.packets)


def _require_latency(network: NetworkFile, what: str, rows: Sequence[tuple[object, ...]], costs: MessageCosts) -> None:
    if costs.overhead_s > 0 or costs.latency_s is not None:
        return
    known = costs.measured

    def is_timed(row: tuple[object, ...]) -> bool:
        return (row[11] == -1 or known.inside is not None) and (row[12] == -1 or known.between is not None)

    ends = next(((row[4], row[5]) for row in rows if row[4] != -1 and not is_timed(row)), None)
    if ends is None:
        return
    between = f"from node {ends[0]} to {ends[1]}" if ends[0] != ends[1] else f"within node {ends[0]}"
    raise Refusal(
        f"cannot time {what} on {network.name} (its file contains no latency for a message {between}); give the "
        "software overhead of a message (--overhead 1us) or a latency (--latency 1us, or 0s for bandwidth alone)",
        Exit.WRONG_WORD,
    )


def _offloaded(name: str, tree: Offload, operation: str, nodes: Nodes, costs: MessageCosts) -> Program:
    """Return a collective in a hardware tree: upwards, downwards or both. Its time depends on the depth of the tree."""
    reached, depth, ways = 1, 0, {"reduce": 1, "bcast": 1}.get(operation, 2)
    while reached < len(np.unique(nodes)):
        reached, depth = reached * tree.radix, depth + 1
    if len(nodes) == 1:
        return Program(name, [], [name], costs)
    per_byte_s = 1 / tree.bytes_per_s.value if tree.bytes_per_s and operation != "barrier" else 0.0
    row = (1, 1.0, False, ways * depth * tree.hop, -1, -1, 2, 0.0, 1.0, per_byte_s, 0, -1.0, -1.0)
    return Program(name, [row], [name], replace(costs, measured=NOT_MEASURED))
