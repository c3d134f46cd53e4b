"""One chunk of each thread of node/randomaccess: its updates, and the tables of all threads."""

from __future__ import annotations

from collections.abc import Mapping

from octant.step import Step
from octant.units import parse_bytes

_WORD_BYTES = 8
_UPDATES = 32 * 128  # of a chunk: steps of all streams
_LEAST_WORDS = 8


def step(knobs: Mapping[str, str], ranks: int, threads: int) -> Step:
    """Return one chunk of each thread; each has the largest power of two of words that fits into its share."""
    share = max(_LEAST_WORDS, parse_bytes(knobs["bytes"]) // threads // _WORD_BYTES)
    lanes, words = ranks * threads, 1 << (share.bit_length() - 1)
    moved = _WORD_BYTES * _UPDATES * lanes
    counts = {"bytes_read": moved, "bytes_written": moved, "updates": _UPDATES * lanes}
    return Step(counts, _WORD_BYTES * words * lanes)
