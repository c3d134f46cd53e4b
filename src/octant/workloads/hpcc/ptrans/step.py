"""One transposition of hpcc/ptrans: what it moves, holds and sends (layout.cpp, kernel.cpp)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from octant.step import Part, Step, grid_of
from octant.units import parse_bytes

NUMBER_BYTES = 8
_AT_ONCE = 2  # parcels on the way out, and as many on the way in
_OF_HPL = "hpl:"


def order_of(text: str) -> int:
    """Return the order of the matrices of the knob `n`: `4096`, or `hpl:8192`, half of HPL's."""
    return int(text.removeprefix(_OF_HPL)) // (2 if text.startswith(_OF_HPL) else 1)


def step(knobs: Mapping[str, str], ranks: int, _threads: int) -> Step:
    """Return one repetition: 8 n² bytes are transposed; diagonal blocks stay on their rank."""
    n, block, edge = order_of(knobs["n"]), int(knobs["block"]), int(knobs["tile"])
    rows, columns = grid_of(knobs["grid"], ranks)
    parcel_bytes = parse_bytes(knobs["message"])
    counts = {
        "bytes_transposed": NUMBER_BYTES * n**2,
        "bytes_read": 2 * NUMBER_BYTES * n**2,
        "bytes_written": NUMBER_BYTES * n**2,
        "flops": n**2,
    }
    by_messages = knobs["transport"] != "shared" and ranks > 1
    cuts = _cuts(n, block, edge, rows, columns)
    room = 2 * _AT_ONCE * max(1, _most_in_a_parcel(cuts, parcel_bytes)) if by_messages else 0
    largest = max(1, _of_first(n, block, rows) * _of_first(n, block, columns))
    held = NUMBER_BYTES * ranks * (2 * largest + edge**2 + room)
    return Step(counts, held, (_exchange(cuts, n, parcel_bytes),) if by_messages else ())


@dataclass(frozen=True)
class _Cut:
    """Return the rows (or columns) of the blocks of one residue modulo lcm(P, Q), in pieces that are sides of tiles."""

    length: int
    pieces: int
    longest: int


def _cuts(n: int, block: int, edge: int, rows: int, columns: int) -> Counter[_Cut]:
    """Return the number of residues by kind of cut; blocks are contiguous in both parts on square grids only."""
    both = math.lcm(rows, columns)
    blocks = -(-n // block)
    found: Counter[_Cut] = Counter()
    for first in range(min(both, blocks)):
        sizes = [min(block, n - at) for at in range(first * block, n, both * block)]
        runs = Counter([sum(sizes)] if rows == columns else sizes)
        pieces = longest = 0
        for run, times in runs.items():
            even = min(edge, (-(-run // -(-run // edge)) + 7) // 8 * 8)
            pieces += times * -(-run // even)
            longest = max(longest, min(even, run))
        found[_Cut(sum(sizes), pieces, longest)] += 1
    return found


def _in_parcel(tiles: int, largest: int, parcel_bytes: int) -> int:
    """Return the number of tiles per message."""
    return min(max(tiles, 1), max(1, parcel_bytes // (NUMBER_BYTES * largest)))


def _exchange(cuts: Counter[_Cut], n: int, parcel_bytes: int) -> Part:
    """Return the messages: blocks of two different residues move to another rank."""
    messages = 0
    for high, times_high in cuts.items():
        for wide, times_wide in cuts.items():
            tiles = high.pieces * wide.pieces
            pairs = times_high * (times_wide - (high == wide))
            messages += pairs * -(-tiles // _in_parcel(tiles, high.longest * wide.longest, parcel_bytes))
    stays = sum(times * cut.length**2 for cut, times in cuts.items())
    return Part("exchange", messages, NUMBER_BYTES * (n**2 - stays))


def _most_in_a_parcel(cuts: Counter[_Cut], parcel_bytes: int) -> int:
    return max(
        high.longest * wide.longest * _in_parcel(high.pieces * wide.pieces, high.longest * wide.longest, parcel_bytes)
        for high in cuts
        for wide in cuts
    )


def _of_first(n: int, block: int, processes: int) -> int:
    """Return the rows or columns of the first process, which has the most (block_cyclic.hpp)."""
    whole, rest = divmod(n, block * processes)
    return whole * block + min(rest, block)
