"""Versions of the compilers and libraries that measurements depend on. Live only; nothing here can fail.

MPI is queried with its own tools: `mpichversion`, `ompi_info --version` or `impi_info -v`, next to this Python or
on PATH. Where none is installed, `MPI_Get_library_version` of the library itself answers, which MPI (3.0,
section 8.1.1) lets a program call before `MPI_Init`; in a process of its own, because loading an MPI library
can do anything.
"""

import importlib.metadata
import platform
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from octant.software.blas import FOLDERS, openblas, openblas_path
from octant.software.command import output, tool

_MPI_TOOLS = (
    ("mpich", ("mpichversion",), r"MPICH Version:\s*(\S+)"),
    ("openmpi", ("ompi_info", "--version"), r"Open MPI v(\S+)"),
    ("intelmpi", ("impi_info", "-v"), r"Version (\S+)"),
)
_MPI_LIBRARIES = ("libmpi_abi.so.1", "libmpi_abi.so.0", "libmpi.so.12", "libmpi.so.40")
_REQUEST_LIBRARY = """
import ctypes, sys
text, length = ctypes.create_string_buffer(8192), ctypes.c_int()
ctypes.CDLL(sys.argv[1]).MPI_Get_library_version(text, ctypes.byref(length))
print(text.value.decode())
"""
_PACKAGES = ("scipy-openblas32", "numpy", "mpich", "openmpi", "impi-rt")
_TUNED_BLAS = ("openblas", "mkl", "blis", "armpl", "nvpl", "essl", "atlas", "flexiblas")


def software() -> dict[str, str]:
    """Name to version of what is found: Python, C library, compiler, MPI libraries, BLAS."""
    return dict(_versions())


def _versions() -> Iterator[tuple[str, str]]:
    yield "python", platform.python_version()
    library, version = platform.libc_ver()
    if version:
        yield library, version
    compiler = output(["gcc", "-dumpfullversion"])
    if compiler:
        yield "gcc", compiler
    yield from _mpi()
    for package in _PACKAGES:
        try:
            yield f"{package} (wheel)", importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    blas = system_blas()
    if blas is not None:
        yield "blas", blas
    wheel = openblas_path()
    if wheel is not None and (found := openblas(wheel)) is not None:
        yield "openblas", f"{found.version}, kernels for {found.core} ({found.path})"


def _mpi() -> Iterator[tuple[str, str]]:
    seen = False
    for name, command, pattern in _MPI_TOOLS:
        path = tool(command[0])
        version = re.search(pattern, output([path, *command[1:]])) if path else None
        if version:
            seen = True
            yield name, f"{version[1]} ({path})"
    if not seen:
        for library in _MPI_LIBRARIES:
            find_environment_program = Path(sys.prefix) / "lib" / library
            text = output(
                [
                    sys.executable,
                    "-c",
                    _REQUEST_LIBRARY,
                    str(find_environment_program if find_environment_program.exists() else library),
                ]
            )
            if text:
                yield "mpi", f"{text.splitlines()[0].strip()} ({library})"
                return


def system_blas() -> str | None:
    """Describe the system's `libblas.so.3`: `reference (PATH)` for Netlib's, `tuned (PATH)`; `None`: absent."""
    for folder in FOLDERS:
        link = Path(folder) / "libblas.so.3"
        try:
            path = str(link.resolve(strict=True))
        except (OSError, RuntimeError):
            continue
        return f"{'tuned' if any(name in path.lower() for name in _TUNED_BLAS) else 'reference'} ({path})"
    return None
