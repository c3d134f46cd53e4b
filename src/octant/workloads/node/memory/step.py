"""One step of node/memory: the pages that are written, and the memory that they are in (`claim_outside`)."""

from __future__ import annotations

from collections.abc import Mapping

from octant.step import Step
from octant.units import parse_bytes

_PAGE, _WORD = 4096, 8
_DATA, _STACK = 32 << 20, 4 << 20  # of pattern=segments: the most of data, and a stack
_OF_MALLOC = ("free-below-held", "free", "trim")
_MAPPED = ("unmap", "madv-free", "madv-dontneed")


def step(knobs: Mapping[str, str], ranks: int, _threads: int) -> Step:
    """Return one step of each rank.

    Raises:
        KeyError: there is no such pattern.
    """
    pattern, length = knobs["pattern"], parse_bytes(knobs["bytes"])
    if pattern == "segments":
        written = 2 * length + min(length, _DATA) + 2 * _STACK
        return Step({"pages": written // _PAGE * ranks}, (length * 11 // 10 + _DATA + _STACK) * ranks)
    counts = {"pages": length // _PAGE * ranks}
    if pattern in _MAPPED:
        return Step(counts, length * ranks)
    if pattern in _OF_MALLOC:
        return Step(counts, _of_malloc(length, parse_bytes(knobs["block"])) * ranks)
    raise KeyError(pattern)


def _of_malloc(length: int, block: int) -> int:
    """Of whole blocks: what glibc takes for each, and the pointer to it."""
    taken = max(4 * _WORD, (block + 3 * _WORD - 1) // (2 * _WORD) * (2 * _WORD))
    return length // block * (taken + _WORD)
