"""One call of node/lapack in each rank: its operations, and its matrices with the work space (routines.hpp)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from octant.step import Step

_NUMBER_BYTES = 8
_FLOPS: Mapping[str, Callable[[int], int]] = {
    "lu": lambda n: 2 * n**3 // 3,
    "cholesky": lambda n: n**3 // 3,
    "qr": lambda n: 4 * n**3 // 3,
    "eigenvalues": lambda n: 4 * n**3 // 3,
    "eigenvectors": lambda n: 9 * n**3,
    "svd": lambda n: 21 * n**3,
}
_BY_CONVENTION = ("eigenvectors", "svd")
"""Routines whose operations depend on the matrix."""
_MORE: Mapping[str, Callable[[int], int]] = {
    "eigenvectors": lambda n: 2 * n**2 + 6 * n + 1,
    "svd": lambda n: 6 * n**2 + 7 * n,
}
"""Numbers in addition to two matrices, where these grow with n²."""


def step(knobs: Mapping[str, str], ranks: int, _threads: int) -> Step:
    """Return one call in each rank."""
    n, routine = int(knobs["n"]), knobs["routine"]
    more = _MORE[routine](n) if routine in _MORE else 0
    name = "nominal_flops" if routine in _BY_CONVENTION else "flops"
    return Step({name: _FLOPS[routine](n) * ranks}, _NUMBER_BYTES * (2 * n**2 + more) * ranks)
