"""Processes of a launch on this host, as proc(5) describes them."""

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path

PROC = Path("/proc")
_PF_EXITING, _PF_KTHREAD = 0x4, 0x200000
"""Flags of a task, field 9 of /proc/PID/stat (include/linux/sched.h)."""
_TICKS_PER_S = os.sysconf("SC_CLK_TCK")


def now_ticks() -> int:
    """Return the time since boot in the unit of the start times in /proc/PID/stat, rounded down."""
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME) * _TICKS_PER_S // 1_000_000_000


def environment_of(folder: Path) -> list[bytes]:
    """Return the initial environment of a process, each variable as `NAME=value`; empty if it cannot be read.

    They cannot be read of another user's process, and if none of the threads has memory.

    A thread that has ended has none, and the first thread of a process may end before the others.

    Args:
        folder: of the process, for example /proc/1.

    Raises:
        OSError: the process has ended.
    """
    content = _environ(folder)
    for task in [] if content else _tasks(folder):
        with contextlib.suppress(FileNotFoundError):  # the thread has ended
            content = content or _environ(task)
    return [word for word in content.split(b"\0") if word]


def _environ(folder: Path) -> bytes:
    try:
        return (folder / "environ").read_bytes()
    except (ProcessLookupError, PermissionError):
        # It has no memory: the file then belongs to root, and versions of Linux differ in what they return to root.
        return b""


def marked(mark: bytes) -> list[int]:
    """Return the processes whose environment has a variable that begins with `mark`.

    A process that is exiting is not among them, because its environment cannot be read any more.
    """
    found = []
    for folder in _own_processes(PROC):
        with contextlib.suppress(OSError):  # it has ended, or may not be looked at
            if any(word.startswith(mark) for word in environment_of(folder)):
                found.append(int(folder.name))
    return found


def exiting(since_ticks: int, proc: Path = PROC) -> list[int]:
    """Return the exiting processes of this user that were started at that time or later.

    Such a process has lost its environment, which identifies its launch, but may still hold its memory and files. It
    holds nothing when it is a zombie.

    Args:
        since_ticks: as `now_ticks` returns it.
        proc: where proc(5) is mounted.
    """
    found = []
    for folder in _own_processes(proc):
        with contextlib.suppress(OSError, ValueError, IndexError):  # it has ended
            if not environment_of(folder) and any(_is_exiting(task, since_ticks) for task in _tasks(folder)):
                found.append(int(folder.name))
    return found


def _own_processes(proc: Path) -> Iterator[Path]:
    me = os.geteuid()
    for entry in os.scandir(proc):
        with contextlib.suppress(OSError):  # it has ended
            if entry.name.isdigit() and entry.stat().st_uid == me:
                yield Path(entry.path)


def _tasks(folder: Path) -> list[Path]:
    return sorted((folder / "task").iterdir())


def _is_exiting(task: Path, since_ticks: int) -> bool:
    """Whether a thread of a user's process that was started since then is exiting, and not yet a zombie.

    Raises:
        OSError, ValueError, IndexError: it has ended.
    """
    fields = (task / "stat").read_text(errors="replace").rpartition(")")[2].split()  # from the third field of proc(5)
    state, flags, started_ticks = fields[0], int(fields[6]), int(fields[19])
    return state not in "ZX" and flags & (_PF_EXITING | _PF_KTHREAD) == _PF_EXITING and started_ticks >= since_ticks
