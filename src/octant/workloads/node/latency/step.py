"""One chunk of node/latency: loads of each thread that follow each other, and the lines that they lie in."""

from __future__ import annotations

from collections.abc import Mapping

from octant.step import Step
from octant.units import parse_bytes

_LINE_BYTES, _INDEX_BYTES = 64, 4
_LOADS = 1024  # of a chunk
_PIECE_BYTES = 64 * _LINE_BYTES  # that a thread of pattern=loaded draws at once


def step(knobs: Mapping[str, str], ranks: int, threads: int) -> Step:
    """Return one chunk of each thread; of pattern=loaded, of the one thread whose loads are measured.

    Memory is that of the lines, with what lies between those of pattern=pages, and a number for each, in whose order
    they are followed; where all lines of a footprint are, also a bit for each while they are checked.

    Raises:
        KeyError: there is no such pattern.
    """
    pattern = knobs["pattern"]
    if pattern == "pages":
        count = int(knobs["count"]) * ranks * threads
        pitch = parse_bytes(knobs["stride"]) // _LINE_BYTES * _LINE_BYTES
        return Step({"loads": _LOADS * ranks * threads}, count * (pitch + _INDEX_BYTES))
    lines = parse_bytes(knobs["bytes"]) // _LINE_BYTES
    if pattern == "lines":
        return Step({"loads": _LOADS * ranks * threads}, _chained(lines * threads) * ranks)
    if pattern == "loaded":
        drawn = parse_bytes(knobs["load"]) // _PIECE_BYTES * _PIECE_BYTES * (threads - 1)
        counts = {"loads": _LOADS * ranks, "bytes_read": _LOADS * _LINE_BYTES * ranks}
        return Step(counts, (_chained(lines) + drawn) * ranks)
    raise KeyError(pattern)


def _chained(lines: int) -> int:
    return lines * (_LINE_BYTES + _INDEX_BYTES) + lines // 8
