"""One chunk of each thread of node/vecmath: a function of each element of a vector."""

from __future__ import annotations

from collections.abc import Mapping

from octant.step import Step

_ELEMENT_BYTES = {"double": 8, "single": 4}
_OF_TWO = ("atan2", "pow", "div", "hypot")
_LEAST_ARGUMENTS = 4096


def step(knobs: Mapping[str, str], ranks: int, threads: int) -> Step:
    """Return one call of each thread, with the memory of consecutive vectors of at least 4096 arguments."""
    n, lanes = int(knobs["n"]), ranks * threads
    read = 2 if knobs["function"] in _OF_TWO else 1
    each = _ELEMENT_BYTES[knobs["element"]]
    arguments = -(-_LEAST_ARGUMENTS // n) * n
    counts = {"elements": n * lanes, "bytes_read": read * n * each * lanes, "bytes_written": n * each * lanes}
    return Step(counts, (read + 1) * arguments * each * lanes)
