"""One chunk of each thread of node/peakflops: multiply-adds on values that stay in registers."""

from __future__ import annotations

from collections.abc import Mapping

from octant.step import Step

_TURNS = 10_000
_FLOPS = 2  # of a multiply-add
_CHAINS = {"256": 12, "512": 24}
_ELEMENT_BITS = {"double": 64, "single": 32}
_STATE_BYTES = 24 * 16 * (8 + 4)  # the values of a thread, in both precisions


def step(knobs: Mapping[str, str], ranks: int, threads: int) -> Step:
    """Return one chunk of each thread.

    The processor decides how many chains `scalar` and `128` have, and which width `auto` is: of these no operations
    are declared.
    """
    lanes, width = ranks * threads, knobs["width"]
    counts: dict[str, float] = {}
    if width in _CHAINS:
        values = _CHAINS[width] * int(width) // _ELEMENT_BITS[knobs["element"]]
        counts["flops"] = _FLOPS * _TURNS * values * lanes
    return Step(counts, _STATE_BYTES * lanes)
