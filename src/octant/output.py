"""Output files for users: written completely or not at all, never through a link or into a device."""

import contextlib
import os
import secrets
import signal
import stat
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from octant.failure import Exit, Refusal

FILE_MODE = 0o666
"""Permissions of output files, less the umask."""
_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFLNK: "a link",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


@contextlib.contextmanager
def replacing(path: Path, mode: int = FILE_MODE) -> Iterator[BinaryIO]:
    """Open a file that replaces `path` when the block ends, and is removed on failure or interruption.

    Until then it is next to `path` under an unpredictable name that no other process uses.

    Args:
        path: the file.
        mode: its permissions, less the umask.

    Raises:
        OSError: it cannot be written.
    """
    partial = path.with_name(f".octant-{secrets.token_hex(8)}.part")
    descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, mode)
    try:
        with _sigterm_raises(), os.fdopen(descriptor, "wb") as file:
            yield file
        partial.replace(path)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise


@contextlib.contextmanager
def opened(path: Path, otherwise: str, mode: int = FILE_MODE) -> Iterator[BinaryIO]:
    """Open a file that the user named; `otherwise` is the advice of a refusal: `try -o with another file`.

    Raises:
        Refusal: it cannot be written, or is a link, a device or a folder.
    """
    try:
        with contextlib.suppress(FileNotFoundError):
            kind = stat.S_IFMT(path.lstat().st_mode)
            if kind != stat.S_IFREG:
                raise Refusal(
                    f"cannot write {path} (it is {_KINDS.get(kind, 'not a regular file')}); {otherwise}",
                    Exit.WRONG_WORD,
                )
        with replacing(path, mode) as file:
            yield file
    except (OSError, ValueError) as error:  # ValueError: a zero byte in the name, or no name
        reason = error.strerror if isinstance(error, OSError) else error
        raise Refusal(f"cannot write {path} ({reason}); {otherwise}") from error


def save(path: Path, text: str, otherwise: str, mode: int = FILE_MODE) -> None:
    """Write a text to a file that the user named; `otherwise` and `mode` as above.

    Raises:
        Refusal: as `opened`.
    """
    with opened(path, otherwise, mode) as file:
        file.write(text.encode("utf-8", "backslashreplace"))


def check_folder(folder: Path, path: Path, otherwise: str) -> None:
    """Check before a long measurement that files can be created in a folder, by creating one without a name.

    Args:
        folder: of the file.
        path: what the user named.
        otherwise: the advice of the refusal.

    Raises:
        Refusal: no file can be created there.
    """
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise Refusal(f"cannot write {path} ({reason}); {otherwise}") from error


@contextlib.contextmanager
def _sigterm_raises() -> Iterator[None]:
    """Handle SIGTERM of a batch system like Ctrl-C, so that no partial file is left behind."""
    if threading.current_thread() is not threading.main_thread() or signal.getsignal(signal.SIGTERM) != signal.SIG_DFL:
        yield
        return
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
