"""One step of node/relay: every rank hands its block to the next."""

from collections.abc import Mapping

from octant.step import Part, Step
from octant.units import parse_bytes


def step(knobs: Mapping[str, str], ranks: int, _threads: int) -> Step:
    """A block in and a block out on each rank; the kernel counts no messages."""
    block = parse_bytes(knobs["bytes"]) // 8 * 8
    return Step({"handovers": ranks}, 2 * block * ranks, (Part("pass", 0, block * ranks),))
