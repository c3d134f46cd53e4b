"""One step of node/coherence: a visit of two hardware threads, additions to shared lines, or lines that are flushed."""

from __future__ import annotations

from collections.abc import Mapping

from octant.step import Step
from octant.units import parse_bytes

_LINE, _PAGE, _NUMBER_BYTES = 64, 4096, 8
_APART, _CHAIN_LINES = 128, 128  # of pattern=pairs: bytes from line to line, and the lines that are read
_ADDITIONS = 5000  # of each thread, in each phase


def step(knobs: Mapping[str, str], ranks: int, _threads: int) -> Step:
    """Return one step of each rank. Of pattern=flush a number for each line is held while their order is drawn.

    Raises:
        KeyError: there is no such pattern.
        ValueError: the hardware threads that a rank may use say what sharers=0 holds.
    """
    pattern = knobs["pattern"]
    if pattern == "pairs":
        passes = 2 * int(knobs["trips"])
        if knobs["protocol"] == "read":
            passes = -(-passes // _CHAIN_LINES) * _CHAIN_LINES
        return Step({"passes": passes * ranks}, (2 + _CHAIN_LINES) * _APART * ranks)
    if pattern == "sharing":
        sharers = int(knobs["sharers"])
        if sharers == 0:
            raise ValueError("the memory requirement of sharers=0 is not declared")
        held = max(_PAGE, sharers * parse_bytes(knobs["distance"])) + sharers * (_PAGE + _LINE)
        return Step({"additions": _ADDITIONS * ranks}, held * ranks)
    if pattern == "flush":
        lines = parse_bytes(knobs["bytes"]) // _LINE
        return Step({"lines": lines * ranks}, lines * (_LINE + _NUMBER_BYTES) * ranks)
    raise KeyError(pattern)
