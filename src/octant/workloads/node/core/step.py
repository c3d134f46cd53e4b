"""One step of node/core: operations of a core, loads that miss, and branches (the `work()` of its rows)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from octant.step import Step
from octant.units import parse_bytes

_LINE_BYTES = 64
_ADDITIONS = 16_384  # in addition to the other phases of a step
_TURNS, _LINKS = 256, 32  # of a chunk of pattern=operations
_LANE_BYTES = 12_288  # addresses, values, and what they begin with, on whole pages
_CHAINS = {"256": 12, "512": 24}  # of vectors, side by side
_WORD_CHAINS = {"add": 10, "multiply": 10, "popcount": 10, "load": 10, "forward": 10, "nop": 1}
_IN_A_NOP = 256  # instructions of a block
_SIZES, _WINDOW_LOADS = 49, 48  # of pattern=rob-size: numbers of fillers, and loads of a chain with each
_MISS_CHAINS, _MISS_LOADS = (1, 2, 4, 8, 10, 12, 14, 16, 20, 24, 32, 48, 64), 128
_BRANCHES, _DIRECTIONS = 16_384, 1 << 20


def step(knobs: Mapping[str, str], ranks: int, threads: int) -> Step:
    """Return one step of each rank, or of pattern=operations one chunk of each thread.

    The processor decides how many chains `scalar` and `128` have side by side, and which width `auto` is: of these no
    operations are declared. The instructions that pattern=rob-size makes are not counted as memory.
    """
    return _PATTERNS[knobs["pattern"]](knobs, ranks, threads)


def _operations(knobs: Mapping[str, str], ranks: int, threads: int) -> Step:
    name, lanes = knobs["operation"], ranks * threads
    chains: int | None = 1
    if knobs["form"] == "throughput":
        chains = _WORD_CHAINS.get(name, _CHAINS.get(knobs["width"]))
    counts: dict[str, float] = {}
    if chains is not None:
        counts["operations"] = _TURNS * _LINKS * chains * (_IN_A_NOP if name == "nop" else 1) * lanes
    return Step(counts, _LANE_BYTES * lanes)


def _cycle_bytes(knobs: Mapping[str, str]) -> int:
    """Of the lines that the chains go through, as many as a power of two."""
    return (1 << (parse_bytes(knobs["bytes"]) // _LINE_BYTES).bit_length() - 1) * _LINE_BYTES


def _loads(loads: int, of_chain: int) -> Callable[[Mapping[str, str], int, int], Step]:
    def of(knobs: Mapping[str, str], ranks: int, _threads: int) -> Step:
        counts = {"loads": loads * ranks, "loads_of_chain": of_chain * ranks, "additions": _ADDITIONS * ranks}
        return Step(counts, _cycle_bytes(knobs) * ranks)

    return of


def _branch(_knobs: Mapping[str, str], ranks: int, _threads: int) -> Step:
    counts = {
        "branches": 2 * _BRANCHES * ranks,
        "branches_of_phase": _BRANCHES * ranks,
        "additions": _ADDITIONS * ranks,
    }
    return Step(counts, (_DIRECTIONS + _BRANCHES) * ranks)


_PATTERNS: Mapping[str, Callable[[Mapping[str, str], int, int], Step]] = {
    "operations": _operations,
    "rob-size": _loads(2 * _SIZES * _WINDOW_LOADS, _WINDOW_LOADS),
    "mlp": _loads(sum(_MISS_CHAINS) * _MISS_LOADS, _MISS_LOADS),
    "branch": _branch,
}
