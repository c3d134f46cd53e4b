"""One step of mpi/mpiio: transfers of blocks between the memory of ranks and files."""

from __future__ import annotations

from collections.abc import Mapping

from octant.step import Step
from octant.units import parse_bytes

_PAGE = 4096


def step(knobs: Mapping[str, str], ranks: int, _threads: int) -> Step:
    """`aggregate` transfers of each rank, or of the first alone (patterns s-...), or a file that all open and close.

    Memory is that of all blocks, and of two that are compared. A file that itself lies in memory is not declared: the
    folder decides.
    """
    pattern = knobs["pattern"]
    if pattern == "open-close":
        return Step({"opens": 1}, 0)
    length, count = parse_bytes(knobs["bytes"]), int(knobs["aggregate"])
    moved = "bytes_written" if "write" in pattern else "bytes_read"
    movers = 1 if pattern.startswith("s-") else ranks
    held = -(-length // _PAGE) * _PAGE * count + 2 * length
    return Step({"transfers": count, moved: length * count * movers}, held * ranks)
