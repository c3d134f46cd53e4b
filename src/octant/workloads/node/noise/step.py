"""One chunk of node/noise: a quantum of dependent additions. The time budget determines their number."""

from __future__ import annotations

from collections.abc import Mapping

from octant.step import Step

_LANE_BYTES = 64  # sum, quanta and moves of a thread, on a line of their own


def step(_knobs: Mapping[str, str], ranks: int, threads: int) -> Step:
    """Return one quantum of each thread."""
    lanes = ranks * threads
    return Step({"quanta": lanes}, _LANE_BYTES * lanes)
