"""Student's t distribution and the power of paired tests, with numpy and the error function only."""

from __future__ import annotations

import math
from functools import cache
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

LEVEL = 0.05  # of every test; intervals hold 1 - LEVEL
POWER = 0.8  # probability to detect a true difference in the planned number of rounds
EXACT_ROUNDS = 1000  # largest number of rounds that is computed exactly
_log_gamma = np.vectorize(math.lgamma, otypes=[np.float64])
_error_function = np.vectorize(math.erf, otypes=[np.float64])


def two_sided_p(t: ArrayLike, freedom: ArrayLike) -> NDArray[np.float64]:
    """Return the two-sided tail probability of Student's t.

    Args:
        t: any shape; infinite values have the probability 0.
        freedom: degrees of freedom, above 0 and not necessarily whole; broadcast against `t`.
    """
    square, nu = np.broadcast_arrays(np.square(np.asarray(t, np.float64)), np.asarray(freedom, np.float64))
    x = nu / (nu + square)
    with np.errstate(invalid="ignore"):
        y = np.where(np.isinf(square), 1.0, square / (nu + square))
    return _incomplete_beta(x, y, nu / 2, np.full(x.shape, 0.5))


def _incomplete_beta(
    x: NDArray[np.float64], y: NDArray[np.float64], a: NDArray[np.float64], b: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the regularised incomplete beta function I_x(a, b), with y = 1 - x (Abramowitz and Stegun, 26.5.8)."""
    turned = x > (a + 1) / (a + b + 2)  # the fraction converges faster for the other tail
    x, y, a, b = np.where(turned, y, x), np.where(turned, x, y), np.where(turned, b, a), np.where(turned, a, b)
    with np.errstate(divide="ignore"):
        front = np.exp(a * np.log(x) + b * np.log(y) + _log_gamma(a + b) - _log_gamma(a) - _log_gamma(b)) / a
    tail = front * _beta_fraction(x, a, b)
    share: NDArray[np.float64] = np.where(turned, 1 - tail, tail)
    return share


def _beta_fraction(x: NDArray[np.float64], a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the continued fraction of I_x(a, b), by Lentz's method as modified by Thompson and Barnett (1986)."""
    c, d = np.ones(x.shape), 1 / _not_zero(1 - (a + b) * x / (a + 1))
    fraction = d
    for m in range(1, 1000):
        for term in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 / _not_zero(1 + term * d)
            c = _not_zero(1 + term / c)
            fraction = fraction * c * d
        if np.all(np.abs(c * d - 1) < 1e-14):
            break
    return fraction


def _not_zero(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.where(np.abs(values) < 1e-300, 1e-300, values)


@cache
def t_quantile(level: float, freedom: float) -> float:
    """Return the two-sided quantile of Student's t at probability `level`: 12.706 for 0.05 and 1.

    Newton's method from the smaller normal quantile; the tail is convex, so no step overshoots.
    """
    t = NormalDist().inv_cdf(1 - level / 2)
    scale = math.exp(math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2)) / math.sqrt(freedom * math.pi)
    for _ in range(100):
        density = scale * (1 + t * t / freedom) ** (-(freedom + 1) / 2)
        step = (float(two_sided_p(t, freedom)) - level) / (2 * density)
        t += step
        if abs(step) <= 1e-12 * t:
            break
    return t


def power(effect: float, rounds: int, level: float = LEVEL) -> float:
    """Return the probability that Student's two-sided paired test finds a true difference.

    Args:
        effect: the difference of logarithms over the standard deviation of one round's.
        rounds: at least 3.

    Integrates the normal distribution over that of the estimated deviation (noncentral t: Johnson, Welch 1940).
    """
    nu = rounds - 1
    reach = 9 / math.sqrt(2 * nu)
    edges = np.linspace(max(0.0, 1 - reach), 1 + reach, 1001)
    deviation = (edges[1:] + edges[:-1]) / 2
    weight = np.exp((nu - 1) * np.log(deviation) - nu * (deviation**2 - 1) / 2)
    bound, shift = t_quantile(level, nu) * deviation, abs(effect) * math.sqrt(rounds)
    outside = (
        1 - (_error_function((bound - shift) / math.sqrt(2)) + _error_function((bound + shift) / math.sqrt(2))) / 2
    )
    return float(weight @ outside / weight.sum())


def rounds_needed(effect: float, level: float = LEVEL) -> int:
    """Return the fewest paired rounds that detect this effect (as in `power`, above 0) with `POWER`.

    Above `EXACT_ROUNDS`, the normal approximation is used.
    """
    tail, hit = NormalDist().inv_cdf(1 - level / 2), NormalDist().inv_cdf(POWER)
    rounds = max(3, math.ceil(((tail + hit) / effect) ** 2 + tail**2 / 2))  # within a few rounds
    if rounds > EXACT_ROUNDS:
        return rounds
    while power(effect, rounds, level) < POWER:
        rounds += 1
    while rounds > 3 and power(effect, rounds - 1, level) >= POWER:
        rounds -= 1
    return rounds


@cache
def smallest_effect(rounds: int, level: float = LEVEL) -> float:
    """Return the least effect (as in `power`) that this many paired rounds, at least 3, detect with `POWER`."""
    low, high = 0.0, 1.0
    while power(high, rounds, level) < POWER:
        low, high = high, 2 * high
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if power(middle, rounds, level) < POWER else (low, middle)
    return high
