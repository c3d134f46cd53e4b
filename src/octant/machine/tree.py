"""A read-only view of the files in which a kernel describes its machine: the live ones or a recorded copy."""

import errno
import functools
import os
import re
import stat
from itertools import islice
from pathlib import Path

from octant.machine import CpuSet
from octant.machine.cpusets import MOST_CPUS, parse_cpus, parse_mask
from octant.untrusted import FILE_LIMIT

_PART_BYTES = 1 << 16
_parsed = functools.lru_cache(maxsize=4096)(parse_cpus)


def _plain_text(path: Path) -> str:
    """The text of a plain file, which those of a kernel are; a recording may hold others.

    Raises:
        OSError: it is none, or cannot be read.
    """
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(errno.EINVAL, "no plain file", str(path))
        # In parts: Linux refuses to read a file of /proc/sys into a buffer of more than 4 MiB.
        parts = iter(lambda: file.read1(_PART_BYTES), b"")
        return b"".join(islice(parts, FILE_LIMIT // _PART_BYTES)).decode("utf-8", "replace")


class FileTree:
    """Files below `root`; whatever cannot be read is `None`, because every kernel lacks some of them.

    `read` keeps every text handed out, by its path below `root`: a recording is exactly these files. In a recording,
    what links lead to outside of `root` counts as absent; `refused` says of such paths, and of those that this user may
    not read, why.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.live = root == Path("/")
        self.read: dict[str, str] = {}
        self.refused: dict[str, str] = {}
        self._folders: dict[str, str] = {}  # without links

    def _place(self, path: str) -> Path:
        """Where a file or folder is.

        Raises:
            OSError: it is in a recording, and outside of its root.
        """
        if self.live:
            return self.root / path
        folder, _, name = path.rpartition("/")
        for one in ("", folder):
            if one not in self._folders:
                self._folders[one] = os.path.realpath(self.root / one)
        place = f"{self._folders[folder]}/{name}"  # text: a recording has thousands of files, and paths take long
        if name == ".." or os.path.islink(place):  # noqa: PTH114
            place = os.path.realpath(place)
        if not f"{place}/".startswith(f"{self._folders[''].rstrip('/')}/"):
            raise OSError(errno.EXDEV if os.path.lexists(place) else errno.ENOENT, "a link to another place", path)
        return Path(place)

    def _refuse(self, path: str, error: OSError) -> None:
        if error.errno in (errno.EXDEV, errno.EACCES, errno.EPERM):
            self.refused[path] = str(error.strerror)

    def text(self, path: str) -> str | None:
        """The stripped text of a file, or `None` where it is absent or not readable."""
        if path not in self.read:
            try:
                self.read[path] = _plain_text(self._place(path))
            except OSError as error:
                self._refuse(path, error)
                return None
        return self.read[path].strip().strip("\0")

    def number(self, path: str) -> int | None:
        """The file's whole number, or `None` where there is none."""
        text = self.text(path)
        return int(text) if text and re.fullmatch(r"-?[0-9]{1,19}", text) else None

    def amount(self, path: str) -> int | None:
        """As `number`; `None` also where it is negative."""
        found = self.number(path)
        return None if found is None or found < 0 else found

    def cpus(self, path: str) -> CpuSet | None:
        """The file's list of hardware threads, or `None` where it has none."""
        text = self.text(path)
        try:
            return None if text is None else _parsed(text, or_none=True)
        except ValueError:
            return None

    def mask(self, path: str) -> CpuSet | None:
        """The file's mask of hardware threads, or `None` where it has none."""
        text = self.text(path)
        try:
            return None if text is None else parse_mask(text)
        except ValueError:
            return None

    def cpu_set(self, listed: str, mask: str) -> CpuSet | None:
        """The set of hardware threads in the first file as a list, else in the second as a mask; `None`: in neither."""
        found = self.cpus(listed)
        return self.mask(mask) if found is None else found

    def numbers(self, folder: str, prefix: str) -> list[int]:
        """The numbers `n` of the entries `prefix<n>` in a folder, ascending, as far as a machine has so many."""
        names = (name.removeprefix(prefix) for name in self.names(folder) if name.startswith(prefix))
        return sorted(int(name) for name in names if re.fullmatch("[0-9]{1,5}", name) and int(name) < MOST_CPUS)

    def names(self, folder: str) -> list[str]:
        """The names of a folder's entries, sorted; none where it cannot be listed."""
        try:
            return sorted(entry.name for entry in self._place(folder).iterdir())
        except OSError as error:
            self._refuse(folder, error)
            return []

    def table(self, path: str, separator: str = ":") -> dict[str, str]:
        """A file of `key: value` lines; of repeated keys the first counts."""
        found: dict[str, str] = {}
        for line in (self.text(path) or "").splitlines():
            key, colon, value = line.partition(separator)
            if colon:
                found.setdefault(key.strip(), value.strip())
        return found
