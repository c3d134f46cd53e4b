"""One transform of hpcc/gfft: what it moves, holds and sends (messages.cpp, plan.cpp)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from octant.step import Part, Step

NUMBER_BYTES = 16
_MAX_LANES = 8  # numbers of the widest vector
_CHUNK_BYTES, _MESSAGE_BYTES, _LEAST_CHUNKS = 2**19, 2**16, 9  # what `chunks=0` aims at
_DEPTH = 3  # chunks under way
_LINE = 64 // NUMBER_BYTES  # numbers of a line of the cache

_Sizes = NDArray[np.int64]


@dataclass(frozen=True)
class _Split:
    """Return the lines in one block for each rank; `sizes` of shape (ranks,)."""

    unit: int  # boundaries are multiples of so many lines
    sizes: _Sizes


def step(knobs: Mapping[str, str], ranks: int, _threads: int) -> Step:
    """Return one transform. The real operations of its own passes depend on the vectors of the processor: not declared.

    Ranks beyond the lines of the matrix have none; the kernel refuses so many.

    Raises:
        ValueError: n has another prime factor than 2, 3 and 5.
    """
    n = int(knobs["n"])
    rows = rows_of(n, ranks)
    columns = n // rows
    of_rows, of_columns = _split(rows, ranks), _split(columns, ranks)
    into, out = of_rows.sizes * columns, of_columns.sizes * rows  # numbers of each rank
    counts = {
        "nominal_flops": sum(math.floor(5 * n * math.log2(n) * (int(part) / n) + 0.5) for part in into),
        "bytes_read": 2 * NUMBER_BYTES * n,
        "bytes_written": 2 * NUMBER_BYTES * n,
    }
    scratch = 4 * _MAX_LANES * max(rows, columns) * 8 * ranks
    if knobs["transport"] == "shared":
        return Step(counts, scratch + NUMBER_BYTES * (2 * int(into.sum()) + int(out.sum())))
    asked = int(knobs["chunks"])
    column_chunks, row_chunks = _chunks(of_columns, rows, asked), _chunks(of_rows, columns, asked)
    own = int((2 * (-(-into // _LINE) * _LINE) + out + _LINE).sum())
    slots = min(_DEPTH, max(column_chunks, row_chunks)) * _slots(of_rows, of_columns, column_chunks, row_chunks)
    held = scratch + NUMBER_BYTES * (own + (slots if ranks > 1 else 0))
    pairs = ranks * (ranks - 1) if knobs["schedule"] != "library" else 0
    leaves = NUMBER_BYTES * (n - int((of_rows.sizes * of_columns.sizes).sum()))
    parts = [Part("exchange", chunks * pairs, leaves) for chunks in (column_chunks, column_chunks, row_chunks)]
    return Step(counts, held, parts if ranks > 1 else ())


def _divisors(n: int) -> list[int]:
    """Return all divisors of n = 2^a 3^b 5^c, in order.

    Raises:
        ValueError: it has another factor.
    """

    def powers(prime: int, left: int) -> Iterator[int]:
        power = 1
        while left % power == 0:
            yield power
            power *= prime

    found = [two * three * five for two in powers(2, n) for three in powers(3, n) for five in powers(5, n)]
    if max(found) != n:
        raise ValueError(f"{n} is not 2^a 3^b 5^c")
    return sorted(found)


def rows_of(n: int, ranks: int) -> int:
    """Return the divisor of n nearest to its root with whole vectors in all shares (`Plan::rows_of`)."""

    def cost(rows: int) -> float:
        columns = n // rows
        equal = rows % ranks == 0 and columns % ranks == 0
        whole = equal and rows // ranks % _MAX_LANES == 0 and columns // ranks % _MAX_LANES == 0
        away = abs(math.log2(float(rows) * float(rows) / float(n)))
        return away + (0 if equal else 8) + (0 if whole else 4) + (0.01 if rows > columns else 0)

    return min(_divisors(n), key=cost)


def smooth_at_least(n: float) -> int:
    """Return the smallest 2^a 3^b 5^c that is at least n."""
    best = 1 << max(0, math.ceil(n) - 1).bit_length()
    five = 1
    while five < best:
        odd = five
        while odd < best:
            best = min(best, odd << max(0, math.ceil(n / odd) - 1).bit_length())
            odd *= 3
        five *= 5
    return best


def _boundaries(units: int | _Sizes, blocks: int, unit: int) -> _Sizes:
    """Where blocks begin, and the last ends: shape (blocks + 1, …)."""
    places = np.arange(blocks + 1, dtype=np.int64)
    return unit * (np.multiply.outer(places, np.asarray(units, dtype=np.int64)) // blocks)


def _split(lines: int, ranks: int) -> _Split:
    equal = lines % (_MAX_LANES * ranks) == 0
    many = lines % _MAX_LANES == 0 and lines >= 8 * _MAX_LANES * ranks
    unit = _MAX_LANES if equal or (many and lines % ranks != 0) else 1
    return _Split(unit, np.diff(_boundaries(lines // unit, ranks, unit)))


def _chunks(lines: _Split, length: int, asked: int) -> int:
    """Of each exchange, as `chunks_of`: by bytes unless asked, at most as many as there are whole units in a block."""
    size = int(lines.sizes.max()) * length * NUMBER_BYTES
    longest = max(_CHUNK_BYTES, size // _LEAST_CHUNKS)
    chunk = min(max(_MESSAGE_BYTES * len(lines.sizes), _CHUNK_BYTES), longest)
    return max(1, min(asked or -(-size // chunk), int(lines.sizes.min()) // lines.unit))


def _parts(lines: _Split, chunks: int) -> _Sizes:
    """Return the lines of each chunk of each rank's block: shape (chunks, ranks)."""
    return np.diff(_boundaries(lines.sizes // lines.unit, chunks, lines.unit), axis=0)


def _slots(rows: _Split, columns: _Split, column_chunks: int, row_chunks: int) -> int:
    """Return the numbers of a chunk under way, of all ranks together (`plan_exchanges`)."""
    of_columns, of_rows = _parts(columns, column_chunks), _parts(rows, row_chunks)

    def most(mine: _Sizes, parts: _Sizes) -> tuple[_Sizes, _Sizes]:
        """Of one's own lines times the others' parts of a chunk, and of the others' lines times one's own part."""
        others = parts.sum(axis=1, keepdims=True) - parts
        return (mine * others).max(axis=0), ((mine.sum() - mine) * parts).max(axis=0)

    first, second = most(rows.sizes, of_columns)
    block, third = most(columns.sizes, of_rows)
    return int((np.maximum(first, third) + np.maximum(second, block) + second).sum())
