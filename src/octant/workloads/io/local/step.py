"""One file of io/local in each rank: its transfers, and the memory that they come from or go to."""

from __future__ import annotations

from collections.abc import Mapping

from octant.step import Step
from octant.units import parse_bytes


def step(knobs: Mapping[str, str], ranks: int, _threads: int) -> Step:
    """Return one file. The memory of a file on tmpfs is not declared, because it depends on the folder."""
    length, pattern = parse_bytes(knobs["bytes"]), knobs["pattern"]
    block = parse_bytes(knobs["block"])
    moved = "bytes_read" if pattern in ("read", "overlapped-read") else "bytes_written"
    held = (2 if pattern == "staged-write" else 1) * length
    return Step({"blocks": -(-length // block) * ranks, moved: length * ranks}, held * ranks)
