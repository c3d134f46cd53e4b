"""One step of mpi/clock: offsets, synchronisations or readings of a clock. Its messages are not counted."""

from __future__ import annotations

from collections.abc import Mapping

from octant.step import Step

_RANGE_BYTES = 16  # what bounds an offset, of each exchange
_READINGS = 1000  # of a step of pattern=cost


def step(knobs: Mapping[str, str], ranks: int, _threads: int) -> Step:
    """Return one step, as the first rank counts it; of pattern=drift all moments, `duration` apart from first to last.

    Memory is that of the exchanges of the first rank with one other.

    Raises:
        KeyError: there is no such pattern.
    """
    pattern, exchanges = knobs["pattern"], int(knobs["exchanges"])
    held = _RANGE_BYTES * (exchanges + 1)
    if pattern == "offset":
        return Step({"exchanges": exchanges * (ranks - 1)}, held)
    if pattern == "drift":
        return Step({"moments": int(knobs["moments"])}, held)
    return Step({"skew": {"synchronisations": 1}, "cost": {"calls": _READINGS}}[pattern], 0)
