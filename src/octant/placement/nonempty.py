"""Sets of hardware threads or memory nodes that are known to have a member: what a launcher's option may list."""

from collections.abc import Iterable

from octant.failure import Exit, Refusal


class NonEmptySet(frozenset[int]):
    """A set of the operating system's numbers that has at least one member.

    The functions that write lists and masks for launchers take this type alone, so that a type checker refuses a set
    that may be empty: `--membind=` or `mask_mem:0x0` cannot be printed. Unions, intersections and differences are plain
    sets again, since they may be empty.
    """

    __slots__ = ()

    def __new__(cls, numbers: Iterable[int], what: str) -> "NonEmptySet":
        """Return the numbers as a set; `what` names them in the refusal: `hardware threads of rank 3`.

        Raises:
            Refusal: there are none, or one is negative.
        """
        found = super().__new__(cls, numbers)
        if not found:
            raise Refusal(f"cannot list the {what} (there are none, or none is known)", Exit.NOT_SUPPORTED)
        if min(found) < 0:
            raise Refusal(f"cannot list the {what} ({min(found)} is not a number of one)", Exit.NOT_SUPPORTED)
        return found

    def __reduce__(self) -> tuple[type["NonEmptySet"], tuple[tuple[int, ...], str]]:
        """Return what pickle and copy need to build the set again."""
        return NonEmptySet, (tuple(self), "members of a set")
