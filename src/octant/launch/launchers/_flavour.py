"""The launcher of the MPI in this environment, and which implementation it belongs to."""

import functools
import os
import shutil
import subprocess
from pathlib import Path
from typing import Literal

from octant.build import beside_python
from octant.failure import Refusal

Flavour = Literal["mpich", "openmpi", "intelmpi", "pals"]
_SIGNS: tuple[tuple[str, Flavour], ...] = (
    ("Intel(R) MPI", "intelmpi"),
    ("HYDRA", "mpich"),
    ("MPICH", "mpich"),
    ("Open MPI", "openmpi"),
    ("OpenRTE", "openmpi"),
    ("prte", "openmpi"),
    ("PALS", "pals"),
)


def find() -> Path:
    """The launcher of the MPI in this environment: OCTANT_MPIEXEC, else beside Python, else on PATH.

    Raises:
        Refusal: none found.
    """
    named = os.environ.get("OCTANT_MPIEXEC")
    found = shutil.which(named) if named else beside_python("mpiexec") or shutil.which("mpiexec")
    if not found:
        where = f"{named} is no program" if named else "no mpiexec beside Python or on PATH"
        raise Refusal(f"cannot start several ranks ({where}); try `pip install mpich`, or set OCTANT_MPIEXEC to yours")
    return Path(found)


@functools.cache
def flavour(mpiexec: Path) -> Flavour:
    """Which implementation this launcher belongs to, from its own `--version`.

    Raises:
        Refusal: it does not answer, or with none of the known names.
    """
    try:
        shown = subprocess.run(  # noqa: S603 - the user's own launcher
            [str(mpiexec), "--version"], capture_output=True, text=True, timeout=20, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Refusal(f"cannot ask {mpiexec} what it is ({error}); set OCTANT_MPIEXEC to a working one") from error
    text = shown.stdout + shown.stderr
    for sign, name in _SIGNS:
        if sign in text:
            return name
    raise Refusal(f"cannot tell which MPI {mpiexec} belongs to (--version says {text[:80]!r}); set OCTANT_MPIEXEC")
