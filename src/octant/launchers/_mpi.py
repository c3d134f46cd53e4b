"""The role `mpiexec`: what differs between the launchers of MPI libraries, which have one name."""

from pathlib import Path
from typing import Protocol, cast

from octant.build.mpiexec import version
from octant.failure import Refusal
from octant.launchers._roles import find, launchers_with_role, unusable
from octant.launchers._start import JobSize


class MpiLauncher(Protocol):
    """What the file of an MPI library's launcher offers; optional: `YIELDING`, variables that let its ranks yield."""

    VERSION: tuple[str, ...]
    """Texts that identify the library in the output of `mpiexec --version`."""
    PMI: str
    """The plugin of Slurm that speaks the library's PMI, without which every rank is alone; "": Slurm's default."""
    SPINS: bool
    """Whether ranks that wait occupy their core even if there are more ranks than hardware threads."""

    def unbound(self, size: JobSize, root: bool) -> list[str]:
        """Return the options for ranks that the launcher does not bind; `root`: the user is root."""


def mpi_launcher(name: str) -> MpiLauncher:
    """Return the launcher of an MPI library by its name.

    Raises:
        Refusal: no such library, or its file cannot be used.
    """
    return cast("MpiLauncher", find("mpiexec", name))


def identify_mpi_library(mpiexec: Path) -> str:
    """Return the name of the library that this launcher belongs to, by its own `--version`.

    Raises:
        Refusal: it does not answer, or with none of the known texts.
    """
    text = version(mpiexec)
    for name, module in launchers_with_role("mpiexec").items():
        if any(sign in text for sign in module.VERSION):
            return name
    raise Refusal(
        f"cannot identify the MPI library of {mpiexec} (unknown --version: {text[:80]!r}); set OCTANT_MPIEXEC "
        f"to the launcher of a supported library{unusable()}"
    )


def hydra_hosts(size: JobSize) -> list[str]:
    """Return Hydra's options for hosts, which MPICH and Intel MPI have in common."""
    where = ["-hosts", ",".join(size.hosts), "-ppn", size.ranks_per_host] if size.hosts else []
    return where + (["-launcher", "ssh", "-launcher-exec", size.ssh] if size.ssh else [])
