"""Where the programs are: the only place that looks for our executables."""

import functools
import hashlib
import os
import sys
import sysconfig
from pathlib import Path

from octant.failure import Refusal


def folders() -> list[Path]:
    """Where kernels may be, the preferred first: OCTANT_KERNELS, the installed package, the source tree's package."""
    named = os.environ.get("OCTANT_KERNELS")
    if named:
        return [Path(named)]
    package = Path(__file__).resolve().parent.parent
    # An editable install keeps Python in the source tree and puts programs into site-packages.
    return [Path(sysconfig.get_path("platlib")) / "octant" / "bin", package / "bin"]


def program_name(name: str) -> str:
    """The name of the program's file: `octant-node-stream` of `node/stream`."""
    return f"octant-{name.replace('/', '-')}"


def find(name: str) -> Path:
    """The program of a workload (`node/stream`) or a tool of ours (`bind`).

    Raises:
        Refusal: not installed; names the folders looked into.
    """
    file = program_name(name)
    for folder in folders():
        program = folder / file
        if os.access(program, os.X_OK):
            return program
    looked = ", ".join(str(folder) for folder in folders())
    raise Refusal(f"cannot find the program {file} (looked in {looked}); try `make setup` or `pip install .`")


def digest(program: Path) -> str:
    """Sixteen digits that equal programs share, so that a record says which build of a kernel it is of.

    Raises:
        Refusal: the program cannot be read.
    """
    try:
        status = program.stat()
        return _digest(program, status.st_mtime_ns, status.st_size)
    except OSError as error:
        raise Refusal(f"cannot read {program} ({error.strerror}); try `make setup`") from error


@functools.lru_cache(maxsize=256)
def _digest(program: Path, _changed_ns: int, _size: int) -> str:
    return hashlib.sha256(program.read_bytes()).hexdigest()[:16]


def beside_python(name: str) -> Path | None:
    """A program of a wheel in this environment (`mpiexec`), if there is one."""
    program = Path(sys.executable).parent / name
    return program if os.access(program, os.X_OK) else None
