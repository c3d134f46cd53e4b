"""Options that several commands take."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

StoreOption = Annotated[
    Path | None, typer.Option("--store", help="Folder of the store [default: OCTANT_STORE or ./octant-store].")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
NotesOption = Annotated[bool, typer.Option("--notes", help="Print the doubts that are only notes too.")]
TimeoutOption = Annotated[float | None, typer.Option(min=0.1, help="Seconds after which a launch is ended as hung.")]
