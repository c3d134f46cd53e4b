"""No MPI library was found.

Workloads over several processes cannot run. Octant's wheel brings MPICH; a site's own MPI is chosen when Octant is
built.
"""

from octant.advice import Advice, Facts


def advise(facts: Facts) -> Advice | None:
    """Fires where discovery looked for software and found no MPI."""
    software = facts.machine.software
    if not software or any(name in software for name in ("mpich", "openmpi", "intelmpi", "mpi")):
        return None
    return Advice(
        title="no MPI library was found",
        severity="slows",
        evidence={
            "mpichversion, ompi_info, impi_info, libmpi": "none beside this Python, on PATH or in the loader's reach"
        },
        fix=("pip install mpich",),
        why="nothing can run over more than one process",
    )
