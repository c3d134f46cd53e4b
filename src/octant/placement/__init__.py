"""Which hardware threads each rank's threads may use, and which memory they get. Pure; starts nothing."""

from collections.abc import Iterable
from dataclasses import dataclass

from octant.failure import Exit, Refusal
from octant.placement.nonempty import NonEmptySet


@dataclass(frozen=True)
class RankPlacement:
    """Where one rank of one node goes."""

    rank: int
    cpus: NonEmptySet
    threads: tuple[NonEmptySet, ...]  # one set per thread, in the order of OpenMP's thread numbers
    memory: tuple[int, ...]  # memory nodes, by the operating system's numbers; none where its threads belong to none
    coordinates: tuple[int, ...] = ()  # of the node in a torus, then the place in the node; empty elsewhere

    @classmethod
    def of_threads(
        cls, rank: int, threads: Iterable[Iterable[int]], memory: tuple[int, ...], coordinates: tuple[int, ...] = ()
    ) -> "RankPlacement":
        """Return the place of a rank that may use what its threads may use together.

        Raises:
            Refusal: a thread without a hardware thread; the message names the rank.
        """
        known: dict[Iterable[int], NonEmptySet] = {}
        name = f"hardware threads of rank {rank}"
        sets = tuple(
            known[t] if t in known else known.setdefault(t, NonEmptySet(t, name)) for t in map(frozenset, threads)
        )
        cpus = sets[0] if len(known) == 1 else NonEmptySet(frozenset().union(*known), name)
        return cls(rank, cpus, sets, memory, coordinates)

    def memory_set(self) -> NonEmptySet:
        """Return the memory nodes for an option that lists them.

        Raises:
            Refusal: none is known; the message names the rank.
        """
        if not self.memory:
            why = f"no memory is known to be local to its hardware threads {numbers_text(self.cpus)}"
            raise Refusal(
                f"cannot bind the memory of rank {self.rank} ({why}); state its nodes, as in memory=bind:0",
                Exit.NOT_SUPPORTED,
            )
        return NonEmptySet(self.memory, f"memory nodes of rank {self.rank}")


@dataclass(frozen=True)
class Placement:
    """A request planned on one topology. `remarks` state what may be unexpected."""

    ranks: tuple[RankPlacement, ...]
    remarks: tuple[str, ...] = ()


def numbers_text(numbers: Iterable[int]) -> str:
    """Numbers as the kernel writes lists, for people: `0-3,8`; nothing for the empty set. Options take `set_text`."""
    parts: list[tuple[int, int]] = []
    for number in sorted(set(numbers)):
        if parts and number == parts[-1][1] + 1:
            parts[-1] = (parts[-1][0], number)
        else:
            parts.append((number, number))
    return ",".join(f"{a}" if a == b else f"{a}-{b}" for a, b in parts)


def set_text(numbers: NonEmptySet) -> str:
    """Numbers as the kernel writes lists, for an option of a launcher: `0-3,8`.

    Raises:
        Refusal: the set is empty; the type rules that out.
    """
    return numbers_text(NonEmptySet(numbers, "members of an option"))


def mask_text(numbers: NonEmptySet) -> str:
    """Numbers as a hexadecimal mask, for an option of a launcher: `0xf0`.

    Raises:
        Refusal: the set is empty; the type rules that out.
    """
    return hex(sum(1 << number for number in NonEmptySet(numbers, "members of a mask")))
