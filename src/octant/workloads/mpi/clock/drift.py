"""The rate at which one clock runs ahead of another, from offsets each of which is known within a bound."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Offsets:
    """How far a clock was ahead at some moments, and by how much each may be off; s."""

    moment_s: NDArray[np.float64]
    offset_s: NDArray[np.float64]
    bound_s: NDArray[np.float64]


def drift_of(found: Offsets) -> tuple[float, float]:
    """Return the least and the greatest drift, s/s, of all lines through every offset within its bound.

    A line of slope s passes through all if and only if it does through any two: s (t_j - t_i) lies between
    low_j - high_i and high_j - low_i. Where there is no such line the drift changed; the least is then the greater.
    """
    later, earlier = np.tril_indices(len(found.moment_s), -1)
    apart = found.moment_s[later] - found.moment_s[earlier]
    kept = apart > 0
    rise = (found.offset_s[later] - found.offset_s[earlier])[kept]
    slack = (found.bound_s[later] + found.bound_s[earlier])[kept]
    if not kept.any():
        return float("nan"), float("nan")
    return float(((rise - slack) / apart[kept]).max()), float(((rise + slack) / apart[kept]).min())
