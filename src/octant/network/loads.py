"""Utilisation of links at the maximum rate of a pattern: per link, and per class."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from octant.network.files import NetworkFile
from octant.network.platform import speed
from octant.network.solve import SolverSettings, solve
from octant.network.traffic import TrafficPattern

LEVELS = tuple(i / 31 for i in range(32))
"""Quantiles of the utilisation of a class, from the least to the most loaded link."""


@dataclass(frozen=True)
class ClassLoad:
    """Utilisation of the links of one class; 1 is saturated. It is 0 for a class without a limit."""

    link_class: str
    links: int
    mean: float
    quantiles: tuple[float, ...]  # at LEVELS
    limited: bool

    @property
    def busiest(self) -> float:
        """Utilisation of the most loaded link."""
        return self.quantiles[-1]


@dataclass(frozen=True)
class LoadMap:
    """Utilisation of all links at the rate that the tightest link allows."""

    network: NetworkFile
    pattern: str
    rate_per_s: float
    unit: str
    per: str
    classes: tuple[ClassLoad, ...]  # classes with traffic, in the order of the engine
    busy: NDArray[np.float64] = field(repr=False, compare=False)  # shape (links,)

    @property
    def bottleneck(self) -> ClassLoad:
        """The class with the highest utilisation; of equal ones, the fabric before endpoints."""
        return max(reversed(self.classes), key=lambda c: round(c.busiest, 9))


def load_map(network: NetworkFile, pattern: TrafficPattern) -> LoadMap:
    """Compute the exact utilisation of every link.

    Raises:
        Refusal: there are too many pairs for a routing that requires enumeration.
    """
    answer = solve(network, pattern, settings=SolverSettings(every_link=True))
    topology = network.build()
    kinds = topology.link_classes()
    names = network.class_names
    payload_s = 1 / np.array([speed(network, number, pattern.cost)[0] for number in range(len(names))])
    busy = answer.loads * pattern.cost.payload_bytes * payload_s[kinds]
    if answer.time_s > 0:  # otherwise no link limits the pattern
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
    """Return which links exist; unused links at the borders of a mesh have equal ends."""
    real: NDArray[np.bool_] = (ends[0][links] != ends[1][links]) | (number < 3)
    return real
