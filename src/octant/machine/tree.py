"""Read-only access to the files in which the kernel describes a machine: local or recorded."""

import errno
import functools
import os
import re
import stat
from itertools import islice
from pathlib import Path

from octant.machine import CpuSet
from octant.machine.cpusets import MAX_CPUS, parse_cpus, parse_mask
from octant.untrusted import FILE_LIMIT

_PART_BYTES = 1 << 16
_parsed = functools.lru_cache(maxsize=4096)(parse_cpus)


def _plain_text(path: Path) -> str:
    """Return the text of a regular file; recordings may contain other kinds of files.

    Raises:
        OSError: the file is not regular or cannot be read.
    """
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(errno.EINVAL, "not a regular file", str(path))
        # Linux does not read files of /proc/sys into a buffer of more than 4 MiB.
        parts = iter(lambda: file.read1(_PART_BYTES), b"")
        return b"".join(islice(parts, FILE_LIMIT // _PART_BYTES)).decode("utf-8", "replace")


class FileTree:
    """Files below `root`; a file that cannot be read gives `None`, since no kernel has all of them.

    `read` has the text of each file that was read, by its path below `root`; a recording consists of these files. In a
    recording, targets of links outside of `root` count as absent. `refused` has the reason for each such path and for
    each path without read permission.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.live = root == Path("/")
        self.read: dict[str, str] = {}
        self.refused: dict[str, str] = {}
        self._folders: dict[str, str] = {}  # without links

    def _place(self, path: str) -> Path:
        """Return the path of a file or folder.

        Raises:
            OSError: the path leads out of the root of a recording.
        """
        if self.live:
            return self.root / path
        folder, _, name = path.rpartition("/")
        for one in ("", folder):
            if one not in self._folders:
                self._folders[one] = os.path.realpath(self.root / one)
        place = f"{self._folders[folder]}/{name}"  # a string, since `Path` is slow for thousands of files
        if name == ".." or os.path.islink(place):  # noqa: PTH114
            place = os.path.realpath(place)
        if not f"{place}/".startswith(f"{self._folders[''].rstrip('/')}/"):
            raise OSError(errno.EXDEV if os.path.lexists(place) else errno.ENOENT, "a link out of the folder", path)
        return Path(place)

    def _refuse(self, path: str, error: OSError) -> None:
        if error.errno in (errno.EXDEV, errno.EACCES, errno.EPERM):
            self.refused[path] = str(error.strerror)

    def text(self, path: str) -> str | None:
        """Return the stripped text of a file, or `None` if it is absent or not readable."""
        if path not in self.read:
            try:
                self.read[path] = _plain_text(self._place(path))
            except OSError as error:
                self._refuse(path, error)
                return None
        return self.read[path].strip().strip("\0")

    def number(self, path: str) -> int | None:
        """Return the integer in a file, or `None` if there is none."""
        text = self.text(path)
        return int(text) if text and re.fullmatch(r"-?[0-9]{1,19}", text) else None

    def amount(self, path: str) -> int | None:
        """Return the integer in a file, or `None` if there is none or it is negative."""
        found = self.number(path)
        return None if found is None or found < 0 else found

    def cpus(self, path: str) -> CpuSet | None:
        """Return the list of hardware threads in a file, or `None` if there is none."""
        text = self.text(path)
        try:
            return None if text is None else _parsed(text, or_none=True)
        except ValueError:
            return None

    def mask(self, path: str) -> CpuSet | None:
        """Return the mask of hardware threads in a file, or `None` if there is none."""
        text = self.text(path)
        try:
            return None if text is None else parse_mask(text)
        except ValueError:
            return None

    def cpu_set(self, listed: str, mask: str) -> CpuSet | None:
        """Return the hardware threads of the list in the first file, else of the mask in the second; else `None`."""
        found = self.cpus(listed)
        return self.mask(mask) if found is None else found

    def numbers(self, folder: str, prefix: str) -> list[int]:
        """Return the numbers `n` below `MAX_CPUS` of the entries `prefix<n>` in a folder, ascending."""
        names = (name.removeprefix(prefix) for name in self.names(folder) if name.startswith(prefix))
        return sorted(int(name) for name in names if re.fullmatch("[0-9]{1,5}", name) and int(name) < MAX_CPUS)

    def names(self, folder: str) -> list[str]:
        """Return the names of a folder's entries, sorted; empty if the folder cannot be listed."""
        try:
            return sorted(entry.name for entry in self._place(folder).iterdir())
        except OSError as error:
            self._refuse(folder, error)
            return []

    def table(self, path: str, separator: str = ":") -> dict[str, str]:
        """Return the values of `key: value` lines by key; the first value of a repeated key is used."""
        found: dict[str, str] = {}
        for line in (self.text(path) or "").splitlines():
            key, colon, value = line.partition(separator)
            if colon:
                found.setdefault(key.strip(), value.strip())
        return found
