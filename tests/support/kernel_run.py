"""One run of a kernel's program, as tests start it."""

import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from octant import workloads
from octant.build import program_name
from octant.launch import leftovers
from octant.record import Failure, Point
from octant.record.lines import Reader
from octant.software.blas import openblas_path

MORE_RANKS = [4, 5] if "CI" in os.environ else [3, 5, 8]
"""More ranks than cores, for Open MPI: a power of two, and others. Fewer in CI, where eight took most of the time."""
OPEN_MPI = {"OMPI_MCA_btl": "^ofi"}
"""Settings of Open MPI 5: its transport `ofi` waits for a second when it is closed, also where it cannot be used, as
within a node (mca_btl_ofi_component_close)."""
QUICK = ("seconds=0.05", "least=5", "samples=200")


def smoke(name: str) -> tuple[str, ...]:
    """The words of a workload's tiny and complete run."""
    return tuple(f"{knob}={value}" for knob, value in workloads.workload(name).smoke.items())


def read_records(path: Path) -> tuple[list[Point], list[Failure]]:
    """Points and failures of a records file, every line of which must be whole."""
    reader = Reader()
    records = [reader.read(line) for line in path.read_bytes().splitlines()] if path.exists() else []
    points = [item for item in records if isinstance(item, Point)]
    return points, [item for item in records if isinstance(item, Failure)]


class KernelRun:
    """Exit status, records, and what the program wrote to standard error."""

    def __init__(
        self,
        folder: Path,
        output: Path,
        name: str,
        *words: str,
        ranks: int = 0,
        fault: str = "",
        environment: Mapping[str, str] | None = None,
        mpiexec: Sequence[str] = (str(Path(sys.executable).parent / "mpiexec"),),
    ) -> None:
        """Run it until it ends; `ranks` 0 means as few as the kernel needs."""
        inherited = {k: v for k, v in os.environ.items() if not k.startswith(("OCTANT_", "OMP_"))}
        environment = {**inherited, **(environment or {})}
        blas = openblas_path()
        environment |= {"OCTANT_FAULT": fault} if fault else {}
        environment |= {"OCTANT_BLAS": str(blas)} if blas else {}
        workload = workloads.workload(name)
        ranks = ranks or (2 if workload.messages else 1)
        launcher = [*mpiexec, "-n", str(ranks)] if ranks > 1 else []
        command = [*launcher, str(folder / program_name(workload.name)), *words, "--output", str(output)]
        with leftovers.temporary_folder(command, environment) as variables:
            done = subprocess.run(
                command, env=environment | variables, capture_output=True, text=True, timeout=60, check=False
            )
        if done.returncode != 0:
            leftovers.remove()  # an abort leaves 2 MiB of shared memory, of which a container may have 64
        self.code, self.stderr = done.returncode, done.stderr
        self.points, self.failures = read_records(output)


KernelRuns = Callable[..., KernelRun]
