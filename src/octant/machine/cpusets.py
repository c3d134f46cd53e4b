"""Sets of hardware threads as text: the kernel's lists and hexadecimal masks."""

import re
from collections.abc import Iterable

from octant.machine import CpuSet

MAX_CPUS = 1 << 16
"""Exclusive upper limit of the numbers of hardware threads and of NUMA nodes."""
MAX_MACHINE_CPUS = 1 << 13
"""Maximum number of hardware threads of one machine (NR_CPUS of Linux)."""
_RANGE = re.compile(r"\s*([0-9]{1,18})(?:-([0-9]{1,18})(?::([0-9]{1,18}))?)?\s*")


def parse_cpus(text: str, *, or_none: bool = False) -> CpuSet:
    """Return the set of numbers of a list such as `0-3,8` or `0-14:2`; with `or_none` empty text is the empty set.

    Raises:
        ValueError: invalid list, or too many or too large numbers.
    """
    if or_none and not text.strip():
        return frozenset()
    found: set[int] = set()
    named = 0
    for part in text.strip().split(","):
        match = _RANGE.fullmatch(part)
        if match is None or int(match[3] or 1) == 0 or int(match[2] or match[1]) < int(match[1]):
            raise ValueError(f"{part.strip()[:60]!r} is not a list of numbers; use the form 0-3,8 or 0-14:2")
        if int(match[2] or match[1]) >= MAX_CPUS:
            raise ValueError(f"{part.strip()!r} is out of range; the largest number is {MAX_CPUS - 1}")
        numbers = range(int(match[1]), int(match[2] or match[1]) + 1, int(match[3] or 1))
        named += len(numbers)
        if named > MAX_CPUS:
            raise ValueError(f"{text.strip()[:60]!r} has too many numbers; at most {MAX_CPUS} are supported")
        found.update(numbers)
    return frozenset(found)


def parse_mask(text: str) -> CpuSet:
    """Return the set of numbers of a hexadecimal mask: `f0` or `0xf0`, with or without commas.

    Raises:
        ValueError: invalid mask.
    """
    digits = text.replace("0x", "").replace("0X", "").replace(",", "").strip()
    if not re.fullmatch("[0-9a-fA-F]+", digits):
        raise ValueError(f"{text[:60]!r} is not a hexadecimal mask; use the form 0xf0")
    if len(digits) > MAX_CPUS // 4:
        raise ValueError(f"the mask has {len(digits)} digits; at most {MAX_CPUS // 4} are supported")
    bits = f"{int(digits, 16):b}"[::-1]
    found, place = [], bits.find("1")
    while place >= 0:  # a mask of a large machine has thousands of zeros
        found.append(place)
        place = bits.find("1", place + 1)
    return frozenset(found)


def cpus_text(cpus: Iterable[int]) -> str:
    """Return a set of hardware threads as a kernel list: `0-3,8`."""
    runs: list[list[int]] = []
    for cpu in sorted(cpus):
        if runs and runs[-1][1] == cpu - 1:
            runs[-1][1] = cpu
        else:
            runs.append([cpu, cpu])
    return ",".join(str(low) if low == high else f"{low}-{high}" for low, high in runs)
