"""`records.jsonl.progress`: progress of a long repetition, reported by its kernel."""

import contextlib
import os
import re
import stat
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from octant.failure import Refusal
from octant.launch.copies import remove_tree
from octant.untrusted import read_text

MAX_BYTES = 4096
_ELSEWHERE = re.compile(r"octant-[0-9a-f]{16}")
"""Unique names, which contain process and time."""


class Reached(Struct):
    """Of a launch: the share that is done, and the phase it is in."""

    launch: str
    share: Annotated[float, Meta(ge=0, le=1)]
    phase: str = ""


_PROGRESS = msgspec.json.Decoder(Reached)


def path_of(records: Path) -> Path:
    """Where kernels write it."""
    return records.with_name(f"{records.name}.progress")


def progress_of(records: Path, launch: str) -> Reached | None:
    """Return the progress of the launch with this key; `None` if its kernel reports none."""
    try:
        with path_of(records).open("rb") as file:
            progress = _PROGRESS.decode(file.read(MAX_BYTES))
    except (OSError, msgspec.DecodeError, RecursionError):
        return None
    return progress if progress.launch == launch else None


def remove_leftovers(records: Path) -> None:
    """Remove what a killed launch left with its records: progress, reports of octant-link, octant-bind
    and guards, folders for files and copies.

    Markers name files that a kernel had elsewhere. Only files of this user in folders of this user are removed.
    """
    for path in records.parent.glob(f"{records.name}.*"):
        if path.is_symlink() or path.name.endswith((".progress", ".progress.new", ".link", ".refusal", ".guard")):
            path.unlink(missing_ok=True)
        elif path.name.startswith(f"{records.name}.scratch-"):
            _remove_elsewhere(path)
            remove_tree(path)


def _remove_elsewhere(scratch: Path) -> None:
    """Remove files of a kernel in a folder of the user's choice: those with the name that a marker contains.

    The marker may come from a run of another user, and name any folder.
    """
    for marker in scratch.glob("elsewhere-*"):
        name = marker.name.removeprefix("elsewhere-")
        with contextlib.suppress(OSError, ValueError, Refusal):
            text = read_text(marker, "marker of a kernel's file", 4096) if _is_our_file(marker) else ""
            folder = Path(text.rstrip("\n"))
            for path in folder.iterdir() if _ELSEWHERE.fullmatch(name) and folder.is_absolute() else ():
                if name in path.name and _is_our_file(path):
                    path.unlink()


def _is_our_file(path: Path) -> bool:
    """Whether it is a plain file, and no link, that we own."""
    status = path.lstat()
    return stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid()
