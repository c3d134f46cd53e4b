"""`records.jsonl.progress`: how far a long repetition is, as its kernel says while it runs."""

import shutil
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

MOST_BYTES = 4096


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
    """How far the launch of that key is; `None` where its kernel does not say."""
    try:
        with path_of(records).open("rb") as file:
            progress = _PROGRESS.decode(file.read(MOST_BYTES))
    except (OSError, msgspec.DecodeError, RecursionError):
        return None
    return progress if progress.launch == launch else None


def remove_leftovers(records: Path) -> None:
    """Removes what a launch that was killed leaves beside its records: progress, a link's report, folders for files."""
    for path in records.parent.glob(f"{records.name}.*"):
        if path.is_symlink() or path.name.endswith((".progress", ".progress.new", ".link")):
            path.unlink(missing_ok=True)
        elif path.name.startswith(f"{records.name}.scratch-"):
            shutil.rmtree(path, ignore_errors=True)
