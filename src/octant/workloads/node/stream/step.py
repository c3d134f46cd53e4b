"""One chunk of each thread of node/stream: what it reads, writes and computes, and what all arrays take."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TypeAlias

from octant.step import Step
from octant.units import parse_bytes

_DOUBLE_BYTES, _INDEX_BYTES = 8, 4
_LINE, _PAGE = 8, 512  # doubles
_MAX_PIECE = 65_536  # doubles of a chunk
_MAX_AHEAD = 512  # entries behind those of a list of pattern=gather
_LOOPS: Mapping[str, tuple[int, int, int, int]] = {
    "load": (1, 0, 0, 1),
    "copy": (1, 1, 1, 0),
    "scale": (1, 1, 1, 1),
    "add": (2, 1, 1, 1),
    "triad": (2, 1, 1, 2),
    "write": (0, 1, 1, 0),
    "update": (1, 1, 0, 1),
}
"""Arrays read, written, and read before they are written; operations (`kinds` of variants.cpp). `update` has one."""

_Counts: TypeAlias = Mapping[str, int]


def step(knobs: Mapping[str, str], ranks: int, threads: int) -> Step:
    """Return one chunk of each thread.

    The lines that pattern=gather touches are drawn at random and not declared; store=best is taken to be `plain`.
    """
    counts, held = _PATTERNS[knobs["pattern"]](knobs, threads)
    lanes = ranks * threads
    return Step({name: count * lanes for name, count in counts.items()}, ranks * held)


def _doubles(knobs: Mapping[str, str], name: str) -> int:
    return parse_bytes(knobs[name]) // _DOUBLE_BYTES


def _array(parts: int, length: int, skew: int = 0, guards: bool = False) -> int:
    """Return the bytes of an array of several parts, each of which begins in a page of its own (arrays.hpp)."""
    pitch = (skew + length + 2 * _LINE + _PAGE - 1) // _PAGE * _PAGE
    first = skew + (_PAGE if guards else 0)
    return _DOUBLE_BYTES * (first + (parts - 1) * pitch + length + (_LINE if guards else 0))


def _loads(loads: int, lines: int) -> _Counts:
    unused = max(0, _DOUBLE_BYTES * (_LINE * lines - loads))
    return {
        "bytes_read": _DOUBLE_BYTES * loads,
        "bytes_unused": unused,
        "lines": lines,
        "loads": loads,
        "flops": loads,
    }


def _contiguous(knobs: Mapping[str, str], threads: int) -> tuple[_Counts, int]:
    kernel, store = knobs["kernel"], knobs["store"]
    read, written, allocated, flops = _LOOPS[kernel]
    arrays = 1 if kernel == "update" else read + written
    parts = threads if knobs["data"] == "private" else 1
    elements = parse_bytes(knobs["bytes"]) // (_DOUBLE_BYTES * arrays * parts)
    pieces = (elements - 1) // _MAX_PIECE + 1
    small = max(64, elements // pieces // 64 * 64)
    length = pieces * small
    piece = length if store in ("libc", "rep") else small
    before = 0 if knobs["align"] == "page" else int(knobs["align"]) // _DOUBLE_BYTES
    there = enumerate((written == 1, arrays > written, arrays > 2))
    held = sum(
        _array(parts, length, before + place * _doubles(knobs, "offset"), place == 0) for place, one in there if one
    )
    counts = {
        "bytes_read": _DOUBLE_BYTES * piece * read,
        "bytes_written": _DOUBLE_BYTES * piece * written,
        "bytes_allocated": _DOUBLE_BYTES * piece * allocated if store in ("plain", "best") else 0,
        "flops": piece * flops,
    }
    return counts, held


def _strided(knobs: Mapping[str, str], threads: int) -> tuple[_Counts, int]:
    stride = _doubles(knobs, "stride")
    loads = parse_bytes(knobs["bytes"]) // threads // (_DOUBLE_BYTES * stride)
    pieces = (loads - 1) // _MAX_PIECE + 1
    piece = loads // pieces // 8 * 8
    lines = min(piece, -(-piece * stride // _LINE))
    return _loads(piece, lines), _array(threads, pieces * piece * stride)


def _gather(knobs: Mapping[str, str], threads: int) -> tuple[_Counts, int]:
    elements = parse_bytes(knobs["bytes"]) // threads // (_DOUBLE_BYTES + _INDEX_BYTES)
    pieces = (elements - 1) // _MAX_PIECE + 1
    piece = max(_PAGE, elements // pieces // _PAGE * _PAGE)
    length = pieces * piece
    listed = (length + _MAX_AHEAD + _PAGE - 1) // _PAGE * _PAGE
    counts = {"bytes_read": (_DOUBLE_BYTES + _INDEX_BYTES) * piece, "loads": piece, "flops": piece}
    return counts, _array(threads, length) + _INDEX_BYTES * listed * threads


def _streams(knobs: Mapping[str, str], threads: int) -> tuple[_Counts, int]:
    streams = int(knobs["streams"])
    elements = parse_bytes(knobs["bytes"]) // threads // _DOUBLE_BYTES // streams
    pieces = (elements - 1) // (_MAX_PIECE // streams) + 1
    piece = elements // pieces // 64 * 64
    counts = {"bytes_read": _DOUBLE_BYTES * piece * streams, "flops": piece * streams}
    return counts, _array(threads, streams * (pieces * piece + 3 * _LINE))


def _transposed(knobs: Mapping[str, str], threads: int) -> tuple[_Counts, int]:
    edge = int(knobs["tile"])
    n = int(math.sqrt(parse_bytes(knobs["bytes"]) // threads / (2 * _DOUBLE_BYTES))) // edge * edge
    pitch = (n // _LINE + 1) // 2 * 2 * _LINE + _LINE
    moved = _DOUBLE_BYTES * edge * n
    counts = {"bytes_read": moved, "bytes_written": moved, "bytes_allocated": moved}
    return counts, _array(threads, n * pitch, guards=True) + _array(threads, n * pitch)


_PATTERNS: Mapping[str, Callable[[Mapping[str, str], int], tuple[_Counts, int]]] = {
    "contiguous": _contiguous,
    "strided": _strided,
    "gather": _gather,
    "streams": _streams,
    "transposed": _transposed,
}
