"""Which hardware threads each rank's threads may use, and which memory they get. Pure; starts nothing."""

from dataclasses import dataclass

from octant.machine import CpuSet


@dataclass(frozen=True)
class RankPlace:
    """Where one rank of one node goes."""

    rank: int
    cpus: CpuSet
    threads: tuple[CpuSet, ...]  # one set per thread, in the order of OpenMP's thread numbers
    memory: tuple[int, ...]  # memory nodes, by the operating system's numbers
    coordinates: tuple[int, ...] = ()  # of the node in a torus, then the place in the node; empty elsewhere


@dataclass(frozen=True)
class Placement:
    """A request planned on one topology. `remarks` state what may be unexpected."""

    ranks: tuple[RankPlace, ...]
    remarks: tuple[str, ...] = ()


def set_text(numbers: CpuSet | tuple[int, ...] | list[int]) -> str:
    """Numbers as the kernel writes lists: `0-3,8`; nothing for the empty set."""
    parts: list[tuple[int, int]] = []
    for number in sorted(set(numbers)):
        if parts and number == parts[-1][1] + 1:
            parts[-1] = (parts[-1][0], number)
        else:
            parts.append((number, number))
    return ",".join(f"{a}" if a == b else f"{a}-{b}" for a, b in parts)


def mask_text(numbers: CpuSet) -> str:
    """Numbers as a hexadecimal mask: `0xf0`."""
    return hex(sum(1 << number for number in numbers))
