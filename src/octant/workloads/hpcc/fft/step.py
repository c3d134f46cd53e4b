"""One transform of each thread of hpcc/fft: what it moves by its own passes, and its vectors."""

from __future__ import annotations

import math
from collections.abc import Mapping

from octant.step import Step

_NUMBER_BYTES = 16


def step(knobs: Mapping[str, str], ranks: int, threads: int) -> Step:
    """Return one transform, or pass, of each thread, or one plan.

    The operations of its own passes depend on the vectors of the processor: not declared. Memory is that of the
    vectors, without the work space of a library or of single lines.
    """
    n, own, part = int(knobs["n"]), knobs["library"] == "octant", knobs["part"]
    lanes = ranks * threads
    moved = _NUMBER_BYTES * n * lanes
    counts: dict[str, float] = {}
    if part == "plan":
        counts["plans"] = lanes
    elif part == "transform":
        counts["nominal_flops"] = math.floor(5 * n * math.log2(n) + 0.5) * lanes
        moved *= 2
    if part != "plan" and (own or part != "transform"):
        counts |= {"bytes_read": moved, "bytes_written": moved}
    return Step(counts, _NUMBER_BYTES * n * lanes * (3 if own else 2))
