"""Non-empty sets of hardware threads or NUMA nodes, as required by options of launchers."""

from collections.abc import Iterable

from octant.failure import Exit, Refusal


class NonEmptySet(frozenset[int]):
    """A set of OS indexes that has at least one member.

    The functions that write lists and masks for launchers accept only this type. Therefore a type checker refuses a set
    that may be empty, and `--membind=` or `mask_mem:0x0` cannot be printed. Unions, intersections and differences are
    plain sets, since they may be empty.
    """

    __slots__ = ()

    def __new__(cls, numbers: Iterable[int], what: str) -> "NonEmptySet":
        """Return the numbers as a set; `what` describes them in the refusal: `hardware threads of rank 3`.

        Raises:
            Refusal: the set is empty or has a negative number.
        """
        found = super().__new__(cls, numbers)
        if not found:
            raise Refusal(f"cannot list the {what}: none is known", Exit.NOT_SUPPORTED)
        if min(found) < 0:
            raise Refusal(f"cannot list the {what}: {min(found)} is not a valid number", Exit.NOT_SUPPORTED)
        return found

    def __reduce__(self) -> tuple[type["NonEmptySet"], tuple[tuple[int, ...], str]]:
        """Return the constructor and arguments for pickle and copy."""
        return NonEmptySet, (tuple(self), "members of a set")
