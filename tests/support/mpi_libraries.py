"""MPI libraries that programs of the tests are compiled and started with: two of PyPI and two of Debian."""

import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from paths import ROOT

INTEL = ROOT / ".venv-intel"
INSTALL_DEBIAN = "run `make mpi-libraries` (root)"


@dataclass(frozen=True)
class MpiLibrary:
    """How programs are compiled and started with one MPI library."""

    name: str
    abi: str  # as `Job.abi`
    compiler: str
    launcher: tuple[str, ...]  # before -n
    fortran: str = ""  # "": it has no Fortran bindings here
    environment: Mapping[str, str] = field(default_factory=dict)
    of_mpi4py: Mapping[str, str] | None = field(default_factory=dict)  # variables; `None`: it cannot be used
    large_counts: bool = True  # and sessions, partitioned communication: MPI 4.0
    most_ranks: int = 2  # that poll without giving up the core
    left_out: Mapping[str, str] = field(default_factory=dict)  # cases of `calls.c`, with the reason
    install: str = INSTALL_DEBIAN

    @property
    def missing(self) -> str:
        """Why it cannot be used here; empty: it can."""
        for program in (self.compiler, self.launcher[0]):
            if shutil.which(program) is None:
                return f"{self.name} is not installed ({program} not found); {self.install}"
        return ""

    def start(self, ranks: int, *words: str | Path) -> list[str]:
        """Return the command that starts a program on these ranks."""
        return [*self.launcher, "-n", str(ranks), *map(str, words)]


_OURS = Path(sys.executable).parent
_ROOT_MAY = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
LIBRARIES: Sequence[MpiLibrary] = (
    MpiLibrary(
        "MPICH 5", "standard", str(_OURS / "mpicc_abi"), (str(_OURS / "mpiexec"),), install="install Octant with MPICH"
    ),
    MpiLibrary(
        "Intel MPI",
        "standard",
        str(_OURS / "mpicc_abi"),  # the programs are those of MPICH 5
        (str(INTEL / "bin" / "mpiexec"),),
        environment={"LD_LIBRARY_PATH": str(INTEL / "lib"), "I_MPI_FABRICS": "shm", "I_MPI_ROOT": str(INTEL)},
        of_mpi4py={"MPI4PY_MPIABI": "mpich"},  # libmpi.so.12 of LD_LIBRARY_PATH
        left_out={"errors": "MPI_ERRORS_RETURN has no effect in its standard ABI"},
        install="run `make intel`",
    ),
    MpiLibrary("MPICH 4", "MPICH", "mpicc.mpich", ("mpiexec.mpich",), "mpifort.mpich", of_mpi4py=None),
    MpiLibrary(
        "Open MPI 4",
        "Open MPI",
        "mpicc.openmpi",
        ("mpirun.openmpi", "--oversubscribe"),
        "mpifort.openmpi",
        environment=_ROOT_MAY,
        of_mpi4py={"MPI4PY_MPIABI": "openmpi"},
        large_counts=False,
        most_ranks=4,
    ),
)


def clean_environment(library: MpiLibrary) -> dict[str, str]:
    """Return the variables of this process without those of Octant, with those of the library."""
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(("OCTANT_", "OMP_", "LD_", "TRUTH"))}
    return {**inherited, **library.environment}
