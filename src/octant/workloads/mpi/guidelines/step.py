"""One step of mpi/guidelines: a call of the library, and its alternative."""

from __future__ import annotations

from collections.abc import Mapping

from octant.step import Step
from octant.units import parse_bytes

_WORD_BYTES, _BEHIND = 4, 64  # of an integer; integers behind the spare buffer's message


def step(knobs: Mapping[str, str], ranks: int, _threads: int) -> Step:
    """Return both calls of each rank. Messages depend on the library and are not declared.

    Memory is that of three buffers: what is sent has room for every second element of twice as many.
    """
    total = max(1, parse_bytes(knobs["bytes"]) // _WORD_BYTES // ranks) * ranks
    return Step({"calls": 2 * ranks}, _WORD_BYTES * (4 * total + _BEHIND) * ranks)
