"""Without a launcher: one rank, started as it is."""

from collections.abc import Mapping, Sequence

from octant.failure import Refusal
from octant.launch.launchers import Shape


def at_hand(_environment: Mapping[str, str]) -> bool:
    """Never by itself: it is what is used for one rank."""
    return False


def command(program: Sequence[str], shape: Shape) -> list[str]:
    """The program itself.

    Raises:
        Refusal: more than one rank, or another host.
    """
    if shape.ranks != 1:
        raise Refusal(f"cannot start {shape.ranks} ranks directly (it starts one process); try --launcher mpiexec")
    if shape.hosts:
        raise Refusal("cannot start on another host directly (it starts one process here); try --launcher mpiexec")
    return list(program)
