"""Placement of ranks and threads on hardware threads and NUMA nodes. Pure functions that start no process."""

from collections.abc import Iterable
from dataclasses import dataclass

from octant.failure import Exit, Refusal
from octant.placement.nonempty import NonEmptySet


@dataclass(frozen=True)
class RankPlacement:
    """Placement of one rank on one node."""

    rank: int
    cpus: NonEmptySet
    threads: tuple[NonEmptySet, ...]  # one set per thread, in the order of OpenMP's thread numbers
    memory: tuple[int, ...]  # NUMA nodes, by OS index; empty if the hardware threads are in no NUMA node
    coordinates: tuple[int, ...] = ()  # coordinates of the node in a torus, then the slot in the node; else empty

    @classmethod
    def of_threads(
        cls, rank: int, threads: Iterable[Iterable[int]], memory: tuple[int, ...], coordinates: tuple[int, ...] = ()
    ) -> "RankPlacement":
        """Return the placement of a rank that may use the hardware threads of all its threads.

        Raises:
            Refusal: a thread has no hardware thread; the message states the rank.
        """
        known: dict[Iterable[int], NonEmptySet] = {}
        name = f"hardware threads of rank {rank}"
        sets = tuple(
            known[t] if t in known else known.setdefault(t, NonEmptySet(t, name)) for t in map(frozenset, threads)
        )
        cpus = sets[0] if len(known) == 1 else NonEmptySet(frozenset().union(*known), name)
        return cls(rank, cpus, sets, memory, coordinates)

    def memory_set(self) -> NonEmptySet:
        """Return the NUMA nodes for an option that lists them.

        Raises:
            Refusal: no NUMA node is known; the message states the rank.
        """
        if not self.memory:
            why = f"the local NUMA node of its hardware threads {numbers_text(self.cpus)} is not known"
            raise Refusal(
                f"cannot bind the memory of rank {self.rank}: {why}; name the nodes, as in memory=bind:0",
                Exit.NOT_SUPPORTED,
            )
        return NonEmptySet(self.memory, f"NUMA nodes of rank {self.rank}")


@dataclass(frozen=True)
class Placement:
    """Placement of a request on one topology. `remarks` describe unexpected properties."""

    ranks: tuple[RankPlacement, ...]
    remarks: tuple[str, ...] = ()


def numbers_text(numbers: Iterable[int]) -> str:
    """Return numbers as a kernel list for messages: `0-3,8`; "" for the empty set. Use `set_text` for options."""
    parts: list[tuple[int, int]] = []
    for number in sorted(set(numbers)):
        if parts and number == parts[-1][1] + 1:
            parts[-1] = (parts[-1][0], number)
        else:
            parts.append((number, number))
    return ",".join(f"{a}" if a == b else f"{a}-{b}" for a, b in parts)


def set_text(numbers: NonEmptySet) -> str:
    """Return numbers as a kernel list for an option of a launcher: `0-3,8`.

    Raises:
        Refusal: the set is empty, which the type excludes.
    """
    return numbers_text(NonEmptySet(numbers, "members of an option"))


def mask_text(numbers: NonEmptySet) -> str:
    """Return numbers as a hexadecimal mask for an option of a launcher: `0xf0`.

    Raises:
        Refusal: the set is empty, which the type excludes.
    """
    return hex(sum(1 << number for number in NonEmptySet(numbers, "members of a mask")))
