"""Where the checkout's files are, and the types of the shared fixtures."""

import subprocess
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "tests" / "data"
MACHINES = ROOT / "machines"
OPENMPI_KERNELS = ROOT / "build" / "openmpi" / "bin"
"""Programs that use Open MPI, for more ranks than cores; `make test` builds those that tests start."""
NO_OPENMPI = "the programs with Open MPI are not built; run `make dev-openmpi`"

Octant = Callable[..., "subprocess.CompletedProcess[str]"]
