"""Link failures: every single link, random sets of links, and a failure during an exchange."""

import dataclasses
import math
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from octant.failure import Exit, Refusal, suggestion
from octant.network.files import NetworkFile
from octant.network.solve import engine, solve
from octant.network.traffic import TrafficPattern

DETOUR = "detour"
"""Policy that leaves traffic without a route only if its nodes are disconnected, and changes no intact route."""
MAX_TRIALS = 100_000
MAX_SECONDS = 3600.0
"""Maximum of the time of a failure and of timers, in the packet simulation."""


@dataclass(frozen=True)
class Sweep:
    """Rates after each single failure of a link class."""

    link_class: str
    policy: str
    left: float  # remaining share of the capacity of the failed cable
    base_per_s: float
    rates_per_s: NDArray[np.float64] = field(repr=False, compare=False)  # one per cable
    links: NDArray[np.int32] = field(repr=False, compare=False)
    quantiles_per_s: dict[str, float] = field(default_factory=dict)  # of the failures without disconnected traffic
    worst_per_s: float = 0.0
    worst_link: str = ""
    worst_bottleneck: str = ""
    harmless: int = 0  # cables whose failure does not reduce the rate
    stalling: int = 0  # cables whose failure leaves a part of the traffic without a route
    disconnected_share: float = 0.0  # largest share of the traffic without a route after one failure
    disconnected_pairs: int | None = 0  # the same as pairs of nodes; `None`: a policy stops a part of their traffic
    pairs: int = 0  # pairs of nodes with traffic
    replaced_policy: str = ""  # policy of the file, if `sweep_by_default` used another one
    own_per_s: float = 0.0  # without failures, with the routing of the file; `recompute` uses shortest paths


def cables(network: NetworkFile, link_class: str) -> NDArray[np.int32]:
    """Return the link number of one direction of every cable of a class, shape (cables,)."""
    if link_class not in network.links:
        raise Refusal(
            f"unknown link class {link_class!r}; {suggestion(link_class, network.links)}",
            Exit.WRONG_WORD,
        )
    topology = network.build()
    sources, targets = topology.ends()
    chosen = (topology.link_classes() == network.class_names.index(link_class)) & (sources < targets)
    return np.nonzero(chosen)[0].astype(np.int32)


def require_cables(network: NetworkFile, link_class: str) -> NDArray[np.int32]:
    """Return at least one link, as `cables`.

    Raises:
        Refusal: the class is unknown, or has no cable at this size.
    """
    links = cables(network, link_class)
    if not len(links):
        raise Refusal(f"there is no cable of class {link_class} at this size; try a larger size", Exit.WRONG_WORD)
    return links


def _quantiles(rates_per_s: NDArray[np.float64]) -> dict[str, float]:
    """Return minimum, quartiles and maximum of at least one rate by their names."""
    points = {"minimum": 0.0, "lower quartile": 0.25, "median": 0.5, "upper quartile": 0.75, "maximum": 1.0}
    return {name: float(np.quantile(rates_per_s, point)) for name, point in points.items()} if rates_per_s.size else {}


def sweep_by_default(network: NetworkFile, pattern: TrafficPattern, link_class: str, left: float = 0.0) -> Sweep:
    """Compute N-1 with the policy of the file, or with `detour` if that policy leaves traffic without a route.

    Raises:
        Refusal: as for `failure_sweep`.
    """
    own = network.routing.policy
    if left > 0 or own in (DETOUR, "recompute"):
        return failure_sweep(network, pattern, link_class, left=left)
    if own != "stall" and not (found := failure_sweep(network, pattern, link_class)).stalling:
        return found
    return dataclasses.replace(failure_sweep(network, pattern, link_class, DETOUR), replaced_policy=own)


def failure_sweep(
    network: NetworkFile, pattern: TrafficPattern, link_class: str, policy: str | None = None, left: float = 0.0
) -> Sweep:
    """Compute N-1: each cable of a class fails alone (both directions), or keeps the share `left` of its capacity.

    All policies are exact. `detour` keeps every route without a failed link. `recompute` uses shortest paths before
    the failure as well, so that the difference is caused by the failure alone and not by another routing.

    Raises:
        Refusal: the class or policy is unknown, there is no such cable, or the size is too large (50 million pairs;
            tables of 320 MiB).
    """
    if policy is not None:
        network = _with_policy(network, policy)
    policy = network.routing.policy
    topology = network.build()
    links = require_cables(network, link_class)
    routed, native = engine(network, topology), pattern.native()
    try:
        rows = routed.sweep(native, pattern.shape, links.tolist(), left)
        ((_, whole, _, _),) = routed.sweep(
            native, pattern.shape, links[:1].tolist(), 1.0
        )  # all of its capacity is left
    except ValueError as error:
        raise Refusal(str(error), Exit.WRONG_WORD) from error
    base = whole * pattern.units_per_round
    _require_limit(pattern, base)
    rates = np.array([rate for _, rate, _, _ in rows]) * pattern.units_per_round
    worst = int(np.argmin(rates))
    kind = rows[worst][2]
    lost = max(units for *_, units in rows)
    pairs = _pairs(pattern)
    return Sweep(
        link_class=link_class,
        policy=policy,
        left=left,
        base_per_s=base,
        rates_per_s=rates,
        links=links,
        quantiles_per_s=_quantiles(rates[rates > 0]),
        worst_per_s=float(rates[worst]),
        worst_link=topology.name(int(links[worst])),
        worst_bottleneck=network.class_names[kind] if kind >= 0 else "nothing",
        harmless=int(np.sum(rates >= base * (1 - 1e-9))),
        stalling=int(np.sum(rates == 0)),
        disconnected_share=lost / pairs.units,
        disconnected_pairs=None if policy == "stall" or pairs.units_each is None else round(lost / pairs.units_each),
        pairs=pairs.number,
        own_per_s=solve(_with_policy(network, "stall"), pattern).rate_per_s if policy == "recompute" else base,
    )


class _Pairs(NamedTuple):
    """Pairs of different nodes with traffic."""

    number: int
    units: float  # of all pairs in one round, with the traffic of a node with itself
    units_each: float | None  # `None`: pairs have different amounts of traffic


def _pairs(pattern: TrafficPattern) -> _Pairs:
    if pattern.flows is None:
        nodes = len(pattern.active)
        return _Pairs(nodes * (nodes - 1), nodes, 1 / nodes)
    flows = pattern.flows
    between = flows.units[(flows.sources != flows.targets) & (flows.units > 0)]
    equal = between.size > 0 and between.max() == between.min()
    return _Pairs(between.size, float(flows.units.sum()), float(between[0]) if equal else None)


def _with_policy(network: NetworkFile, policy: str) -> NetworkFile:
    return replace(network, routing=replace(network.routing, policy=policy))


def _require_limit(pattern: TrafficPattern, rate_per_s: float) -> None:
    if math.isinf(rate_per_s):
        raise Refusal(
            f"no link limits {pattern.name} here, so a failure has no effect; try another pattern or size",
            Exit.WRONG_WORD,
        )


@dataclass(frozen=True)
class Random:
    """Rates after random sets of failures."""

    policy: str
    failures: int
    trials: int
    base_per_s: float
    quantiles_per_s: dict[str, float]  # of the trials that still have routes; empty where none has
    cut_off: int  # trials in which a part of the traffic has no route
    replaced_policy: str = ""  # policy of the file, if `random_by_default` used another one


def random_failures(
    network: NetworkFile,
    pattern: TrafficPattern,
    link_class: str,
    failures: int,
    trials: int = 100,
    left: float = 0.0,
    seed: int = 1,
) -> Random:
    """Compute N-k by Monte Carlo: `failures` random links (single directions) of a class fail, `trials` times."""
    if not 1 <= trials <= MAX_TRIALS or failures < 0:
        why = f"the number of sets is 1 to {MAX_TRIALS:,}"
        raise Refusal(
            f"cannot use {trials} random sets of {failures} failures ({why}); try --random 1 --trials 100",
            Exit.WRONG_WORD,
        )
    if not 0 <= seed < 2**63:
        raise Refusal(f"a seed is 0 to 2^63 - 1, not {seed}; try --seed 1", Exit.WRONG_WORD)
    topology = network.build()
    routed = engine(network, topology, np.ones(topology.links))
    sources, targets = topology.ends()  # unused links at the borders of a mesh have equal ends
    of_class = topology.link_classes() == network.class_names.index(link_class)
    chosen = np.nonzero(of_class & (sources != targets))[0].tolist()
    if failures > len(chosen):
        raise Refusal(
            f"{failures} failures are too many ({link_class} has {len(chosen)} links); use fewer", Exit.WRONG_WORD
        )
    try:
        rates = np.array(routed.fail_at_random(pattern.native(), pattern.shape, chosen, failures, left, trials, seed))
    except ValueError as error:
        raise Refusal(str(error), Exit.WRONG_WORD) from error
    base = solve(network, pattern).rate_per_s
    _require_limit(pattern, base)
    good = rates[np.isfinite(rates) & (rates > 0)] * pattern.units_per_round
    return Random(network.routing.policy, failures, trials, base, _quantiles(good), trials - good.size)


def random_by_default(
    network: NetworkFile,
    pattern: TrafficPattern,
    link_class: str,
    failures: int,
    trials: int = 100,
    left: float = 0.0,
    seed: int = 1,
) -> Random:
    """Compute N-k with the policy of the file, or with `detour` if that policy leaves traffic without a route.

    Raises:
        Refusal: as for `random_failures`.
    """
    own = network.routing.policy

    def draw(machine: NetworkFile) -> Random:
        return random_failures(machine, pattern, link_class, failures, trials, left, seed)

    if left > 0 or own in (DETOUR, "recompute"):
        return draw(network)
    if own != "stall" and not (found := draw(network)).cut_off:
        return found
    return dataclasses.replace(draw(_with_policy(network, DETOUR)), replaced_policy=own)


@dataclass(frozen=True)
class Recovery:
    """Recovery from a link failure during an exchange, with detection on demand."""

    link: str
    time_s: float
    undisturbed_s: float
    detected_s: float  # from the failure until the last sender stopped using the path
    recovered_s: float  # from the failure until everything lost had arrived
    lost_packets: int
    resent_packets: int
    undelivered_packets: int


def recover(
    network: NetworkFile,
    pattern: TrafficPattern,
    link: int,
    fails_s: float,
    timeout_s: float,
    ping_s: float,
    retries: int = 1,
    window: int | None = None,
) -> Recovery:
    """Simulate a fail-over packet by packet: retransmission, ping of the path, and use of the remaining paths.

    A sender detects a failure by its own timer: after `retries` unanswered repeats it pings the path, and then stops
    using it (Power 575 guide, section 5.3). If the routing has no other path, packets remain undelivered. The traffic
    must be a list of flows.
    """
    if pattern.flows is None:
        raise Refusal(
            "cannot simulate a recovery with uniform traffic; use a list of flows, such as a shift or pairs",
            Exit.WRONG_WORD,
        )
    for what, seconds in (("failure", fails_s), ("timer", timeout_s), ("ping", ping_s)):
        if not 0 <= seconds <= MAX_SECONDS:
            raise Refusal(
                f"the time of the {what} is 0 to {MAX_SECONDS:g} s, not {seconds:g} s; try 20us", Exit.WRONG_WORD
            )
    topology = network.build()
    routed = engine(network, topology)
    packet = 1 / pattern.cost.packets if pattern.cost.packets else 1.0
    size = window or network.window(pattern.name)

    def run(failing: int) -> tuple[float, int, int, int, int, int]:
        fails_ps, timeout_ps, ping_ps = (round(value * 1e12) for value in (fails_s, timeout_s, ping_s))
        try:
            answer, lost, resent, undelivered, detected_ps, recovered_ps = routed.packets(
                pattern.native(),
                pattern.shape,
                packet,
                size,
                0,
                1,
                False,
                failing,
                fails_ps,
                timeout_ps,
                ping_ps,
                retries,
            )
        except ValueError as error:
            raise Refusal(str(error), Exit.WRONG_WORD) from error
        seconds = 1 / answer.rounds_per_s if answer.rounds_per_s > 0 else float("inf")
        return seconds, lost, resent, undelivered, detected_ps, recovered_ps

    calm = run(-1)[0]
    time_s, lost, resent, undelivered, detected_ps, recovered_ps = run(link)
    return Recovery(
        topology.name(link), time_s, calm, detected_ps * 1e-12, recovered_ps * 1e-12, lost, resent, undelivered
    )
