"""The MPI library that our programs are linked with: asked of a program of ours, never of a tool on PATH."""

import functools
import os
import subprocess
from pathlib import Path

from octant import build
from octant.failure import Refusal
from octant.mpi.inventory import Inventory, parse_probe

PROBE = "mpi-probe"


def linked() -> Inventory:
    """The library with its control variables; asked once for each state of the program and of what finds libraries.

    Raises:
        Refusal: the probe is not installed or does not answer.
    """
    program = build.find(PROBE)
    return _asked(program, program.stat().st_mtime_ns, os.environ.get("LD_LIBRARY_PATH", ""))


@functools.cache
def _asked(program: Path, _time_ns: int, _folders: str) -> Inventory:
    """Settings of the environment are kept from it: one that aborts the library would hide its name."""
    kept = {
        k: v for k, v in os.environ.items() if not k.startswith(("MPIR_CVAR_", "OMPI_MCA_", "UCX_", "FI_", "I_MPI_"))
    }
    try:
        answer = subprocess.run(  # noqa: S603 - our own program
            [str(program), "describe"], capture_output=True, text=True, timeout=30, check=True, env=kept
        )
        return parse_probe(answer.stdout)
    except (OSError, subprocess.SubprocessError, ValueError, KeyError) as error:
        said = error.stderr.strip() if isinstance(error, subprocess.CalledProcessError) else ""
        raise Refusal(
            f"cannot ask {program} which MPI library it is linked with ({said or error}); try `make setup`"
        ) from error
