"""What every solver answers, in one type."""

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Bottleneck:
    """The link of one class that holds the pattern back most."""

    link_class: str
    link: str
    resource: Literal["bytes", "packets"]
    load: float  # units per round of the pattern
    capacity_per_s: float  # units
    rate_per_s: float  # that this class alone would allow
    headroom: float  # rate_per_s over that of the tightest
    links: int  # of the class that are loaded as much


@dataclass(frozen=True)
class Bound:
    """What the next better solver says of the same question."""

    solver: str
    rate_per_s: float


@dataclass(frozen=True)
class FlowRates:
    """Rates of the single flows, in units per second, where a solver gives every flow its own.

    Flows inside a node do not cross the network: they are counted, and left out of the figures.
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

    `rate_per_s` counts units of one node (uniform traffic) or of the largest flow; `time_s` is one round. Where nothing
    limits the pattern the rate is infinite; where some of it has no route, zero. `loads`, shape (links,), are units per
    round on every link; empty where loads were counted by class.
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
    stalled: float = 0.0  # part of the traffic that cannot be sent
    loads: NDArray[np.float64] = field(default_factory=lambda: np.empty(0), repr=False, compare=False)
    rates: NDArray[np.float64] = field(default_factory=lambda: np.empty(0), repr=False, compare=False)
    flow_rates: FlowRates | None = None  # of max-min and fluid (as it begins), where a flow crosses the network
    units_each: float = 1.0  # of a sender or the largest flow, in one round
    notes: tuple[str, ...] = ()  # what a reader of the rate must know

    @property
    def bottleneck(self) -> Bottleneck | None:
        """The tightest, if anything limits at all."""
        return self.bottlenecks[0] if self.bottlenecks else None

    @property
    def runner_up(self) -> Bottleneck | None:
        """What would limit next; injection and ejection count as one."""
        ends = ("injection", "ejection")
        first = self.bottlenecks[:1]
        for other in self.bottlenecks[1:]:
            if not (other.link_class in ends and first[0].link_class in ends):
                return other
        return None
