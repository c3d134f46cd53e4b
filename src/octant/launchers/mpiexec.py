"""`mpiexec` of MPICH, Open MPI or Intel MPI, identified by its version text, not by its name."""

import os
from collections.abc import Mapping, Sequence

from octant.build.mpiexec import find
from octant.failure import Exit, Refusal
from octant.launchers import JobSize, identify_mpi_library, mpi_launcher

TITLE = "mpiexec of the MPI library"


def at_hand(_environment: Mapping[str, str]) -> bool:
    """Return false: it is the default outside of allocations."""
    return False


def command(program: Sequence[str], size: JobSize) -> list[str]:
    """Return the command line for ranks on this node or on the hosts, bound by Octant, not by the launcher.

    Raises:
        Refusal: no mpiexec, or more ranks on this node than an MPI that spins can bear.
    """
    mpiexec = find()
    library = identify_mpi_library(mpiexec)
    if not size.hosts:
        refuse_spinning(library, size, len(os.sched_getaffinity(0)))
    return [str(mpiexec), *options(library, size, root=os.geteuid() == 0), *program]


def options(library: str, size: JobSize, root: bool = False) -> list[str]:
    """Return the options for unbound ranks: on this node, or the same number on each host, host by host."""
    return mpi_launcher(library).unbound(size, root)


def refuse_spinning(library: str, size: JobSize, cpus: int) -> None:
    """Refuse more ranks than hardware threads if waiting ranks spin, since they then wait for each other's time slices.

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
    """Return variables that let waiting threads yield if this node has fewer hardware threads than threads.

    A library that does so by itself where there are more ranks does not see their threads.

    Raises:
        Refusal: no mpiexec.
    """
    if size.cpus_per_rank == 1 or size.hosts or size.ranks * size.cpus_per_rank <= len(os.sched_getaffinity(0)):
        return {}
    variables: dict[str, str] = getattr(mpi_launcher(identify_mpi_library(find())), "YIELDING", {})
    return {} if set(variables) & set(os.environ) else variables
