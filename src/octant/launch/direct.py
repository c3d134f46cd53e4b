"""Without a launcher: one rank, started as it is."""

from collections.abc import Sequence

from octant.failure import Refusal


def command(program: Sequence[str], ranks: int) -> list[str]:
    """The program itself.

    Raises:
        Refusal: more than one rank.
    """
    if ranks != 1:
        raise Refusal(f"cannot start {ranks} ranks directly (it starts one process); try mpiexec")
    return list(program)
