"""Calibration: capacities from measured or published points, as ranges."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from octant.failure import Refusal
from octant.simulate.network import NetworkFile
from octant.simulate.patterns import make
from octant.simulate.solve import solve

_ENDPOINTS = ("injection", "ejection")


@dataclass(frozen=True)
class Measured:
    """One point: the rate of a traffic at a size, in base units, good to `tolerance` (relative).

    `at_least` and `at_most` are one-sided: what a text says ("no longer limits", "drops") without giving a number.
    """

    size: int
    value: float
    tolerance: float = 0.03
    relation: Literal["eq", "at_least", "at_most"] = "eq"


@dataclass(frozen=True)
class Parameter:
    """One capacity, in units of the traffic per second, with the range in which every point stays within tolerance."""

    link_class: str
    value: float
    low: float
    high: float  # infinite: nothing bounds it from above

    @property
    def determined(self) -> bool:
        """Whether both ends are bounded by evidence."""
        return self.low > 0 and math.isfinite(self.high)


@dataclass(frozen=True)
class Calibration:
    """Fitted capacities and what each point says of them."""

    traffic: str
    parameters: tuple[Parameter, ...]
    misfit: float  # root mean square of (model - value) / tolerance
    residuals: tuple[float, ...]  # relative, model over value minus one, by point


def calibrate(network: NetworkFile, traffic: str, points: Sequence[Measured], free: Sequence[str]) -> Calibration:
    """Fits the capacities of the `free` link classes (`endpoint` = injection and ejection) to points, by least squares.

    The loads do not depend on the capacities: the rate at each size is min over classes of capacity / load. The range
    of a capacity holds all values for which some choice of the other free ones keeps every point within its tolerance.

    Raises:
        Refusal: no points, or a class that carries nothing at any of the sizes.
    """
    if not points:
        raise Refusal("cannot calibrate without points; try published ones or a store with measurements")
    loads, fixed = _loads(network, traffic, points, free)
    sums = np.array([p.value for p in points])
    start = np.array([_first_guess(loads[:, k], sums) for k in range(len(free))])
    grid = np.exp(np.linspace(math.log(0.25), math.log(4.0), 1201))
    best, limits = _search(loads, fixed, points, start, grid)
    model = np.minimum(fixed, np.min(_over(best, loads), axis=1))
    parameters = tuple(Parameter(name, float(best[k]), *limits[k]) for k, name in enumerate(free))
    misfits = _misfit(model[None, :], points)[0]
    return Calibration(
        traffic, parameters, float(np.sqrt(np.mean(misfits**2))), tuple(float(r) for r in model / sums - 1)
    )


def _over(capacity: NDArray[np.float64], loads: NDArray[np.float64]) -> NDArray[np.float64]:
    with np.errstate(divide="ignore"):
        return np.asarray(np.where(loads > 0, capacity / np.where(loads > 0, loads, 1.0), np.inf))


def _loads(
    network: NetworkFile, traffic: str, points: Sequence[Measured], free: Sequence[str]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Largest load of each free class, shape (points, free), and the rate that the fixed classes allow."""
    loads = np.zeros((len(points), len(free)))
    fixed = np.full(len(points), np.inf)
    for i, point in enumerate(points):
        sized = network.at_size(point.size)
        for b in solve(sized, make(sized, traffic)).bottlenecks:
            name = "endpoint" if b.link_class in _ENDPOINTS and "endpoint" in free else b.link_class
            if name in free:
                loads[i, free.index(name)] = max(loads[i, free.index(name)], b.load)
            else:
                fixed[i] = min(fixed[i], b.rate_per_s)
    for k, name in enumerate(free):
        if not loads[:, k].any():
            raise Refusal(f"cannot calibrate {name!r} (it carries nothing at these sizes); try other points or classes")
    return loads, fixed


def _first_guess(loads: NDArray[np.float64], values: NDArray[np.float64]) -> float:
    """The least capacity that lets every point reach its value."""
    return float(np.max(values * loads))


def _misfit(model: NDArray[np.float64], points: Sequence[Measured]) -> NDArray[np.float64]:
    """(model - value) / tolerance, shape (candidates, points); one-sided points count only on their wrong side."""
    value = np.array([p.value for p in points])
    tolerance = np.array([p.tolerance for p in points])
    off = (model / value - 1) / tolerance
    low = np.array([-np.inf if p.relation != "at_most" else 0.0 for p in points])
    high = np.array([np.inf if p.relation != "at_least" else 0.0 for p in points])
    return np.asarray(np.clip(off, low, high), dtype=np.float64)


def _search(
    loads: NDArray[np.float64],
    fixed: NDArray[np.float64],
    points: Sequence[Measured],
    start: NDArray[np.float64],
    grid: NDArray[np.float64],
) -> tuple[NDArray[np.float64], list[tuple[float, float]]]:
    """Coordinate descent on a logarithmic grid; then, by bisection, how far each capacity may go either way."""

    def candidates(at: NDArray[np.float64], k: int) -> NDArray[np.float64]:
        others = np.delete(np.arange(len(at)), k)
        rest = np.min(_over(at[others], loads[:, others]), axis=1) if len(others) else np.full(len(fixed), np.inf)
        own = _over((start[k] * grid)[:, None], loads[None, :, k])
        return np.asarray(np.minimum(own, np.minimum(rest, fixed)[None, :]), dtype=np.float64)

    def descend(at: NDArray[np.float64], kept: int | None) -> NDArray[np.float64]:
        for _ in range(8):
            before = at.copy()
            for k in range(len(at)):
                if k != kept:
                    costs = np.sum(_misfit(candidates(at, k), points) ** 2, axis=1)
                    ties = np.nonzero(costs <= costs.min() * (1 + 1e-9) + 1e-15)[0]
                    at[k] = start[k] * grid[ties[len(ties) // 2]]
            if np.allclose(at, before, rtol=1e-12):
                break
        return at

    def holds(k: int, value: float) -> bool:
        """Whether some choice of the others keeps every point within its tolerance."""
        trial = best.copy()
        trial[k] = value
        trial = descend(trial, k)
        model = np.minimum(fixed, np.min(_over(trial, loads), axis=1))
        return bool(np.all(np.abs(_misfit(model[None, :], points)) <= 1 + 1e-9))

    def edge(k: int, far: float) -> float | None:
        """Where the points stop holding between the best value and `far` times it; `None`: not before."""
        if not holds(k, best[k]):
            return float(best[k])
        if holds(k, best[k] * far):
            return None
        inside, outside = 0.0, math.log(far)
        for _ in range(24):
            middle = (inside + outside) / 2
            inside, outside = (middle, outside) if holds(k, best[k] * math.exp(middle)) else (inside, middle)
        return float(best[k] * math.exp(inside))

    best = descend(start.copy(), None)
    limits = [(edge(k, 0.1) or 0.0, edge(k, 10.0) or math.inf) for k in range(len(best))]
    return best, limits
