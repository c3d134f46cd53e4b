"""Shared memory that ranks leave behind when they are killed: MPICH, for one, gives it a name until the very end."""

import contextlib
import math
import os
import re
from pathlib import Path

FOLDER = Path("/dev/shm")  # noqa: S108 - where MPI libraries keep what ranks of a node share
_NAMES = (
    "mpich_shm_", "mpich_s_shar_tmp", "mpich_shar_tmp", "ucx_shm_posix_", "sm_segment.", "vader_segment.", "osc_rdma.",
    "osc_sm.", "osc_ucx.", "Intel_MPI_",
)  # fmt: skip


_FIRST_PID_NAMESPACE = "pid:[4026531836]"  # of every Linux, PROC_PID_INIT_INO


def free_bytes(folder: Path = FOLDER) -> float:
    """What ranks of this node can share; infinite where that has no limit of its own, or nobody says."""
    with contextlib.suppress(OSError):
        room = os.statvfs(folder)
        if room.f_blocks > 0:  # none: mounted without a limit
            return room.f_bavail * room.f_frsize
    return math.inf


def remove(since: float | None = None, folder: Path = FOLDER) -> tuple[str, ...]:
    """Removes segments of MPI libraries that are ours, younger than `since` (seconds since 1970), and held by nobody.

    Whoever else runs MPI here holds their own segments open; without that check theirs would go too. Without `since`,
    segments of any age go, but only where every process of this system can be seen: outside of containers.
    """
    if since is None:
        if not all_seen():
            return ()
        since = 0.0
    young = []
    with contextlib.suppress(OSError):
        for path in folder.iterdir():
            with contextlib.suppress(OSError):
                status = path.stat()
                if path.name.startswith(_NAMES) and status.st_uid == os.getuid() and status.st_ctime >= since:
                    young.append(path)
    if not young:
        return ()
    held = _names_in_use({path.name for path in young})
    if held is None:
        return ()
    removed = [path for path in young if path.name not in held]
    for path in removed:
        with contextlib.suppress(OSError):
            path.unlink()
    return tuple(sorted(path.name for path in removed))


def all_seen() -> bool:
    """Whether we are in no container, so that `/proc` shows every process of the system."""
    with contextlib.suppress(OSError):
        return str(Path("/proc/self/ns/pid").readlink()) == _FIRST_PID_NAMESPACE
    return False


def _names_in_use(names: set[str]) -> set[str] | None:
    """Which of these some process has open or mapped; `None` where a process of ours does not let us look."""
    found: set[str] = set()
    for process in Path("/proc").glob("[0-9]*"):
        text = ""
        try:
            text = (process / "maps").read_text(errors="replace")
            for link in (process / "fd").iterdir():
                with contextlib.suppress(FileNotFoundError):  # closed meanwhile
                    text += f" {link.readlink()}"
        except PermissionError:  # not ours: then it cannot hold what only we may open; or it does not show itself
            if process.name != "1" and _is_ours(process):  # the first process has more rights than we, and is no rank
                return None
        except OSError:  # it ended
            pass
        found |= {name for name in names if name in text}
    return found


def _is_ours(process: Path) -> bool:
    """Whether we own it and it has memory; one that ended and was not waited for has none, nor lets us look."""
    with contextlib.suppress(OSError):
        status = (process / "status").read_text()
        real = re.search(r"^Uid:\s*(\d+)", status, re.MULTILINE)
        return real is not None and int(real[1]) == os.getuid() and "VmSize:" in status
    return False
