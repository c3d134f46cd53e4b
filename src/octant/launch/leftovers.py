"""Leftovers of killed ranks and launchers: shared memory and folders of temporary files."""

import contextlib
import fcntl
import math
import os
import shutil
import signal
import stat
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from octant import launchers

FOLDER = Path("/dev/shm")  # noqa: S108 - where MPI libraries keep what ranks of a node share
_NAMES = (
    "mpich_shm_", "mpich_s_shar_tmp", "mpich_shar_tmp", "ucx_shm_posix_", "sm_segment.", "vader_segment.", "osc_rdma.",
    "osc_sm.", "osc_ucx.", "Intel_MPI_",
)  # fmt: skip

PREFIX = "octant-mpi-"
"""Of folders below the system's temporary folder that hold the temporary files of one launch."""


@contextlib.contextmanager
def temporary_folder(words: Sequence[str], environment: Mapping[str, str]) -> Iterator[dict[str, str]]:
    """Give the launcher of a command line a folder for its temporary files; yield the variables that it needs.

    Open MPI keeps the files of a launch in a folder that is named after its process ID, and SIGKILL leaves it behind: a
    later launch of another user with the same ID then fails. The folder is removed at the end. If this process is
    killed, `remove` does so later: a folder is in use as long as a process holds the lock of flock(2) on it.
    """
    place = Path(tempfile.gettempdir())
    if not launchers.temporary_variables(words, environment, str(place)):
        yield {}
        return
    folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=place))
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield launchers.temporary_variables(words, environment, str(folder))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(descriptor)


def free_bytes(folder: Path = FOLDER) -> float:
    """Return the free shared memory of this node in bytes; infinite if it is unlimited or unknown."""
    with contextlib.suppress(OSError):
        room = os.statvfs(folder)
        if room.f_blocks > 0:  # none: mounted without a limit
            return room.f_bavail * room.f_frsize
    return math.inf


def remove(folder: Path = FOLDER, temporary: Path | None = None) -> tuple[str, ...]:
    """Remove segments of MPI libraries and folders of launches of this user that no process uses; return their names.

    The kernel decides whether a segment or a folder is in use, so that processes of other users and containers count,
    too.

    Args:
        folder: with the segments.
        temporary: with the folders of launches; `None`: the system's temporary folder.
    """
    found = [path for path in _named(folder, _NAMES) if _remove_if_unused(path)]
    found += [path for path in _named(temporary or Path(tempfile.gettempdir()), PREFIX) if _remove_if_unlocked(path)]
    return tuple(path.name for path in found)


def _named(folder: Path, names: str | tuple[str, ...]) -> list[Path]:
    try:
        return sorted(path for path in folder.iterdir() if path.name.startswith(names))
    except OSError:
        return []


def _remove_if_unlocked(folder: Path) -> bool:
    """Remove the folder of a launch, unless it is another user's or the process that made it still runs."""
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        if os.fstat(descriptor).st_uid != os.geteuid():
            return False
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(folder, ignore_errors=True)
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return not folder.exists()


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
