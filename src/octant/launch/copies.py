"""A copy of the directory in which a user's program works, so that no launch finds what another one left there."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import shutil
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from octant.failure import Refusal, remedy_for_writing
from octant.units import bytes_text

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_BYTES = 16 << 30
"""Of the files of a directory that is copied for each launch."""
_FICLONE = 0x40049409  # ioctl_ficlone(2): both files share their blocks until one is written
_NOT_HERE = (errno.EXDEV, errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOTTY, errno.EPERM)


@dataclass(frozen=True)
class _Entry:
    place: str  # relative to the directory
    status: os.stat_result  # of the entry itself, also of a link


def copy_directory(source: Path, target: Path, left_out: Path | None = None, most_bytes: int = MAX_BYTES) -> None:
    """Copy a directory, with modes and times; blocks are shared where the file system can do that.

    Links are copied as links: what they name outside the directory is not copied. Absolute links into the directory
    name the copy then. Sockets, pipes and devices are left out.

    Args:
        target: is made.
        left_out: a directory that is not copied with what is in it.

    Raises:
        Refusal: it is too large, is inside the directory that is left out, or something cannot be read or written.
    """
    what = f"cannot copy {source} for a launch"
    try:
        source = source.resolve(strict=True)
        hidden = left_out.resolve() if left_out else None
        if hidden and (source == hidden or hidden in source.parents):
            raise Refusal(f"{what} (it is inside the store {left_out}); use another working directory or store")
        entries = list(_entries(source, hidden))
        size = sum(one.status.st_size for one in entries if stat.S_ISREG(one.status.st_mode))
        if size > most_bytes:
            why = f"its files have {bytes_text(size)}, the limit is {bytes_text(most_bytes)}"
            raise Refusal(
                f"{what} ({why}); remove --fresh-dir, or use a directory that contains only the files of the program"
            )
        target.mkdir(0o700)
        for one in entries:
            _copy_entry(one, source, target)
        for one in reversed(entries):  # what is in a folder first, since it may be read-only, and its time changes
            if stat.S_ISDIR(one.status.st_mode):
                _set_attributes(target / one.place, one.status)
        target.chmod(stat.S_IMODE(source.stat().st_mode) | 0o700)
    except OSError as error:
        named = f": {error.filename}" if error.filename else ""
        remedy = remedy_for_writing(error) if error.errno in (errno.ENOSPC, errno.EDQUOT) else "remove --fresh-dir"
        raise Refusal(f"{what} ({error.strerror}{named}); {remedy}") from error


def remove_tree(folder: Path) -> None:
    """Remove a folder with what is in it, also where a program took away the permission to write.

    What cannot be removed stays.
    """

    tried = set[Path]()

    def again(_function: object, name: str, _error: object) -> None:
        path = Path(name)
        if path in tried:
            return
        tried.add(path)
        with contextlib.suppress(OSError):
            if folder in path.parents:
                path.parent.chmod(0o700)
            if path.is_symlink() or not path.is_dir():
                path.unlink()
            else:
                path.chmod(0o700)
                shutil.rmtree(path, onerror=again)

    shutil.rmtree(folder, onerror=again)


def _entries(source: Path, left_out: Path | None) -> Iterator[_Entry]:
    """Yield the entries of the directory, each folder before its content; skip entries removed meanwhile."""
    folders = [""]
    while folders:
        place = folders.pop()
        with contextlib.suppress(FileNotFoundError), os.scandir(source / place) as found:
            for one in found:
                try:
                    status = one.stat(follow_symlinks=False)
                except FileNotFoundError:
                    continue
                inside = os.path.join(place, one.name)  # noqa: PTH118 - text
                if stat.S_ISDIR(status.st_mode):
                    if left_out and source / inside == left_out:
                        continue
                    folders.append(inside)
                yield _Entry(inside, status)


def _copy_entry(one: _Entry, source: Path, target: Path) -> None:
    old, new, mode = source / one.place, target / one.place, one.status.st_mode
    if stat.S_ISDIR(mode):
        new.mkdir(0o700)
    elif stat.S_ISLNK(mode):
        try:
            named = str(old.readlink())
        except FileNotFoundError:
            return
        named = os.path.normpath(named) if os.path.isabs(named) else named  # noqa: PTH117 - text
        if os.path.isabs(named) and os.path.commonpath([named, source]) == str(source):  # noqa: PTH117 - text
            named = str(target / os.path.relpath(named, source))
        new.symlink_to(named)
    elif stat.S_ISREG(mode):
        with contextlib.suppress(FileNotFoundError):
            _copy_file(old, new)
            _set_attributes(new, one.status)


def _copy_file(old: Path, new: Path) -> None:
    with contextlib.ExitStack() as stack:
        reading = os.open(old, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        stack.callback(os.close, reading)
        writing = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        stack.callback(os.close, writing)
        try:
            fcntl.ioctl(writing, _FICLONE, reading)
        except OSError:
            _copy_bytes(reading, writing)


def _copy_bytes(reading: int, writing: int) -> None:
    """Copy in the kernel, if it can do so between these two file systems."""
    try:
        while os.copy_file_range(reading, writing, 1 << 30):
            pass
    except OSError as error:
        if error.errno not in _NOT_HERE:
            raise
        while data := os.read(reading, 1 << 20):
            while data:
                data = data[os.write(writing, data) :]


def _set_attributes(path: Path, status: os.stat_result) -> None:
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    path.chmod(stat.S_IMODE(status.st_mode))
