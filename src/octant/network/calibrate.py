"""Calibration of link capacities from measured or published rates, with ranges."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from octant.failure import Exit, Refusal, suggestion
from octant.network.files import NetworkFile
from octant.network.solve import solve
from octant.network.traffic import TrafficPattern, make

_ENDPOINTS = ("injection", "ejection")
MAX_SOLVED_NODES = 1 << 19
"""Maximum number of nodes of all networks of a calibration; half a million nodes take a second."""
MAX_FITTED = 80
"""Maximum product of points and classes of a fit; the time for inconsistent points grows with its square."""


@dataclass(frozen=True)
class MeasuredRate:
    """The rate of a traffic at a size, in base units, with a relative tolerance.

    `at_least` and `at_most` are one-sided bounds.
    """

    size: int
    value: float
    tolerance: float = 0.03
    relation: Literal["eq", "at_least", "at_most"] = "eq"


@dataclass(frozen=True)
class Parameter:
    """One capacity, in units of the traffic per second, with the range in which every rate is within its tolerance."""

    link_class: str
    value: float  # if unbounded above (below), the least (largest) of the equally good values
    low: float  # zero: no lower bound
    high: float  # infinite: no upper bound
    resource: Literal["bytes", "packets"] = "bytes"
    each: float = 1.0  # bytes or packets per unit of the traffic

    @property
    def determined(self) -> bool:
        """Whether both ends are bounded."""
        return self.low > 0 and math.isfinite(self.high)


@dataclass(frozen=True)
class Calibration:
    """Fitted capacities, with the residual of each rate."""

    traffic: str
    parameters: tuple[Parameter, ...]
    misfit: float  # root mean square of (model - value) / tolerance
    residuals: tuple[float, ...]  # model over value minus one, by point
    unit: str = ""  # of the traffic
    widened: float = 1.0  # largest residual of the best fit over its tolerance, at least 1


Case = tuple[NetworkFile, TrafficPattern]


def calibrate(network: NetworkFile, traffic: str, points: Sequence[MeasuredRate], free: Sequence[str]) -> Calibration:
    """Fit the capacities of the `free` link classes to the rates of a traffic at several sizes.

    Raises:
        Refusal: the networks have more than `MAX_SOLVED_NODES` nodes together, or as `fit`.
    """
    _check_count(points, free)
    sized = {size: network.at_size(size) for size in {point.size for point in points}}
    nodes = sum(one.topology.nodes() for one in sized.values())
    if nodes > MAX_SOLVED_NODES:
        raise Refusal(
            f"{len(sized)} sizes with {nodes} nodes in total are too many (maximum: {MAX_SOLVED_NODES} nodes); "
            "use fewer or smaller sizes",
            Exit.WRONG_WORD,
        )
    cases = {size: (one, make(one, traffic)) for size, one in sized.items()}
    return fit(traffic, [cases[point.size] for point in points], points, free)


def fit(name: str, cases: Sequence[Case], points: Sequence[MeasuredRate], free: Sequence[str]) -> Calibration:
    """Fit the capacities of the `free` link classes (`endpoint` = injection and ejection) by least squares.

    Loads do not depend on capacities: the rate of each case is the minimum of capacity / load over the classes. The
    range of a capacity contains all values for which some choice of the other free capacities keeps every point within
    its tolerance. If the points are inconsistent, the tolerance is multiplied by `widened`, and the range also contains
    the values that are allowed if any one point is omitted. All cases need the same unit and cost.

    Raises:
        Refusal: there are no points or too many, or a class is unknown or carries no traffic in any case.
    """
    _check_count(points, free)
    if not points:
        raise Refusal(
            "calibration needs at least one rate; give --points FILE, or --run with a stored run", Exit.WRONG_WORD
        )
    loads, fixed = _loads(cases, free)
    sums = np.array([p.value for p in points])
    start = np.array([_first_guess(loads[:, k], sums) for k in range(len(free))])
    search = _Search(loads, fixed, points, start)
    limits = [search.range_of(k) for k in range(len(free))]
    for left_out in range(len(points)) if search.slack > 1 and len(points) > 1 else ():
        kept = np.arange(len(points)) != left_out
        rest = [point for point, keep in zip(points, kept, strict=True) if keep]
        fewer = _Search(loads[kept], fixed[kept], rest, start)
        also = [fewer.range_of(k) for k in range(len(free))]
        limits = [(min(a[0], b[0]), max(a[1], b[1])) for a, b in zip(limits, also, strict=True)]
    best = search.best_capacities()
    parameters = tuple(
        Parameter(name, float(best[k]), *limits[k], *_resource_and_cost(*cases[0], name)) for k, name in enumerate(free)
    )
    misfits = _misfit(search.model(best)[None, :], points)[0]
    return Calibration(
        name,
        parameters,
        float(np.sqrt(np.mean(misfits**2))),
        tuple(float(r) for r in search.model(best) / sums - 1),
        cases[0][1].unit,
        search.slack,
    )


def _check_count(points: Sequence[MeasuredRate], free: Sequence[str]) -> None:
    if len(points) * len(free) > MAX_FITTED:
        raise Refusal(
            f"{len(points)} rates are too many for {len(free)} link classes (maximum: {MAX_FITTED // len(free)}); "
            "use fewer rates, or fewer classes in --free",
            Exit.WRONG_WORD,
        )


def _resource_and_cost(
    network: NetworkFile, pattern: TrafficPattern, name: str
) -> tuple[Literal["bytes", "packets"], float]:
    """Return the limiting resource of a class for a traffic, and the amount per unit of traffic."""
    at_end, cost = name not in network.links, pattern.cost
    each = cost.payload_bytes if at_end else cost.wire_bytes
    link = network.link_class("injection" if name == "endpoint" else name)
    by_bytes = link.bytes_per_s.value / each if link.bytes_per_s and each else math.inf
    by_packets = link.packets_per_s.value / cost.packets if link.packets_per_s and cost.packets else math.inf
    if by_packets < by_bytes or (math.isinf(by_bytes) and pattern.unit != "B" and cost.packets):
        return "packets", cost.packets
    return "bytes", each


def _over(capacity: NDArray[np.float64], loads: NDArray[np.float64]) -> NDArray[np.float64]:
    with np.errstate(divide="ignore"):
        return np.asarray(np.where(loads > 0, capacity / np.where(loads > 0, loads, 1.0), np.inf))


def _loads(cases: Sequence[Case], free: Sequence[str]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the largest load of each free class, shape (cases, free), and the rate allowed by the fixed classes."""
    loads = np.zeros((len(cases), len(free)))
    fixed = np.full(len(cases), np.inf)
    solved = {id(case): solve(_with_limits(case[0], free), case[1]).bottlenecks for case in cases}
    for i, case in enumerate(cases):
        pattern = case[1]
        for b in solved[id(case)]:
            name = "endpoint" if b.link_class in _ENDPOINTS and "endpoint" in free else b.link_class
            if name in free:
                loads[i, free.index(name)] = max(loads[i, free.index(name)], b.load / pattern.units_per_round)
            else:
                fixed[i] = min(fixed[i], b.rate_per_s)
    for k, name in enumerate(free):
        if not loads[:, k].any():
            raise Refusal(
                f"cannot calibrate {name!r} (it carries no traffic at these sizes); try other sizes or classes",
                Exit.WRONG_WORD,
            )
    return loads, fixed


def _with_limits(network: NetworkFile, free: Sequence[str]) -> NetworkFile:
    """Return the network with a finite capacity for every free class; unlimited classes are not in the result."""
    check_classes(network, free)
    for name in free:
        for one in _ENDPOINTS if name == "endpoint" else (name,):
            network = network.bounded(one)
    return network


def loaded_classes(network: NetworkFile, pattern: TrafficPattern) -> list[str]:
    """Return the link classes that a pattern loads, tightest first; injection and ejection are `endpoint`."""
    answer = solve(_with_limits(network, network.class_names), pattern)
    names = ("endpoint" if b.link_class in _ENDPOINTS else b.link_class for b in answer.bottlenecks)
    return list(dict.fromkeys(names))


def check_classes(network: NetworkFile, free: Sequence[str]) -> None:
    """Raise `Refusal` for a name that is neither a link class of the network nor `endpoint`."""
    known = ("endpoint", *network.class_names)
    for name in free:
        if name not in known:
            text = f"unknown link class {name!r}; {suggestion(name, known)}"
            raise Refusal(text, Exit.WRONG_WORD)


def _first_guess(loads: NDArray[np.float64], values: NDArray[np.float64]) -> float:
    """Return the least capacity with which every point reaches its value."""
    return float(np.max(values * loads))


def _misfit(model: NDArray[np.float64], points: Sequence[MeasuredRate]) -> NDArray[np.float64]:
    """Return (model - value) / tolerance, shape (candidates, points); satisfied bounds have residual 0."""
    value = np.array([p.value for p in points])
    tolerance = np.array([p.tolerance for p in points])
    off = (model / value - 1) / tolerance
    low = np.array([-np.inf if p.relation != "at_most" else 0.0 for p in points])
    high = np.array([np.inf if p.relation != "at_least" else 0.0 for p in points])
    return np.asarray(np.clip(off, low, high), dtype=np.float64)


class _Search:
    """Coordinate descent on a logarithmic grid, followed by bisection for the range of each capacity."""

    GRID = np.exp(np.linspace(math.log(0.25), math.log(4.0), 1201))

    def __init__(
        self,
        loads: NDArray[np.float64],
        fixed: NDArray[np.float64],
        points: Sequence[MeasuredRate],
        start: NDArray[np.float64],
    ) -> None:
        self._loads, self._fixed, self._points, self._start = loads, fixed, points, start
        self._best = self._descend(start.copy(), None)
        self.slack = max(1.0, self._worst(self._best))  # largest residual over its tolerance

    def model(self, capacities: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the rate of every case."""
        return np.asarray(np.minimum(self._fixed, np.min(_over(capacities, self._loads), axis=1)))

    def best_capacities(self) -> NDArray[np.float64]:
        """Return the best capacities; for one without an upper (lower) bound, the smallest (largest) best value."""
        at = self._best.copy()
        for k in range(len(at)):
            ties = self._ties(at, k)
            last = len(self.GRID) - 1
            if (ties[0] == 0) != (ties[-1] == last):
                at[k] = self._start[k] * self.GRID[ties[0] if ties[-1] == last else ties[-1]]
        return at

    def range_of(self, k: int) -> tuple[float, float]:
        """Return the range of a capacity for which some choice of the others satisfies all points."""
        return self._edge(k, 0.1) or 0.0, self._edge(k, 10.0) or math.inf

    def _candidates(self, at: NDArray[np.float64], k: int) -> NDArray[np.float64]:
        others = np.delete(np.arange(len(at)), k)
        none = np.full(len(self._fixed), np.inf)
        rest = np.min(_over(at[others], self._loads[:, others]), axis=1) if len(others) else none
        own = _over((self._start[k] * self.GRID)[:, None], self._loads[None, :, k])
        return np.asarray(np.minimum(own, np.minimum(rest, self._fixed)[None, :]), dtype=np.float64)

    def _ties(self, at: NDArray[np.float64], k: int) -> NDArray[np.intp]:
        """Return the grid indices of a capacity that are as good as its best."""
        costs = np.sum(_misfit(self._candidates(at, k), self._points) ** 2, axis=1)
        return np.nonzero(costs <= costs.min() * (1 + 1e-9) + 1e-15)[0]

    def _descend(self, at: NDArray[np.float64], kept: int | None) -> NDArray[np.float64]:
        for _ in range(8):
            before = at.copy()
            for k in range(len(at)):
                if k != kept:
                    ties = self._ties(at, k)
                    at[k] = self._start[k] * self.GRID[ties[len(ties) // 2]]
            if np.allclose(at, before, rtol=1e-12):
                break
        return at

    def _worst(self, at: NDArray[np.float64]) -> float:
        return float(np.max(np.abs(_misfit(self.model(at)[None, :], self._points))))

    def _holds(self, k: int, value: float) -> bool:
        """Return whether some choice of the others keeps every point within its tolerance."""
        trial = self._best.copy()
        trial[k] = value
        return self._worst(self._descend(trial, k)) <= self.slack * (1 + 1e-9)

    def _edge(self, k: int, far: float) -> float | None:
        """Return the bound of a capacity between the best value and `far` times it; `None`: it is not bounded there."""
        best = self._best[k]
        if self._holds(k, best * far):
            return None
        inside, outside = 0.0, math.log(far)
        for _ in range(24):
            middle = (inside + outside) / 2
            inside, outside = (middle, outside) if self._holds(k, best * math.exp(middle)) else (inside, middle)
        return float(best * math.exp(inside))
