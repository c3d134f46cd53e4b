"""Launcher of the MPI library in this environment, and its identification."""

import functools
import os
import shutil
import subprocess
from pathlib import Path

from octant.build import find_environment_program
from octant.failure import Refusal


def find() -> Path:
    """Return the launcher of this environment's MPI: OCTANT_MPIEXEC, or mpiexec next to Python, or on PATH.

    Raises:
        Refusal: none found.
    """
    named = os.environ.get("OCTANT_MPIEXEC")
    found = shutil.which(named) if named else find_environment_program("mpiexec") or shutil.which("mpiexec")
    if not found:
        where = f"OCTANT_MPIEXEC={named} is not a program" if named else "no mpiexec next to Python or on PATH"
        raise Refusal(
            f"cannot start several ranks ({where}); try `pip install mpich`, or set OCTANT_MPIEXEC to your mpiexec"
        )
    return Path(found)


@functools.cache
def version(mpiexec: Path) -> str:
    """Return what this launcher prints for `--version`, on both of its streams.

    Raises:
        Refusal: it does not answer.
    """
    try:
        shown = subprocess.run(  # noqa: S603 - the user's own launcher
            [str(mpiexec), "--version"], capture_output=True, text=True, timeout=20, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Refusal(f"cannot identify {mpiexec} ({error}); set OCTANT_MPIEXEC to a working one") from error
    return shown.stdout + shown.stderr
