"""Profiles of MPI calls: arguments of octant-bind, collection from the nodes, and leftovers of killed launches.

While a program runs, the profiler keeps the tables of each process in a node-local folder. The last guard of a node
writes them to one file in the launch's folder. If the guards were killed, `octant-bind --collect` does so afterwards.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import struct
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from octant import build

if TYPE_CHECKING:
    from octant.program import ProgramProfile

PREFIX = "octant-profile-"
"""Of node-local folders: `octant-profile-UID-NAME`."""
LOCK = "guards"
"""File in a node-local folder; guards hold its lock while their program runs."""
LOCAL = "OCTANT_PROFILE_LOCAL"
"""Variable that names the file system for node-local folders, before /dev/shm, TMPDIR and /tmp."""
COLLECT_S = 60.0
"""Time limit of a collection through the launcher."""
PACKED, PROBLEM = ".packed", ".problem"
"""Ends of the names of files in the launch's folder: profiles of a node, and why profiles are missing."""
MAX_PROBLEMS, MAX_PROBLEM_BYTES = 20, 1000
_HEAD = struct.Struct("<8sQ")  # magic and length of a packed profile: native/profiler/packed_format.h
_MAGIC = b"OCTPACK1"
_NOT_YET = "/launch"  # replaced when the launch starts


@dataclass(frozen=True)
class ProfileFiles:
    """Profiles of the processes of one launch."""

    folder: Path  # with the files of the nodes
    problems: tuple[str, ...] = ()  # why profiles are missing, a sentence each

    @property
    def paths(self) -> list[Path]:
        """The files with profiles, in the order of their names."""
        return _with_ending(self.folder, PACKED)


def words(profile: ProgramProfile | None) -> list[str]:
    """Return the options with which octant-bind profiles a program, if it does; `named` completes them for a launch.

    Raises:
        Refusal: the profiler is not installed.
    """
    if profile is None:
        return []
    found = ["--profile", "launch", "--profiler", str(build.find("profiler")), "--to", _NOT_YET]
    found += ["--profile-mode", profile.mode] if profile.mode != "full" else []
    return found if profile.sites else [*found, "--no-sites"]


def named(line: Sequence[str], name: str, folder: Path) -> tuple[str, ...]:
    """Return a command line with the name of a launch and its folder in the options of octant-bind."""
    begin, end = _options(line)
    values = {"--profile": name, "--to": str(folder)}
    found = list(line)
    for at in range(begin, end - 1):
        if found[at] in values:
            found[at + 1] = values.pop(found[at])
    return tuple(found)


def collect_words(line: Sequence[str], name: str, folder: Path) -> tuple[str, ...]:
    """Return the command line that starts a collection with the launcher of a launch, on each of its nodes."""
    begin, _ = _options(line)
    return (*line[:begin], *local_collect_words(name, folder))


def local_collect_words(name: str, folder: Path) -> tuple[str, ...]:
    """Return the command line that collects the profiles of a launch on this node."""
    return str(build.find("bind")), "--collect", name, "--to", str(folder)


def local_folders(name: str, environment: Mapping[str, str] | None = None) -> list[Path]:
    """Return the folders of a launch on this node."""
    every = (root / f"{PREFIX}{os.geteuid()}-{name}" for root in _roots(environment))
    return [path for path in every if path.is_dir() and not path.is_symlink()]


def load(folder: Path) -> ProfileFiles:
    """Return what the guards and collections of a launch wrote to its folder."""
    problems = []
    for path in _with_ending(folder, PROBLEM)[:MAX_PROBLEMS]:
        with contextlib.suppress(OSError), path.open("rb") as file:
            problems.append(_one_line(file.read(MAX_PROBLEM_BYTES).decode(errors="replace")))
    return ProfileFiles(folder, tuple(dict.fromkeys(problems)))


def count_profiles(folder: Path) -> int:
    """Return the number of processes whose profiles are in the folder of a launch."""
    return sum(sum(1 for _ in _lengths(path)) for path in _with_ending(folder, PACKED))


def remove_leftovers() -> tuple[Path, ...]:
    """Remove node-local folders of this user whose guards have ended; return those that were removed."""
    prefix = f"{PREFIX}{os.geteuid()}-"
    found = []
    for root in _roots(None):
        with contextlib.suppress(OSError):
            found += [path for path in sorted(root.iterdir()) if path.name.startswith(prefix) and _removed(path)]
    return tuple(found)


def _options(line: Sequence[str]) -> tuple[int, int]:
    """Return where octant-bind and the end of its options are in a command line."""
    begin = list(line).index(str(build.find("bind")))
    return begin, list(line).index("--", begin)


def _roots(environment: Mapping[str, str] | None) -> list[Path]:
    variables = {**os.environ, **(environment or {})}
    named = (variables.get(LOCAL), "/dev/shm", variables.get("TMPDIR"), tempfile.gettempdir(), "/tmp")  # noqa: S108
    return [Path(path) for path in dict.fromkeys(filter(None, named)) if path.startswith("/")]


def _with_ending(folder: Path, ending: str) -> list[Path]:
    try:
        return sorted(path for path in folder.iterdir() if path.name.endswith(ending))
    except OSError:
        return []


def _one_line(text: str) -> str:
    return "".join(sign if sign.isprintable() else "?" for sign in " ".join(text.split()))


def _lengths(path: Path) -> Iterator[int]:
    """Yield the length of each packed profile of a file, up to the first one that is damaged."""
    try:
        with path.open("rb") as file:
            while len(head := file.read(_HEAD.size)) == _HEAD.size:
                magic, length = _HEAD.unpack(head)
                if magic != _MAGIC or length < _HEAD.size:
                    return
                yield length
                file.seek(length - _HEAD.size, os.SEEK_CUR)
    except OSError:
        return


def _removed(folder: Path) -> bool:
    """Remove a node-local folder, unless it is another user's or a guard uses it."""
    flags = os.O_NOFOLLOW | os.O_CLOEXEC
    with contextlib.ExitStack() as stack:
        try:
            opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | flags)
            stack.callback(os.close, opened)
            if os.fstat(opened).st_uid != os.geteuid():
                return False
            lock = os.open(LOCK, os.O_RDWR | os.O_CREAT | flags, 0o600, dir_fd=opened)
            stack.callback(os.close, lock)
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        os.unlink(LOCK, dir_fd=opened)  # a guard that waits for the lock then sees that the folder is being removed
        shutil.rmtree(folder, ignore_errors=True)
    return not folder.exists()
