"""Where the programs are: the only place that looks for our executables, and has them built."""

import functools
import hashlib
import os
import sys
from collections.abc import Iterable
from pathlib import Path

from octant.build import folders
from octant.failure import Refusal

NETWORK = "_network"
"""The engine of the network model, a Python module."""
EXAMPLES = ("mpi-mesh",)
"""Programs that ship with Octant for command lines of users. They read only their options."""


def program_name(name: str) -> str:
    """Return the file name of a program: `octant-node-stream` for `node/stream`."""
    return f"octant-{name.replace('/', '-')}"


def example_named(word: str) -> str:
    """Return the example program that a word of a command line names (`octant-mpi-mesh`); "": none."""
    return next((name for name in EXAMPLES if program_name(name) == word), "")


def find(name: str) -> Path:
    """Return the program of a workload (`node/stream`) or a tool of ours (`bind`); in a source tree, build it first.

    Raises:
        Refusal: not installed (names the folder that was searched), or it cannot be built.
    """
    file = program_name(name)
    named = folders.named_folder()
    if named is None and folders.source_root() is not None:
        from octant.build import on_demand  # noqa: PLC0415 - an installed package does not need it

        return on_demand.program(file)
    program = (named or folders.installed_folder()) / file
    if os.access(program, os.X_OK):
        return program
    if named:
        raise Refusal(
            f"cannot find the program {file} (OCTANT_KERNELS is {named}); build it there, or unset the variable"
        )
    raise Refusal(
        f"cannot find the program {file} (it is not in {program.parent}, and this installation has no sources); "
        "reinstall octant-hpc, or run `make setup` in a checkout"
    )


def prepare(names: Iterable[str]) -> None:
    """Build the programs of these workloads and tools together, where they are built on demand.

    A program that cannot be built is refused by `find`, so that the others stay usable.
    """
    if folders.named_folder() is None and folders.source_root() is not None:
        from octant.build import on_demand  # noqa: PLC0415 - an installed package does not need it

        on_demand.prepare([program_name(name) for name in names])


def network_module(build: bool = True) -> Path | None:
    """Return the file of the network engine; `None`: this installation has none, or it is not built yet.

    Args:
        build: build it where it is built on demand.

    Raises:
        Refusal: it cannot be built.
    """
    named = folders.named_folder()
    if named is None and folders.source_root() is not None:
        from octant.build import on_demand  # noqa: PLC0415 - an installed package does not need it

        return on_demand.module(NETWORK) if build else on_demand.built_module(NETWORK)
    return folders.module_in(named or folders.installed_folder().parent, NETWORK)


def digest(program: Path) -> str:
    """Return sixteen digits that identify a build of a program in records.

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


def find_environment_program(name: str) -> Path | None:
    """Return a program of a wheel in this environment (`mpiexec`), if it exists."""
    program = Path(sys.executable).parent / name
    return program if os.access(program, os.X_OK) else None
