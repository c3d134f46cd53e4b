"""Writes of the store: ours alone (0600, folders 0700), never through a link, whole or not at all."""

import os
from pathlib import Path

from octant.output import replacing

FOLDER_MODE, FILE_MODE = 0o700, 0o600


def make_folder(path: Path) -> None:
    """Create the folder and its parents.

    Raises:
        OSError: it cannot be made.
    """
    for folder in (*reversed(path.parents), path):
        folder.mkdir(FOLDER_MODE, exist_ok=True)


def write_durably(path: Path, text: str) -> None:
    """Whole or not at all, so that who reads the store meanwhile, or after the disk was full, finds no half of it.

    Raises:
        OSError: it cannot be written.
    """
    with replacing(path, FILE_MODE) as file:
        file.write(text.encode())
        file.flush()
        os.fsync(file.fileno())


def open_for_append(path: Path) -> int:
    """Yield a descriptor that appends to the file, which is created if necessary.

    Raises:
        OSError: it cannot be opened, or is a link.
    """
    return os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW, FILE_MODE)


def append_line(descriptor: int, line: str) -> None:
    """Append a line; a torn last line is ended first.

    Raises:
        OSError: it cannot be written whole.
    """
    data = f"{line}\n".encode()
    if is_torn(descriptor):
        data = b"\n" + data
    while data:
        data = data[os.write(descriptor, data) :]


def end_torn_line(descriptor: int) -> None:
    """End a torn last line.

    Raises:
        OSError: it cannot be written.
    """
    if is_torn(descriptor):
        os.write(descriptor, b"\n")


def is_torn(descriptor: int) -> bool:
    """Whether the last line has no end."""
    size = os.fstat(descriptor).st_size
    return size > 0 and os.pread(descriptor, 1, size - 1) != b"\n"
