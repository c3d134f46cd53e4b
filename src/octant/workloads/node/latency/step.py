"""One chunk of node/latency: loads of each thread that follow each other, and the lines that they lie in."""

from __future__ import annotations

from collections.abc import Mapping

from octant.step import Step
from octant.units import parse_bytes

_LINE_BYTES, _INDEX_BYTES = 64, 4
_LOADS = 1024  # of a chunk
_PIECE_BYTES = 64 * _LINE_BYTES  # that a thread of pattern=loaded draws at once


def step(knobs: Mapping[str, str], ranks: int, threads: int) -> Step:
    """One chunk of each thread; of pattern=loaded, of the one thread whose loads are measured.

    Memory is that of the lines, and of a number for each while their order is drawn.

    Raises:
        ValueError: what the lines of pattern=pages take follows the page size: it is not declared.
    """
    pattern = knobs["pattern"]
    chased = parse_bytes(knobs["bytes"]) // _LINE_BYTES * (_LINE_BYTES + _INDEX_BYTES)
    if pattern == "lines":
        return Step({"loads": _LOADS * ranks * threads}, chased * ranks * threads)
    if pattern == "loaded":
        drawn = parse_bytes(knobs["load"]) // _PIECE_BYTES * _PIECE_BYTES * (threads - 1)
        return Step({"loads": _LOADS * ranks, "bytes_read": _LOADS * _LINE_BYTES * ranks}, (chased + drawn) * ranks)
    raise ValueError(f"memory of pattern={pattern} is not declared")
