"""BLAS libraries: where they are. Of OpenBLAS: whose kernels it uses here, and whether others are there and faster.

Live only; cannot fail.

OpenBLAS chooses its kernels by the processor when it is loaded; `OPENBLAS_CORETYPE` names others. A name that the
library was not built with is ignored without a message, so each is tried in a process of its own.
"""

import importlib.util
import itertools
import statistics
import sys
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from octant.software.command import output
from octant.software.surroundings import CoreTrial, OpenBlas

VARIABLE = "OPENBLAS_CORETYPE"
FOLDERS = (
    "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib/powerpc64le-linux-gnu",
    "/usr/lib64", "/usr/lib",
)  # fmt: skip
"""Where systems keep their libraries."""
_NAMED = {
    "openblas": "libopenblas.so.[0-9]*",
    "system": "libblas.so.3",  # what programs get that are linked to BLAS; whose it is, an administrator chooses
    "blis": "libblis.so.[0-9]*",
    "mkl": "libmkl_rt.so*",
    "armpl": "libarmpl_lp64.so",
    "nvpl": "libnvpl_blas_core.so.[0-9]*",
    "essl": "libessl.so*",
    "cblas": "libcblas.so.[0-9]*",
}
"""Name to the file of a library, in the folders of the system and of this Python."""
_WHEELS = {"numpy": "numpy.libs/lib*blas*", "scipy": "scipy.libs/lib*blas*", "nvpl": "nvpl/lib/libnvpl_blas_core.so*"}
"""Name of a package to the file of the library that its wheel carries."""
_CHOICES = (
    "openblas-pthread", "openblas-openmp", "openblas-serial", "blis-pthread", "blis-openmp", "blis-serial", "atlas",
    "blas",
)  # fmt: skip
"""Folders of the libraries among which Debian's alternatives choose; the last has the reference."""
_CHOICE_FILES = ("libopenblas.so.[0-9]*", "libblis.so.[0-9]*", "libblas.so.3")
_CORES = (  # OpenBLAS's names, newest first, with the instructions that show that a processor has all of theirs
    ("SapphireRapids", "amx_tile"),
    ("Cooperlake", "avx512_bf16"),
    ("SkylakeX", "avx512f"),
    ("Haswell", "avx2"),
)
_N = 512  # of the product that is timed: some 5 ms
_ROUNDS = 3
_REQUEST = """
import array, ctypes, sys, time
library = ctypes.CDLL(sys.argv[1])
def find(name):
    return getattr(library, name, None) or getattr(library, "scipy_" + name)
for name in ("openblas_get_corename", "openblas_get_config"):
    text = find(name)
    text.restype = ctypes.c_char_p
    print(text().decode())
n, times = int(sys.argv[2]), []
a, b, c = (array.array("d", [1.0]) * (n * n) for _ in range(3))
pointers = [(ctypes.c_double * (n * n)).from_buffer(x) for x in (a, b, c)] if n else []
for _ in range(6 if n else 0):
    begin, one = time.perf_counter(), ctypes.c_double(1.0)
    find("cblas_dgemm")(101, 111, 111, n, n, n, one, pointers[0], n, pointers[1], n, one, pointers[2], n)
    times.append(time.perf_counter() - begin)
print(sorted(times[1:])[2] if n else 0.0)
"""


def openblas_path() -> Path | None:
    """Return the library of the `scipy-openblas32` wheel (symbols with the prefix `scipy_`), without importing it."""
    spec = importlib.util.find_spec("scipy_openblas32")
    if spec is None or not spec.submodule_search_locations:
        return None
    return next(Path(spec.submodule_search_locations[0]).glob("lib/libscipy_openblas*.so*"), None)


def libraries() -> dict[str, Path]:
    """Return the file of every BLAS library by name: in wheels, next to Python, and in system folders.

    `openblas` is the wheel's where that is installed. A file has one name, the first.
    """
    found: dict[str, Path] = {}
    for name, file in _candidates():
        real = file.resolve()
        if name not in found and real.is_file() and real not in found.values():
            found[name] = real
    return found


def _candidates() -> Iterator[tuple[str, Path]]:
    """Yield names and files, preferred files first; some may be links to each other."""
    folders = (Path(sys.prefix) / "lib", Path("/usr/local/lib"), *map(Path, FOLDERS))
    if wheel := openblas_path():
        yield "openblas", wheel
    for name, pattern in _NAMED.items():
        yield from ((name, file) for folder in folders for file in sorted(folder.glob(pattern)))
    for name, folder in itertools.product(_CHOICES, folders):
        files = (file for pattern in _CHOICE_FILES for file in sorted((folder / name).glob(pattern)))
        yield from (("reference" if name == "blas" else name, file) for file in files)
    for name, pattern in _WHEELS.items():
        yield from ((name, file) for folder in folders_of(name) for file in sorted(folder.glob(pattern)))


def folders_of(package: str) -> list[Path]:
    """Where a package lies, without importing it."""
    spec = importlib.util.find_spec(package)
    return [Path(folder).parent for folder in (spec.submodule_search_locations if spec else None) or ()]


def named(found: Mapping[str, Path]) -> str:
    """Libraries as the kernels read them from the variable OCTANT_BLAS: `NAME=PATH`, joined by colons.

    A file whose name holds a colon cannot be said.
    """
    return ":".join(f"{name}={file}" for name, file in found.items() if ":" not in str(file))


def own_core(vendor: str, flags: Collection[str]) -> str:
    """OpenBLAS's name for the core of an Intel processor, by its instructions; empty for others."""
    return next((name for name, flag in _CORES if flag in flags), "") if vendor == "GenuineIntel" else ""


def openblas(library: Path) -> OpenBlas | None:
    """Return a library as selected by the environment; `None` if it is not OpenBLAS or cannot be loaded."""
    lines = _request(library, {})
    if lines is None:
        return None
    words = lines[1].split()  # "OpenBLAS 0.3.34 DYNAMIC_ARCH … MAX_THREADS=64"
    return OpenBlas(str(library), words[1] if len(words) > 1 else "", lines[0])


def with_trials(found: OpenBlas, flags: Collection[str], is_set: bool) -> OpenBlas:
    """Return the library with its behaviour if the variable names newer cores, and if it is unset (`is_set`).

    Ends at the first name whose kernels the library has, or without an answer (timeout, crash): a comparison with an
    older core would be misleading. Kernels that are neither in use nor tried yet are timed in addition to those in use.
    """
    trials: list[CoreTrial] = []
    known = {found.core}
    names = [*([""] if is_set else []), *(name for name, flag in _CORES if flag in flags)]
    for name in names:
        lines = _request(Path(found.path), {VARIABLE: name or None})
        if lines is None:
            break
        core, is_new = lines[0], lines[0] not in known
        known.add(core)
        speedup = _speedup(Path(found.path), name) if is_new else None
        if is_new and speedup is None:
            break
        trials.append(CoreTrial(name, core, speedup))
        if name and (is_new or name.lower() == core.lower()):
            break
    return OpenBlas(found.path, found.version, found.core, tuple(trials))


def _speedup(library: Path, name: str) -> float | None:
    """How many times as fast a product of matrices is: the median of rounds of one process each."""
    ratios = []
    for _ in range(_ROUNDS):
        now, then = _request(library, {}, _N), _request(library, {VARIABLE: name or None}, _N)
        if now and then:
            ratios.append(float(now[2]) / float(then[2]))
    return statistics.median(ratios) if ratios else None


def _request(library: Path, changes: dict[str, str | None], n: int = 0) -> list[str] | None:
    """Core, configuration and seconds of a product of n x n matrices on one thread; `None` if it gave no answer."""
    one = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    lines = output([sys.executable, "-c", _REQUEST, str(library), str(n)], {**one, **changes}).splitlines()
    return lines if len(lines) == 3 else None
