"""Programs compiled for SimGrid's SMPI: on demand, once per source, kept in the user's cache."""

import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from octant.failure import Exit, Refusal

# SMPI replaces malloc and its like by macros, which break system headers; our sources do not need them.
_OPTIONS = ("-std=c++20", "-O2", "-DSMPI_NO_OVERRIDE_MALLOC", "-DOCTANT_NO_MPI_T")
_HOW = "try `make simgrid` (Debian's libsimgrid-dev; root)"


def compiler() -> Path:
    """SimGrid's C++ compiler wrapper.

    Raises:
        Refusal: not installed.
    """
    found = shutil.which("smpicxx")
    if found is None:
        raise Refusal(f"cannot use SimGrid (no smpicxx on PATH); {_HOW}", Exit.NOT_SUPPORTED)
    return Path(found)


def program(name: str, sources: Sequence[Path], options: Sequence[str] = ()) -> Path:
    """Return the program of these sources, compiled without OpenMP: simulated ranks share one thread.

    Raises:
        Refusal: no compiler, or the sources do not compile; the message has the first error.
    """
    wrapper = compiler()
    built = [str(wrapper), *_OPTIONS, *options, *map(str, sources), "-lgomp"]
    digest = hashlib.sha256("\0".join(built).encode())
    folders = {source.parent for source in sources} | {Path(word[2:]) for word in options if word.startswith("-I")}
    headers = sorted({header for folder in folders for header in folder.rglob("*.hpp")})
    for path in [wrapper, *sources, *headers]:
        digest.update(path.read_bytes())
    target = cache() / f"{name}-{digest.hexdigest()[:16]}"
    if target.exists():
        return target
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=target.parent) as folder:
            partial = Path(folder) / name
            _compile([*built, "-o", str(partial)], name)
            partial.replace(target)  # two compilations at once end in the same file
    except OSError as error:
        raise Refusal(f"cannot keep programs in {target.parent} ({error.strerror}); set XDG_CACHE_HOME") from error
    return target


def cache() -> Path:
    """Folder of the compiled programs."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "octant" / "simgrid"


def harness() -> tuple[list[Path], list[str]]:
    """Return sources and compiler options that add the measuring harness to a kernel.

    Raises:
        Refusal: no source tree here.
    """
    native = Path(__file__).resolve().parents[3] / "native"
    folder = native / "harness"
    sources = sorted(folder.glob("*.cpp"))
    if not sources:
        raise Refusal(
            "cannot recompile a kernel (this is not a source tree of Octant); try in a clone, after `make setup`"
        )
    own = (folder, native, native / "simgrid")  # the last replaces headers that the build writes
    return sources, [f"-I{one}" for one in own]


def _compile(command: list[str], name: str) -> None:
    ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)  # noqa: S603 - our own command
    if ended.returncode != 0:
        errors = [line for line in ended.stderr.splitlines() if "error" in line or "undefined" in line]
        raise Refusal(
            f"cannot compile {name} for SimGrid ({(errors or [ended.stderr.strip()])[0]}); see smpicxx --version"
        )
