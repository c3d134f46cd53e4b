"""Without a launcher: one rank, started as it is."""

from collections.abc import Mapping, Sequence

from octant.failure import Exit, Refusal
from octant.launchers import JobSize

TITLE = "no launcher"


def at_hand(_environment: Mapping[str, str]) -> bool:
    """Return false: it is the default for one rank."""
    return False


def command(program: Sequence[str], size: JobSize) -> list[str]:
    """Return the program itself.

    Raises:
        Refusal: more than one rank, or another host.
    """
    if size.ranks != 1:
        raise Refusal(
            f"cannot start {size.ranks} ranks without a launcher; use --launcher mpiexec",
            Exit.WRONG_WORD,
        )
    if size.hosts:
        raise Refusal(
            "cannot start on another host without a launcher; use --launcher mpiexec",
            Exit.WRONG_WORD,
        )
    return list(program)
