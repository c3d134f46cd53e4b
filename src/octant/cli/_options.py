"""Options that several commands take."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated

import typer

from octant.cli._help import FILES, OUTPUT

STARTING = "How it is started"
"""Heading of options."""

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
    Path | None,
    typer.Option(
        "--store", help="Folder of the store [default: OCTANT_STORE or ./octant-store].", rich_help_panel=OUTPUT
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.", rich_help_panel=OUTPUT)]
PageOption = Annotated[
    Path | None,
    typer.Option("-o", "--output", "--html", help="Write the page to this HTML file.", rich_help_panel=OUTPUT),
]
SvgOption = Annotated[
    Path | None,
    typer.Option(
        "--svg",
        metavar="FOLDER",
        help="Write each picture as SVG into this folder, for two columns and for one.",
        rich_help_panel=FILES,
    ),
]
NotesOption = Annotated[
    bool, typer.Option("--notes", help="Print the doubts that are only notes too.", rich_help_panel=OUTPUT)
]
TimeoutOption = Annotated[
    float | None,
    typer.Option(
        min=0.1,
        max=1e7,
        callback=finite,
        help="Seconds after which a launch is ended as hung.",
        rich_help_panel=STARTING,
    ),
]
AllowOption = Annotated[
    list[str] | None,
    typer.Option(
        "--allow",
        help="A host or file that the stored run names and that may be used (repeatable).",
        rich_help_panel=STARTING,
    ),
]
