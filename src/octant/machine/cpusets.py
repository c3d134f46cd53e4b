"""Sets of hardware threads as text: the kernel's lists and hexadecimal masks."""

import re
from collections.abc import Iterable

from octant.machine import CpuSet

MOST_CPUS = 1 << 16
"""The numbers of hardware threads, and those of memory nodes, are below."""
MOST_HERE = 1 << 13
"""Hardware threads of one machine: as many as Linux counts."""
_RANGE = re.compile(r"\s*([0-9]{1,18})(?:-([0-9]{1,18})(?::([0-9]{1,18}))?)?\s*")


def parse_cpus(text: str, *, or_none: bool = False) -> CpuSet:
    """A set of numbers from `0-3,8` or, with a stride, `0-14:2`; with `or_none` the empty text is the empty set.

    Raises:
        ValueError: no such list, or one that names more numbers than there are.
    """
    if or_none and not text.strip():
        return frozenset()
    found: set[int] = set()
    named = 0
    for part in text.strip().split(","):
        match = _RANGE.fullmatch(part)
        if match is None or int(match[3] or 1) == 0 or int(match[2] or match[1]) < int(match[1]):
            raise ValueError(f"cannot read {part.strip()[:60]!r} as numbers; try 0-3,8 or 0-14:2")
        if int(match[2] or match[1]) >= MOST_CPUS:
            raise ValueError(f"cannot use {part.strip()!r}: numbers end at {MOST_CPUS - 1}")
        numbers = range(int(match[1]), int(match[2] or match[1]) + 1, int(match[3] or 1))
        named += len(numbers)
        if named > MOST_CPUS:
            raise ValueError(f"cannot use {text.strip()[:60]!r}: it names over {MOST_CPUS} numbers")
        found.update(numbers)
    return frozenset(found)


def parse_mask(text: str) -> CpuSet:
    """A set of numbers from hexadecimal digits: `f0` or `0xf0`, which may be parted by commas.

    Raises:
        ValueError: no such mask.
    """
    digits = text.replace("0x", "").replace("0X", "").replace(",", "").strip()
    if not re.fullmatch("[0-9a-fA-F]+", digits):
        raise ValueError(f"cannot read {text[:60]!r} as a mask; try 0xf0")
    if len(digits) > MOST_CPUS // 4:
        raise ValueError(f"cannot use a mask of {len(digits)} digits (at most {MOST_CPUS // 4}); try 0xf0")
    bits = f"{int(digits, 16):b}"[::-1]
    found, place = [], bits.find("1")
    while place >= 0:  # a mask of a large machine has thousands of zeros
        found.append(place)
        place = bits.find("1", place + 1)
    return frozenset(found)


def cpus_text(cpus: Iterable[int]) -> str:
    """The kernel's list form of a set of hardware threads: `0-3,8`."""
    runs: list[list[int]] = []
    for cpu in sorted(cpus):
        if runs and runs[-1][1] == cpu - 1:
            runs[-1][1] = cpu
        else:
            runs.append([cpu, cpu])
    return ",".join(str(low) if low == high else f"{low}-{high}" for low, high in runs)
