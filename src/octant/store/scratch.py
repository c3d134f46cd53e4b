"""Folders that exist while a process needs them; those of killed processes are removed at the next start."""

import contextlib
import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from octant.failure import Refusal
from octant.store import files

PREFIX = ".octant-probe-"
_LOCK = "lock"


@contextlib.contextmanager
def short_lived(inside: Path | None) -> Iterator[Path]:
    """Create a folder, and remove it when the block ends.

    A lock of a file in it, which the system releases however the process ends, shows that the folder is in use.

    Args:
        inside: where `remove_abandoned` finds it; `None`: among the temporary files of the system.

    Raises:
        Refusal: the folder cannot be created.
    """
    with contextlib.ExitStack() as stack:
        try:
            name = stack.enter_context(tempfile.TemporaryDirectory(dir=inside, prefix=PREFIX if inside else None))
            descriptor = files.open_for_append(Path(name) / _LOCK)
        except OSError as error:
            if inside is None:
                why = error.strerror or error
                raise Refusal(f"cannot create a temporary folder ({why}); set TMPDIR to a writable folder") from error
            raise Refusal(f"cannot write to {inside} ({error.strerror}); try --store DIR") from error
        stack.callback(os.close, descriptor)
        with contextlib.suppress(OSError):  # no locks here: the folder is never removed by others
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield Path(name)


def remove_abandoned(root: Path) -> None:
    """Remove such folders of killed processes from a store, and from the folder that holds the store.

    A folder is kept if it is another user's, is a link, or is in use, and if the file system does not support locks.
    """
    for path in (*root.glob(f"{PREFIX}*"), *root.parent.glob(f"{PREFIX}*")):
        with contextlib.suppress(OSError):
            if path.is_symlink() or path.lstat().st_uid != os.geteuid():
                continue
            descriptor = os.open(path / _LOCK, os.O_RDWR | os.O_NOFOLLOW)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(path, ignore_errors=True)
            finally:
                os.close(descriptor)
