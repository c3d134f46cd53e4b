"""Corrections of p-values for multiple comparisons."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


def holm(p: ArrayLike) -> NDArray[np.float64]:
    """Return Holm's p-values (1979), which bound the family-wise error rate under any dependence.

    Args:
        p: shape (…, figures), as the result.
    """
    values = np.asarray(p, np.float64)
    figures = values.shape[-1]
    order = np.argsort(values, axis=-1)
    stepped = np.take_along_axis(values, order, axis=-1) * np.arange(figures, 0, -1)
    return _in_place(np.minimum(np.maximum.accumulate(stepped, axis=-1), 1.0), order)


def benjamini_hochberg(p: ArrayLike) -> NDArray[np.float64]:
    """Return Benjamini and Hochberg's p-values (1995), which bound the false discovery rate.

    It bounds the expected share of false differences, for independent and positively dependent figures.

    Args:
        p: shape (…, figures), as the result.
    """
    values = np.asarray(p, np.float64)
    figures = values.shape[-1]
    order = np.argsort(values, axis=-1)
    stepped = np.take_along_axis(values, order, axis=-1) * figures / np.arange(1, figures + 1)
    least = np.minimum.accumulate(stepped[..., ::-1], axis=-1)[..., ::-1]
    return _in_place(np.minimum(least, 1.0), order)


def _in_place(stepped: NDArray[np.float64], order: NDArray[np.intp]) -> NDArray[np.float64]:
    result = np.empty_like(stepped)
    np.put_along_axis(result, order, stepped, axis=-1)
    return result
