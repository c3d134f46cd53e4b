"""Logarithms of launch medians as machines give them, in units of their spread, for simulations."""

import math
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

SHAPES = ("normal", "slow tail", "two levels", "skewed")
OWN_ERROR = 0.3  # of a launch's median


def simulated_launches(
    shape: str, size: tuple[int, ...], generator: np.random.Generator, own_error: float = OWN_ERROR
) -> NDArray[np.float64]:
    """Launches whose distribution has the median 0; errors of their own are added.

    slow tail: a tenth is slower by an exponential of mean 4. two levels: 65 and 35 %, 4 inner deviations apart.
    """
    y = generator.normal(size=size)
    if shape == "slow tail":
        y += np.where(generator.random(size) < 0.1, generator.exponential(4, size), 0) - 0.112186
    elif shape == "two levels":
        y = (y + np.where(generator.random(size) < 0.35, 4.0, 0.0) - 0.735346) / math.sqrt(1 + 16 * 0.35 * 0.65)
    elif shape == "skewed":
        y = math.log(2) - generator.exponential(1, size)
    return y + generator.normal(0, own_error, size)


def launches_of_two_levels(
    size: tuple[int, ...], generator: np.random.Generator, share: float = 0.3, step: float = 0.15, spread: float = 0.01
) -> NDArray[np.float64]:
    """Logarithms of launches of which a share is slower by a step that is large against the spread of the others.

    Their median is 0: the upper level holds less than half of them.
    """
    y = generator.normal(0, spread, size) + np.where(generator.random(size) < share, math.log1p(step), 0)
    return y - NormalDist(0, spread).inv_cdf(0.5 / (1 - share))


def autoregressive_launches(
    size: tuple[int, int], memory: float, generator: np.random.Generator
) -> NDArray[np.float64]:
    """Series of launches (trials, launches): standard normal, with `memory` the correlation of neighbours."""
    y = generator.normal(size=size)
    for i in range(1, size[1]):
        y[:, i] = memory * y[:, i - 1] + math.sqrt(1 - memory**2) * y[:, i]
    return y
