"""Find libraries with FFTW 3's interface next to those of `blas`, on this machine; never fails."""

import sys
from collections.abc import Iterator
from pathlib import Path

from octant.software.blas import FOLDERS, folders_of

_SYSTEM = {
    "fftw": "libfftw3.so.3",
    "fftw-single": "libfftw3f.so.3",
    "nvpl": "libnvpl_fftw.so.[0-9]*",
}
"""Name to the file of a library, in the folders of the system and of this Python; single precision may have its own."""
_WHEELS = {
    ("pyfftw", "pyfftw"): "pyfftw.libs/libfftw3-*",
    ("pyfftw-single", "pyfftw"): "pyfftw.libs/libfftw3f-*",
    ("nvpl", "nvpl"): "nvpl/lib/libnvpl_fftw.so*",
}
"""Name and package to the file of the library that the package's wheel carries."""


def libraries() -> dict[str, Path]:
    """Name to file, as the kernels read them from the variable OCTANT_FFTW."""
    found: dict[str, Path] = {}
    for name, file in _candidates():
        if name not in found and file.is_file():
            found[name] = file.resolve()
    return found


def _candidates() -> Iterator[tuple[str, Path]]:
    folders = (Path(sys.prefix) / "lib", Path("/usr/local/lib"), *map(Path, FOLDERS))
    for name, pattern in _SYSTEM.items():
        yield from ((name, file) for folder in folders for file in sorted(folder.glob(pattern)))
    for (name, package), pattern in _WHEELS.items():
        yield from ((name, file) for folder in folders_of(package) for file in sorted(folder.glob(pattern)))
