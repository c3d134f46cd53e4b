"""How busy every link is when a pattern runs as fast as it can: per link, and per class."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from octant.network.files import NetworkFile
from octant.network.platform import speed
from octant.network.solve import SolverSettings, solve
from octant.network.traffic import TrafficPattern

LEVELS = tuple(i / 31 for i in range(32))
"""Quantiles that a class is shown by: links from the idlest to the busiest."""


@dataclass(frozen=True)
class ClassLoad:
    """How busy the links of one class are; 1 is saturated. A class without a limit is never busy."""

    link_class: str
    links: int
    mean: float
    quantiles: tuple[float, ...]  # at LEVELS
    limited: bool

    @property
    def busiest(self) -> float:
        """Of its most loaded link."""
        return self.quantiles[-1]


@dataclass(frozen=True)
class LoadMap:
    """A pattern at the rate that its tightest link allows, and what that makes of every link."""

    network: NetworkFile
    pattern: str
    rate_per_s: float
    unit: str
    per: str
    classes: tuple[ClassLoad, ...]  # the classes that carry anything, in the engine's order
    busy: NDArray[np.float64] = field(repr=False, compare=False)  # shape (links,)

    @property
    def bottleneck(self) -> ClassLoad:
        """The busiest class; the fabric before endpoints where both are."""
        return max(reversed(self.classes), key=lambda c: round(c.busiest, 9))


def load_map(network: NetworkFile, pattern: TrafficPattern) -> LoadMap:
    """Every link's load over its capacity, exactly.

    Raises:
        Refusal: too many pairs, and the routing can only be enumerated.
    """
    answer = solve(network, pattern, settings=SolverSettings(every_link=True))
    topology = network.build()
    kinds = topology.link_classes()
    names = network.class_names
    payload_s = 1 / np.array([speed(network, number, pattern.cost)[0] for number in range(len(names))])
    busy = answer.loads * pattern.cost.payload_bytes * payload_s[kinds]
    if answer.time_s > 0:  # else nothing limits the pattern, and nothing is busy
        busy /= answer.time_s
    classes = []
    for number, name in enumerate(names):
        mine = np.flatnonzero(kinds == number)
        mine = mine[_exists(topology.ends(), mine, number)]
        if not mine.size or not answer.loads[mine].any():
            continue
        levels = tuple(float(q) for q in np.quantile(busy[mine], LEVELS))
        classes.append(ClassLoad(name, mine.size, float(busy[mine].mean()), levels, bool(payload_s[number])))
    return LoadMap(network, pattern.name, answer.rate_per_s, pattern.unit, answer.per, tuple(classes), busy)


def _exists(
    ends: tuple[NDArray[np.int32], NDArray[np.int32]], links: NDArray[np.intp], number: int
) -> NDArray[np.bool_]:
    """Links of the fabric that have two ends: a mesh keeps a number where the torus would go on."""
    real: NDArray[np.bool_] = (ends[0][links] != ends[1][links]) | (number < 3)
    return real
