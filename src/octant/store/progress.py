"""`records.jsonl.progress`: how far a long repetition is, as its kernel says while it runs."""

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
    except (OSError, msgspec.DecodeError):
        return None
    return progress if progress.launch == launch else None
