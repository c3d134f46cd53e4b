"""Shared memory that ranks leave behind when they are killed: MPICH, for one, gives it a name until the very end."""

import contextlib
import os
from pathlib import Path

FOLDER = Path("/dev/shm")  # noqa: S108 - where MPI libraries keep what ranks of a node share
_NAMES = ("mpich_shm_", "ucx_shm_posix_", "sm_segment.", "vader_segment.", "Intel_MPI_")


def remove(since: float, folder: Path = FOLDER) -> tuple[str, ...]:
    """Removes segments of MPI libraries that are ours, younger than `since` (seconds since 1970), and held by nobody.

    Whoever else runs MPI here holds their own segments open; without that check theirs would go too.
    """
    young = []
    with contextlib.suppress(OSError):
        for path in folder.iterdir():
            with contextlib.suppress(OSError):
                status = path.stat()
                if path.name.startswith(_NAMES) and status.st_uid == os.getuid() and status.st_ctime >= since:
                    young.append(path)
    if not young:
        return ()
    held = _held({path.name for path in young})
    removed = [path for path in young if path.name not in held]
    for path in removed:
        with contextlib.suppress(OSError):
            path.unlink()
    return tuple(sorted(path.name for path in removed))


def _held(names: set[str]) -> set[str]:
    found: set[str] = set()
    for process in Path("/proc").glob("[0-9]*"):
        text = ""
        with contextlib.suppress(OSError):  # it ended, or is not ours: then it cannot hold what only we may open
            text = (process / "maps").read_text(errors="replace")
            for link in (process / "fd").iterdir():
                with contextlib.suppress(OSError):
                    text += f" {link.readlink()}"
        found |= {name for name in names if name in text}
    return found
