"""Predictions of the network model, in the same form for all solvers."""

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Bottleneck:
    """The most limiting link of one class."""

    link_class: str
    link: str
    resource: Literal["bytes", "packets"]
    load: float  # units per round of the pattern
    capacity_per_s: float  # units
    rate_per_s: float  # limit by this class alone
    headroom: float  # rate_per_s over that of the tightest class
    links: int  # number of links of the class with this load


@dataclass(frozen=True)
class Bound:
    """The rate according to the next more accurate solver."""

    solver: str
    rate_per_s: float


@dataclass(frozen=True)
class FlowRates:
    """Rates of the single flows, in units per second, from solvers that compute them.

    Flows within a node do not cross the network. They are counted, but excluded from the statistics.
    """

    crossing: int  # flows between two nodes
    inside: int  # flows of a node with itself
    slowest_per_s: float
    quartiles_per_s: tuple[float, float, float]
    mean_per_s: float
    fastest_per_s: float
    each_per_s: NDArray[np.float64] = field(compare=False)  # shape (flows,), in their order; NaN inside a node


@dataclass(frozen=True)
class Prediction:
    """Rate and time of a pattern on a network.

    `rate_per_s` is in units of one node (uniform traffic) or of the largest flow; `time_s` is one round. The rate is
    infinite if no link limits the pattern, and zero if a part of it has no route. `loads`, shape (links,), is the
    number of units per round on every link; empty if loads were computed by class.
    """

    network: str
    pattern: str
    unit: str
    per: str
    solver: str
    rate_per_s: float
    time_s: float
    bottlenecks: tuple[Bottleneck, ...]  # one per class, tightest first
    bound: Bound | None = None
    stalled: float = 0.0  # share of the traffic without a route
    loads: NDArray[np.float64] = field(default_factory=lambda: np.empty(0), repr=False, compare=False)
    rates: NDArray[np.float64] = field(default_factory=lambda: np.empty(0), repr=False, compare=False)
    flow_rates: FlowRates | None = None  # of max-min and fluid (at the start), if a flow crosses the network
    units_each: float = 1.0  # per sender or of the largest flow, in one round
    notes: tuple[str, ...] = ()  # remarks about the rate

    @property
    def bottleneck(self) -> Bottleneck | None:
        """The tightest link class; `None`: no link limits the pattern."""
        return self.bottlenecks[0] if self.bottlenecks else None

    @property
    def runner_up(self) -> Bottleneck | None:
        """The next limiting class; injection and ejection count as one."""
        ends = ("injection", "ejection")
        first = self.bottlenecks[:1]
        for other in self.bottlenecks[1:]:
            if not (other.link_class in ends and first[0].link_class in ends):
                return other
        return None
