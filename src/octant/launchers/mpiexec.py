"""`mpiexec` of MPICH, Open MPI or Intel MPI: told apart by what they say they are, not by their name."""

import os
from collections.abc import Mapping, Sequence

from octant.build.mpiexec import find
from octant.failure import Exit, Refusal
from octant.launchers import JobSize, implementation, mpi_launcher

TITLE = "mpiexec of the MPI library"


def at_hand(_environment: Mapping[str, str]) -> bool:
    """Never by itself: it is what is used where no allocation is."""
    return False


def command(program: Sequence[str], size: JobSize) -> list[str]:
    """Ranks on this node or on the hosts, bound by Octant itself and not by the launcher.

    Raises:
        Refusal: no mpiexec, or more ranks on this node than an MPI that spins can bear.
    """
    mpiexec = find()
    library = implementation(mpiexec)
    if not size.hosts:
        refuse_spinning(library, size, len(os.sched_getaffinity(0)))
    return [str(mpiexec), *options(library, size, root=os.geteuid() == 0), *program]


def options(library: str, size: JobSize, root: bool = False) -> list[str]:
    """The launcher's words for unbound ranks: on this node, or the same number on each host, filling host by host."""
    return mpi_launcher(library).unbound(size, root)


def refuse_spinning(library: str, size: JobSize, cpus: int) -> None:
    """MPICH's ranks wait by spinning, so with more of them than hardware threads they wait for each other's time slice.

    Raises:
        Refusal: that would happen.
    """
    if size.ranks > cpus and mpi_launcher(library).SPINS:
        raise Refusal(
            f"cannot start {size.ranks} ranks on {cpus} hardware threads with {library} (waiting ranks do not "
            "yield, so that the scheduler would be measured); reduce --ranks, or use Open MPI (`make openmpi`)",
            Exit.NOT_SUPPORTED,
        )


def yielding(size: JobSize) -> dict[str, str]:
    """What lets waiting threads give up their core where there are more of them on this node than hardware threads.

    A library that does so by itself where there are more ranks does not see their threads.

    Raises:
        Refusal: no mpiexec.
    """
    if size.cpus_per_rank == 1 or size.hosts or size.ranks * size.cpus_per_rank <= len(os.sched_getaffinity(0)):
        return {}
    variables: dict[str, str] = getattr(mpi_launcher(implementation(find())), "YIELDING", {})
    return {} if set(variables) & set(os.environ) else variables
