"""Least squares with coefficients of at least 0 (Lawson and Hanson 1974, chapter 23)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_FLAT = 1e-12
"""Gradient of unit columns that counts as 0."""


def solve(columns: NDArray[np.float64], target: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the coefficients, all at least 0, whose sum of columns is nearest to the target.

    Args:
        columns: shape (rows, coefficients), at least one row; a column of zeros gets the coefficient 0.
        target: shape (rows,).
    """
    norms = np.linalg.norm(columns, axis=0)
    scaled = columns / np.where(norms > 0, norms, 1.0)
    free = norms > 0
    plain = _of(scaled, target, free)
    found = plain if (plain[free] > 0).all() else _pivoted(scaled, target, free)
    return np.asarray(found / np.where(norms > 0, norms, 1.0))


def _pivoted(
    scaled: NDArray[np.float64], target: NDArray[np.float64], allowed: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Return the coefficients by the active-set method: they enter one by one and leave if they fall below 0."""
    found: NDArray[np.float64] = np.zeros(scaled.shape[1])
    free = np.zeros(scaled.shape[1], dtype=bool)
    for _ in range(3 * scaled.shape[1]):
        gradient = np.where(allowed & ~free, scaled.T @ (target - scaled @ found), -np.inf)
        best = int(gradient.argmax())
        if gradient[best] <= _FLAT * np.linalg.norm(target):
            break
        free[best] = True
        trial = _of(scaled, target, free)
        while free.any() and (trial[free] <= 0).any():
            falling = free & (trial <= 0)
            share = (found[falling] / (found[falling] - trial[falling])).min(initial=1.0)
            found = found + share * (trial - found)
            free &= found > _FLAT * max(1.0, float(found.max()))
            found = np.where(free, found, 0.0)
            trial = _of(scaled, target, free)
        found = trial
    return found


def _of(scaled: NDArray[np.float64], target: NDArray[np.float64], free: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return plain least squares of the free columns; the other coefficients are 0."""
    found: NDArray[np.float64] = np.zeros(scaled.shape[1])
    if free.any():
        found[free] = np.linalg.lstsq(scaled[:, free], target, rcond=None)[0]
    return found
