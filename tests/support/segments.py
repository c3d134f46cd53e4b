"""Shared memory that something left behind."""

import contextlib
from pathlib import Path

from octant.launch import leftovers


def stray_segments() -> set[str]:
    """Names of shared memory that no process has open or mapped: others may be at work on this machine."""
    names = {path.name for path in leftovers.FOLDER.iterdir()}
    held = ""
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            held += (folder / "maps").read_text(errors="replace")
            for link in (folder / "fd").iterdir():
                with contextlib.suppress(OSError):
                    held += f" {link.readlink()}"
    return {name for name in names if name not in held}
