"""Options that several commands take."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated

import typer

from octant.cli._help import FILES, OUTPUT

MEASURED, STARTING = "What is measured", "How it is started"
"""Headings of options."""

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
LauncherOption = Annotated[
    str,
    typer.Option(
        help="direct, mpiexec, srun, flux [default: the one available]; see --script.", rich_help_panel=STARTING
    ),
]
MpiOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=VALUE",
        help="Setting of the MPI library (repeatable): eager-limit=64KiB.",
        rich_help_panel=MEASURED,
    ),
]
RepeatsOption = Annotated[
    int | None,
    typer.Option(
        min=1,
        max=10_000,
        help="Launches; each is a sample [default: 6; 3 for a knob with more than 4 values].",
        rich_help_panel=MEASURED,
    ),
]
RanksOnCoresOption = Annotated[
    int | None,
    typer.Option(
        "-n", "--ranks", min=1, max=MOST_RANKS, help="MPI ranks [default: one per core].", rich_help_panel=MEASURED
    ),
]
HostsOption = Annotated[
    str, typer.Option(help="Hosts reached by ssh: a,b or @FILE with one per line.", rich_help_panel=STARTING)
]
LinkOption = Annotated[
    str,
    typer.Option(
        help="Emulate hosts on this machine, joined by a link: 100Mbit/s or 100Mbit/s,delay=1ms,hosts=2.",
        rich_help_panel=STARTING,
    ),
]
RanksOption = Annotated[int | None, typer.Option(min=1, max=MOST_RANKS, help="MPI ranks.", rich_help_panel=MEASURED)]
OnlySafeOption = Annotated[
    bool,
    typer.Option(
        "--only-safe", help="Leave out what the MPI library in use is known to do wrong.", rich_help_panel=MEASURED
    ),
]
PlaceOption = Annotated[
    str,
    typer.Option(
        help="Ranks x threads of a node and where they go: 2x4,unit=core,order=scatter,memory=local.",
        rich_help_panel=STARTING,
    ),
]
