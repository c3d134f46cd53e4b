"""No MPI library was found.

Workloads with several processes cannot run. Octant's wheel includes MPICH; another MPI library is selected when Octant
is built.
"""

from octant.advice import Advice, Facts


def advise(facts: Facts) -> Advice | None:
    """Return advice if discovery found software but no MPI library."""
    software = facts.machine.software
    if not software or any(name in software for name in ("mpich", "openmpi", "intelmpi", "mpi")):
        return None
    return Advice(
        title="no MPI library was found",
        severity="slows",
        evidence={
            "mpichversion, ompi_info, impi_info, libmpi": "not found next to this Python, in PATH or by the loader"
        },
        fix=("pip install mpich",),
        why="workloads with several processes cannot run",
    )
