"""Checks of placements and of the launcher options made of them, independent of `octant.placement.sanity`."""

import itertools
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from octant.launchers import to_every_syntax
from octant.machine import Topology
from octant.placement import Placement
from octant.placement.planner import DoesNotFitError, plan
from octant.placement.request import SMT_ALL, Memory, PlacementRequest

UNITS = ("hwthread", "core", "l2", "l3", "numa", "package")
ORDERS = ("compact", "scatter", "scatter:numa", "scatter:package")
MEMORY = ("default", "local", "bind", "interleave")
EMPTY = re.compile(r"""\w[=:](?=$|\s|[,;]|''|"")|\b0x0+\b|\{\}|\[\]|,,|[=:,],""")
"""A list, a set or a mask without a member, in a line for a launcher."""


def requests(topology: Topology, seed: str, several: int) -> Iterator[PlacementRequest]:
    """Yield requests of every unit, order, SMT and policy of memory, in combinations that the seed draws."""
    rng = random.Random(seed)
    columns: Sequence[Sequence[object]] = (UNITS, ORDERS, (1, SMT_ALL), MEMORY, (False, True))
    shuffled = [rng.sample(list(column) * several, several) for column in columns]
    most = max(1, len(topology.usable()))
    for unit, order, smt, policy, share in zip(*shuffled, strict=True):
        ranks, threads = rng.choice((1, 2, 3, 4, most)), rng.choice((1, 2, 4))
        yield PlacementRequest(ranks, threads, unit, order, smt, Memory(policy), share=share)


def placed(topology: Topology, request: PlacementRequest) -> tuple[PlacementRequest, Placement] | None:
    """Return the request, or the largest one like it that fits, with its placement; `None` if nothing fits."""
    try:
        return request, plan(topology, request)
    except DoesNotFitError as refusal:
        if refusal.largest is None:
            return None
        return refusal.largest, plan(topology, refusal.largest)
    except ValueError:  # a refusal with its reason, such as memory=bind of threads without memory of their own
        return None


def faults(topology: Topology, request: PlacementRequest, placement: Placement) -> Iterator[str]:
    """Yield what is wrong with a placement."""
    nodes = {node.os for node in topology.numa}
    if len(placement.ranks) != request.ranks:
        yield f"{len(placement.ranks)} ranks instead of {request.ranks}"
    for place in placement.ranks:
        where = f"rank {place.rank}"
        if not place.cpus or not place.threads or not all(place.threads):
            yield f"{where} has an empty set"
        if not place.cpus <= topology.allowed:
            yield f"{where} uses {sorted(place.cpus - topology.allowed)}, which it may not"
        if not frozenset().union(*place.threads) <= place.cpus:
            yield f"{where} has threads outside its set"
        if not {*place.memory} <= nodes:
            yield f"{where} has memory nodes {place.memory}, which the machine has not"
        if len(place.threads) != request.threads:
            yield f"{where} has {len(place.threads)} threads instead of {request.threads}"
    two_on_a_core = request.unit == "core" and request.smt != 1
    if request.share or request.oversubscribe or two_on_a_core:
        return
    for one, other in itertools.combinations(placement.ranks, 2):
        if one.cpus & other.cpus:
            yield f"ranks {one.rank} and {other.rank} share {sorted(one.cpus & other.cpus)}"
            return


def empty_lists(topology: Topology, request: PlacementRequest, placement: Placement) -> Iterator[str]:
    """Yield each line for a launcher that contains an empty list, and launchers that cannot write the placement."""
    syntaxes, broken = to_every_syntax(placement, request, topology)
    for entry in broken:
        yield f"{entry}"
    for name, syntax in syntaxes.items():
        for line in [*syntax.lines, *(line for _, text in syntax.files for line in text.splitlines())]:
            if not line.startswith("#") and EMPTY.search(line):
                yield f"{name}: {line}"


def all_faults(topology: Topology, seed: str, several: int = 6) -> list[str]:
    """Return what is wrong with placements of `several` requests, and with the launcher options made of them."""
    found = []
    for request in requests(topology, seed, several):
        answer = placed(topology, request)
        if answer is None:
            continue
        asked, placement = answer
        few = placement if len(placement.ranks) <= 8 else replace(placement, ranks=placement.ranks[:8])
        checks = (
            *faults(topology, asked, placement),
            *empty_lists(topology, replace(asked, ranks=len(few.ranks)), few),
        )
        found += [f"{asked}: {fault}" for fault in checks]
    return found
