"""Shared memory that ranks leave behind when they are killed: MPICH, for one, gives it a name until the very end."""

import contextlib
import fcntl
import math
import os
import signal
import stat
from pathlib import Path

FOLDER = Path("/dev/shm")  # noqa: S108 - where MPI libraries keep what ranks of a node share
_NAMES = (
    "mpich_shm_", "mpich_s_shar_tmp", "mpich_shar_tmp", "ucx_shm_posix_", "sm_segment.", "vader_segment.", "osc_rdma.",
    "osc_sm.", "osc_ucx.", "Intel_MPI_",
)  # fmt: skip


def free_bytes(folder: Path = FOLDER) -> float:
    """What ranks of this node can share; infinite where that has no limit of its own, or nobody says."""
    with contextlib.suppress(OSError):
        room = os.statvfs(folder)
        if room.f_blocks > 0:  # none: mounted without a limit
            return room.f_bavail * room.f_frsize
    return math.inf


def remove(folder: Path = FOLDER) -> tuple[str, ...]:
    """Remove the segments of MPI libraries that belong to this user and that no process uses; return their names.

    The kernel decides whether a segment is in use, so that processes of other users and containers count, too.
    """
    try:
        segments = sorted(path for path in folder.iterdir() if path.name.startswith(_NAMES))
    except OSError:
        return ()
    return tuple(path.name for path in segments if _remove_if_unused(path))


def _remove_if_unused(path: Path) -> bool:
    """Remove a segment, unless it is another user's or a process has it open for writing, or mapped it writable.

    The kernel grants a read lease (fcntl(2)) only for a file that no process of any namespace has open for writing; a
    shared mapping keeps its file open, even after close(2), and every rank maps a segment to write to it. A process
    that opens the file while the lease is held waits until this function returns, and SIGURG, which is ignored by
    default, takes the place of SIGIO. If the system grants no leases, the segment is kept.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        status = os.fstat(descriptor)
        if status.st_uid != os.geteuid() or not stat.S_ISREG(status.st_mode):
            return False
        fcntl.fcntl(descriptor, fcntl.F_SETSIG, signal.SIGURG)
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_RDLCK)
        path.unlink()
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return True
