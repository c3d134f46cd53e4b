"""One call of node/fft in each thread: its nominal operations, what goes in and out, and its arrays (transform.hpp)."""

from __future__ import annotations

import math
from collections.abc import Mapping

from octant.step import Step

_REAL_BYTES = {"double": 8, "single": 4}
_ALIGNED = 16  # real numbers that arrays are multiples of


def step(knobs: Mapping[str, str], ranks: int, threads: int) -> Step:
    """Return one call of each thread. Operations of our own code depend on the way that trials choose: not declared.

    Memory is that of what goes in and out, without work space and tables.
    """
    n, rows, batch = int(knobs["n"]), max(1, int(knobs["rows"])), int(knobs["batch"])
    element, _, kind = knobs["element"].partition("-")
    size, lanes = _REAL_BYTES[element], ranks * threads
    into = n * rows * batch * (2 if kind else 1)  # real numbers, or parts of complex ones
    out = into if kind else 2 * (n // 2 + 1) * rows * batch
    operations = (5 if kind else 2.5) * batch * n * rows * math.log2(n * rows)
    counts = {
        "nominal_flops": math.floor(operations + 0.5) * lanes,
        "bytes_read": size * into * lanes,
        "bytes_written": size * out * lanes,
    }
    held = sum(-(-parts // _ALIGNED) * _ALIGNED for parts in (into, out))
    return Step(counts, size * held * lanes)
