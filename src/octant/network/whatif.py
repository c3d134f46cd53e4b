"""Explanations and what-if analyses: causes of a limit, sensitivities, required changes, and other machines."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import get_args

from msgspec import to_builtins
from msgspec.structs import replace

from octant.failure import Exit, Refusal, suggestion
from octant.network.files import NetworkFile, Policy, RoutingWords, Unexplained, load
from octant.network.jobs import job_nodes
from octant.network.predictions import Prediction
from octant.network.scale import scale
from octant.network.solve import engine, exact, no_detour, solve
from octant.network.traffic import TrafficPattern, make
from octant.untrusted import convert

_MAX_PAIRS = 30_000_000
_ENDPOINTS = ("injection", "ejection")


@dataclass(frozen=True)
class Cause:
    """A part of the load of one link, by relation of the nodes, hop of the route, and job."""

    relation: str
    hop: int  # position on the route: 0 = injection, 1 = first fabric link
    job: int
    part: float


@dataclass(frozen=True)
class Explanation:
    """A prediction, the causes of the load of its tightest link, and the next limit."""

    answer: Prediction
    causes: tuple[Cause, ...]  # of the tightest link, largest first; empty if there are too many pairs
    sentences: tuple[str, ...]
    unexplained: tuple[Unexplained, ...]


def explain(network: NetworkFile, pattern: TrafficPattern) -> Explanation:
    """Explain which link limits a pattern, what loads it, and which class is the next limit."""
    answer = solve(network, pattern)
    if not answer.bottlenecks:
        return Explanation(answer, (), ("No link limits this pattern.",), network.unexplained)
    topology = network.build()
    tightest = answer.bottlenecks[0]
    pairs = len(pattern.active) ** 2 if pattern.flows is None else len(pattern.flows)
    rows: tuple[Cause, ...] = ()
    if pairs <= _MAX_PAIRS:
        link = _number_of(network, pattern, tightest.link_class, tightest.link)
        raw = engine(network, topology).causes(pattern.native(), link)
        whole = sum(units for *_, units in raw) or 1.0
        rows = tuple(Cause(relation, hop, job, units / whole) for relation, hop, job, units in raw)
    quantity = {"packets": "packet rate", "bytes": "bandwidth"}[tightest.resource]
    count = f"{tightest.links} links with equal load" if tightest.links > 1 else tightest.link
    load = tightest.load / answer.units_each  # as in the table: per unit of the largest flow
    sentences = [
        f"The limit is the {quantity} of class {tightest.link_class} ({count}).",
        f"A link with this load carries {load:.4g} {answer.unit} per {answer.unit} sent by one {answer.per}.",
    ]
    if pairs > _MAX_PAIRS:
        sentences.append(
            f"The causes of its load are not listed for {pairs:,} pairs (maximum: {_MAX_PAIRS:,}); "
            "use a smaller --size or --job."
        )
    if following := answer.runner_up:
        sentences.append(
            f"The next limit is the {following.link_class} links, at {following.headroom:.3g} times the present rate."
        )
    return Explanation(answer, rows, tuple(sentences), network.unexplained)


def _number_of(network: NetworkFile, pattern: TrafficPattern, link_class: str, name: str) -> int:
    """Return the engine's number of the tightest link, which the prediction contains by name only."""
    topology = network.build()
    kind = network.class_names.index(link_class)
    native = exact(engine(network, topology), pattern)
    return next(b.link for b in native.bottlenecks if b.link_class == kind and topology.name(b.link) == name)


@dataclass(frozen=True)
class Sensitivity:
    """Effect of the capacity of one link class on the rate."""

    link_class: str
    elasticity: float  # percent of rate per percent of capacity
    rate_if_doubled: float  # over the present rate
    headroom: float


def sensitivity(network: NetworkFile, pattern: TrafficPattern) -> tuple[Sensitivity, ...]:
    """Return the effect of each loaded link class on the rate; injection and ejection change together."""
    base = solve(network, pattern)
    found = []
    for name in _knobs(base):
        little = solve(network.scaled(name, 1.001), pattern).rate_per_s / base.rate_per_s
        double = solve(network.scaled(name, 2.0), pattern).rate_per_s / base.rate_per_s
        headroom = min(b.headroom for b in base.bottlenecks if b.link_class in _members(name))
        found.append(Sensitivity(name, (little - 1) / 0.001, double, headroom))
    return tuple(found)


def _knobs(answer: Prediction) -> tuple[str, ...]:
    names = ["endpoint" if b.link_class in _ENDPOINTS else b.link_class for b in answer.bottlenecks]
    return tuple(dict.fromkeys(names))


def _members(knob: str) -> tuple[str, ...]:
    return _ENDPOINTS if knob == "endpoint" else (knob,)


@dataclass(frozen=True)
class RequiredChange:
    """Minimum changes of capacities that reach a target rate."""

    target_per_s: float
    present_per_s: float
    factors: dict[str, float]  # required over present capacity, by link class; empty: the target is already reached
    reached_per_s: float  # computed with the changes


def smallest_change(network: NetworkFile, pattern: TrafficPattern, target_per_s: float) -> RequiredChange:
    """Return the link classes that must be faster for a target rate, and by which factors; exact for static loads."""
    if not 0 < target_per_s < math.inf:
        raise Refusal("a target rate must be positive and finite; try 1e9", Exit.WRONG_WORD)
    base = solve(network, pattern)
    factors: dict[str, float] = {}
    for name in _knobs(base):
        allowed = min(b.rate_per_s for b in base.bottlenecks if b.link_class in _members(name))
        if allowed < target_per_s * (1 - 1e-12):
            factors[name] = target_per_s / allowed
    changed = network
    for name, factor in factors.items():
        changed = changed.scaled(name, factor)
    return RequiredChange(target_per_s, base.rate_per_s, factors, solve(changed, pattern).rate_per_s)


@dataclass(frozen=True)
class Bracket:
    """Bounds for adaptive routing of a pattern: two oblivious routings, and the ideal split of all flows between them.

    The rate of a real adaptive router is between the better oblivious routing and the ideal.
    """

    first: str
    second: str
    first_per_s: float
    second_per_s: float
    ideal_per_s: float  # of the best split found
    ideal_at_most_per_s: float  # upper bound for all splits
    on_second: float  # share of the traffic with the second routing in this split
    bottleneck: str  # of that split
    note: str = ""  # remark about the rates


def bracket(network: NetworkFile, pattern: TrafficPattern, second: str, rounds: int = 150) -> Bracket:
    """Compare the routing of the file, another one, and the ideal split of every flow between both.

    Raises:
        Refusal: the network has no such routing, or there are too many flows.
    """
    other = replace(network, routing=replace(network.routing, name=second))
    topology = network.build()
    mine, theirs = engine(network, topology), engine(other, topology)
    try:
        native, most, elsewhere = mine.adaptive(theirs, pattern.native(), pattern.shape, rounds)
    except ValueError as error:
        raise Refusal(str(error), Exit.WRONG_WORD) from error
    units = pattern.units_per_round
    tightest = native.bottlenecks[0] if native.bottlenecks else None
    return Bracket(
        first=network.routing.name,
        second=second,
        first_per_s=solve(network, pattern).rate_per_s,
        second_per_s=solve(other, pattern).rate_per_s,
        ideal_per_s=native.rounds_per_s * units,
        ideal_at_most_per_s=most * units,
        on_second=elsewhere,
        bottleneck=network.class_names[tightest.link_class] if tightest else "nothing",
        note=no_detour(other),
    )


@dataclass(frozen=True)
class Difference:
    """Two machines (or routings) at one size."""

    size: int
    first_per_s: float
    second_per_s: float
    first_bottleneck: str
    second_bottleneck: str
    unit: str
    notes: tuple[str, ...] = ()  # remarks about the rates

    @property
    def ratio(self) -> float | None:
        """Second rate over the first; `None`: one of them is not limited."""
        if math.isinf(self.first_per_s) or math.isinf(self.second_per_s):
            return None
        return self.second_per_s / self.first_per_s


def diff(
    first: NetworkFile, second: NetworkFile, traffic: str, sizes: Sequence[int], job: str = ""
) -> tuple[Difference, ...]:
    """Compare the same traffic on two networks, or on the same part of both, for several sizes."""
    a, b = (scale(network, traffic, sizes, job=job).points for network in (first, second))
    return tuple(
        Difference(
            x.size,
            x.rate_per_s,
            y.rate_per_s,
            x.bottleneck,
            y.bottleneck,
            x.unit,
            tuple(dict.fromkeys(note for note in (x.note, y.note) if note)),
        )
        for x, y in zip(a, b, strict=True)
    )


def with_routing(name: str, routing: str | None, policy: str | None) -> NetworkFile:
    """Return a network by name or path, with another routing or failover policy if given.

    Raises:
        Refusal: the network or the policy is unknown.
    """
    network = load(name)
    if policy is not None and policy not in (known := get_args(Policy)):
        raise Refusal(f"unknown policy {policy!r}; {suggestion(policy, known)}", Exit.WRONG_WORD)
    change = {key: word for key, word in (("name", routing), ("policy", policy)) if word is not None}
    words = convert({**to_builtins(network.routing), **change}, RoutingWords)
    return replace(network, routing=words)


def sized(network: NetworkFile, size: int | None) -> NetworkFile:
    """Return a network at a size; `None`: its own size."""
    return network if size is None else network.at_size(size)


def pattern_at(
    network: NetworkFile, traffic: str, size: int | None, parameter: int = 1, job: str = ""
) -> tuple[NetworkFile, TrafficPattern]:
    """Return a network at a size (`None`: its own) and a named pattern on it, or on a part of it (see `job_nodes`)."""
    machine = sized(network, size)
    return machine, make(machine, traffic, parameter, job=job_nodes(machine, job))
