"""One call of node/gemm in each rank: its operations, what it reads and writes, and its three matrices."""

from __future__ import annotations

from collections.abc import Mapping

from octant.step import Step

ELEMENT_BYTES = {"double": 8, "single": 4, "double-complex": 16, "single-complex": 8}


def step(knobs: Mapping[str, str], ranks: int, _threads: int) -> Step:
    """Return one call; the threads of a rank share it."""
    n, size = int(knobs["n"]), ELEMENT_BYTES[knobs["element"]]
    matrix = n * n * size
    counts = {
        "bytes_read": (2 if float(knobs["beta"]) == 0 else 3) * matrix * ranks,
        "bytes_written": matrix * ranks,
        "flops": (8 if knobs["element"].endswith("complex") else 2) * n**3 * ranks,
    }
    return Step(counts, 3 * size * n * (n + int(knobs["padding"])) * ranks)
