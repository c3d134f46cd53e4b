"""Options that several commands take."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated

import typer

LARGEST_SEED = 2**32 - 1
MOST_RANKS = 1_000_000
MOST_NODES = 2**20
"""Of a network."""


def finite(value: float | None) -> float | None:
    """The value of an option: `nan` lies in every range of click, on which older versions of typer rest.

    Raises:
        typer.BadParameter: it is no number.
    """
    if value is not None and math.isnan(value):
        raise typer.BadParameter("nan is no number")
    return value


StoreOption = Annotated[
    Path | None, typer.Option("--store", help="Folder of the store [default: OCTANT_STORE or ./octant-store].")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
NotesOption = Annotated[bool, typer.Option("--notes", help="Print the doubts that are only notes too.")]
TimeoutOption = Annotated[
    float | None,
    typer.Option(min=0.1, max=1e7, callback=finite, help="Seconds after which a launch is ended as hung."),
]
AllowOption = Annotated[
    list[str] | None,
    typer.Option("--allow", help="A host or file that the stored run names and that may be used (repeatable)."),
]
