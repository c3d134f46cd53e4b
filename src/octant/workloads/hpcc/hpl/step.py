"""One factorisation and solution of hpcc/hpl: what it computes, holds and sends (factors.cpp, panel.cpp, exchange.cpp).

The kernel leaves the messages of the solution out of its counts, and so does this declaration.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from octant.step import Part, Step, grid_of

NUMBER_BYTES = 8
_CHOICE = 3  # numbers in addition to the two rows that each reduction of a pivot is about

_Numbers = NDArray[np.int64]


def step(knobs: Mapping[str, str], ranks: int, threads: int) -> Step:
    """Return one step: (2/3) n³ + (3/2) n² operations.

    Which rows change places depends on the matrix: each pivot is taken to lie below the block on the diagonal while
    there are rows. A grid of one row of ranks exchanges none.
    """
    return step_with_pivots(knobs, ranks, threads, ())


def step_with_pivots(knobs: Mapping[str, str], ranks: int, _threads: int, sources: Sequence[Sequence[int]]) -> Step:
    """Return the same for known numbers of pivot rows that come from below the block of each panel."""
    rows, columns = grid_of(knobs["grid"], ranks)
    n, block = int(knobs["n"]), int(knobs["block"])
    shared = columns > 1 and knobs["transport"] == "shared"
    first = np.arange(0, n, block)
    width = np.minimum(block, n - first)
    parts = [
        Part("broadcast", *_panels(first, width, n, block, rows, columns, shared), turns=len(first)),
        Part("panel", *_pivots(width, rows), turns=n * _halvings(rows) / columns),
        Part("swap", *_rows_moved(knobs, n, block, rows, columns, sources), turns=len(first), exact=bool(sources)),
    ]
    held = sum(_held(n, block, (rows, columns), place) for place in np.ndindex(rows, columns))
    return Step(
        {"flops": (4 * n**3 + 9 * n**2) // 6}, NUMBER_BYTES * held, tuple(part for part in parts if part.messages)
    )


def _halvings(processes: int) -> int:
    return (processes - 1).bit_length()


def _padded(numbers: _Numbers) -> _Numbers:
    """Return a length padded to whole cache lines, not a multiple of a page (`padded` of layout.hpp)."""
    lines = (numbers + 7) // 8 * 8
    return np.where(lines % 512 == 0, lines + 8, lines)


def _count(n: int, block: int, processes: int, process: int) -> int:
    """Return the rows or columns of a process (block_cyclic.hpp)."""
    whole, rest = divmod(n, block * processes)
    return whole * block + min(max(rest - process * block, 0), block)


def _held(n: int, block: int, grid: tuple[int, int], place: Sequence[int]) -> int:
    """Return the numbers of a rank: its part of the matrix, two panels, and exchanged rows (`needs`)."""
    local_rows, local_columns = _count(n, block, grid[0], place[0]), _count(n + 1, block, grid[1], place[1])
    leading, high = map(int, _padded(np.array([local_columns, local_rows])))
    width = min(block, n)
    wide = (width + 7) // 8 * 8
    panel = wide + wide * wide + wide * high
    solved = width * leading * (2 if grid[0] > 1 else 1)
    scratch = 4 * width * local_columns if grid[0] > 1 else 0
    return local_rows * leading + 2 * panel + width * width + solved + scratch


def _panels(
    first: _Numbers, width: _Numbers, n: int, block: int, rows: int, columns: int, shared: bool
) -> tuple[int, int]:
    """Return the messages and bytes of panels, which are broadcast along rows of ranks."""
    if columns == 1:
        return 0, 0
    messages = len(first) * rows * (columns - 1)
    if shared:
        return messages, messages * NUMBER_BYTES
    blocks = -(-(n - first) // block)  # below and on the diagonal, dealt out to the rows of ranks
    short = blocks * block - (n - first)  # of the last of them
    each, more = np.divmod(blocks, rows)  # `more` ranks have one block more; the last block is of one of these, if any
    of_last = np.where(more > 0, each + 1, each)
    others = (more - (more > 0), rows - more - (more == 0))

    def leading(numbers: _Numbers) -> _Numbers:
        return _padded(np.maximum(1, numbers))

    below = (
        others[0] * leading((each + 1) * block) + others[1] * leading(each * block) + leading(of_last * block - short)
    )
    wide = (width + 7) // 8 * 8
    numbers = rows * (wide + wide * width) + width * below
    return messages, NUMBER_BYTES * (columns - 1) * int(numbers.sum())


def _pivots(width: _Numbers, rows: int) -> tuple[int, int]:
    """Return the messages and bytes of pivot searches: a reduction over a column of ranks for each pivot."""
    messages = rows * _halvings(rows)
    return messages * int(width.sum()), NUMBER_BYTES * messages * int((width * (_CHOICE + 2 * width)).sum())


def _rows_moved(
    knobs: Mapping[str, str], n: int, block: int, rows: int, columns: int, sources: Sequence[Sequence[int]]
) -> tuple[int, int]:
    """Return the messages and bytes of row exchanges within columns of ranks."""
    if rows == 1:
        return 0, 0
    ahead = columns > 1 and int(knobs["depth"]) > 0
    messages = numbers = 0
    for number, first in enumerate(range(0, n, block)):
        width = min(block, n - first)
        after = first + width
        if sources:
            from_below = len(sources[number])
            senders = len({number % rows, *(source // block % rows for source in sources[number])})
        else:
            from_below = min(width, n - after)
            senders = min(rows, math.ceil((n - first) / block), 1 + from_below)
        calls = _ranks_with(after, n + 1, block, columns)
        if ahead and after < n:  # the columns of the next panel in a call of their own
            calls = 1 + _ranks_with(min(n, after + block), n + 1, block, columns)
        messages += (rows - 1) * senders * calls
        numbers += (rows - 1) * (width + from_below) * (n + 1 - after)
    return messages, NUMBER_BYTES * numbers


def _ranks_with(begin: int, end: int, block: int, columns: int) -> int:
    """Return the columns of ranks that have any of the matrix's columns from `begin` on."""
    return min(columns, -(-end // block) - begin // block)
