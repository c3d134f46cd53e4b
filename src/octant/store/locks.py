"""Locks: one process measures a run at a time, and the next process finds the runs whose process was killed.

    STORE/locks/ID   empty; exists, and is locked, while a process measures the run ID

Files of their own are locked, opened for writing: NFS refuses an exclusive lock on a read-only descriptor, and SMB
refuses to read or write a file that is locked through another descriptor.
"""

import contextlib
import errno
import fcntl
import os
from collections.abc import Callable, Iterator
from pathlib import Path

from octant.failure import Refusal
from octant.store import files, kept, progress, scratch

FOLDER = "locks"


@contextlib.contextmanager
def lock(folder: Path, report: Callable[[str], None]) -> Iterator[None]:
    """Hold the lock of a run; the system releases it however this process ends.

    Args:
        folder: of the run.
        report: receives a warning if the file system does not support locks; the run is then measured without one.

    Raises:
        Refusal: another process holds the lock.
    """
    root, name = _place(folder)
    with contextlib.ExitStack() as stack:
        try:
            files.make_folder(root / FOLDER)
            stack.enter_context(_held(root / FOLDER / name))
        except BlockingIOError:
            raise Refusal(
                f"cannot continue {name} (another octant process is measuring it); try again after it has ended"
            ) from None
        except OSError as error:
            if error.errno != errno.EROFS:  # nothing can be measured there either
                report(
                    f"cannot lock runs in {root} ({error.strerror}); do not measure one run with two processes "
                    "at the same time"
                )
        yield


def sweep(folder: Path) -> None:
    """Remove the temporary files of all runs of this run's store whose process was killed, and files of no record.

    Only runs with a lock file are visited; version 0.2 wrote none, so the first time all runs are. Runs that another
    process measures are skipped, and every run if the file system does not support locks.
    """
    root, _ = _place(folder)
    scratch.remove_abandoned(root)
    try:
        names = os.listdir(root / FOLDER)  # noqa: PTH208 - names
    except FileNotFoundError:
        names = [path.name for path in {left.parent for left in (root / "runs").glob("*/records.jsonl.*")}]
    except OSError:
        return
    for name in names:
        run = root / "runs" / name
        try:
            files.make_folder(root / FOLDER)
            with _held(root / FOLDER / name), contextlib.suppress(OSError):
                if not run.is_symlink():
                    progress.remove_leftovers(run / "records.jsonl")
                    kept.remove_unnamed(run)
        except BlockingIOError:
            continue
        except OSError:
            return


def _place(folder: Path) -> tuple[Path, str]:
    """Return the store and the id of the run in this folder."""
    return folder.parent.parent, folder.name


@contextlib.contextmanager
def _held(path: Path) -> Iterator[None]:
    """Hold the lock of a file, which is created before and removed afterwards.

    Raises:
        BlockingIOError: another process holds it.
        OSError: the file cannot be created, or the file system does not support locks.
    """
    descriptor = _locked(path)
    try:
        yield
    finally:
        path.unlink(missing_ok=True)  # while the lock is held: afterwards the file may be another process's
        os.close(descriptor)


def _locked(path: Path) -> int:
    """Return a descriptor that holds the lock of the file at this path."""
    while True:
        descriptor = files.open_for_append(path)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_at(descriptor, path):
                return descriptor
        except OSError:
            os.close(descriptor)
            raise
        os.close(descriptor)  # its holder removed the file between opening and locking


def _is_at(descriptor: int, path: Path) -> bool:
    """Whether the open file is still the one at this path."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat(follow_symlinks=False))
    except FileNotFoundError:
        return False
