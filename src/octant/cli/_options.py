"""Options that several commands take."""

from __future__ import annotations

import functools
import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from octant.cli._help import FILES

if TYPE_CHECKING:
    from collections.abc import Callable

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


def options_under(heading: str) -> Callable[..., Any]:
    """What declares an option that help lists under this heading, as `typer.Option` does."""
    return functools.partial(typer.Option, rich_help_panel=heading)


files_option, measured_option, starting_option = map(options_under, (FILES, MEASURED, STARTING))
StoreOption = Annotated[
    Path | None, typer.Option("--store", help="Folder of the store [default: OCTANT_STORE or ./octant-store].")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
PageOption = Annotated[Path | None, typer.Option("-o", "--output", "--html", help="Write the page to this HTML file.")]
SvgOption = Annotated[
    Path | None,
    files_option(
        "--svg", metavar="FOLDER", help="Write each picture as SVG into this folder, for two columns and for one."
    ),
]
ShowOutputOption = Annotated[
    bool, typer.Option("--show-output", help="Show what a program prints while it runs; it is stored as well.")
]
NotesOption = Annotated[bool, typer.Option("--notes", help="Print the caveats that are only notes too.")]
TimeoutOption = Annotated[
    float | None,
    starting_option(min=0.1, max=1e7, callback=finite, help="Seconds after which a launch is ended as hung."),
]
AllowOption = Annotated[
    list[str] | None,
    starting_option(
        "--allow", help="A host, file or program that the stored run names and that may be used (repeatable)."
    ),
]
AllowProgramOption = Annotated[
    list[str] | None,
    starting_option(
        "--allow", metavar="PROGRAM", help="A program that the file names and that may be started (repeatable)."
    ),
]
LauncherOption = Annotated[
    str, starting_option(help="direct, mpiexec, srun, flux [default: the one available]; see --script.")
]
MpiOption = Annotated[
    list[str] | None,
    measured_option(metavar="NAME=VALUE", help="Setting of the MPI library (repeatable): eager-limit=64KiB."),
]
RepeatsOption = Annotated[
    int | None,
    measured_option(
        min=1, max=10_000, help="Launches; each is a sample [default: 6; 3 for a knob with more than 4 values]."
    ),
]
RanksOnCoresOption = Annotated[
    int | None, measured_option("-n", "--ranks", min=1, max=MOST_RANKS, help="MPI ranks [default: one per core].")
]
HostsOption = Annotated[str, starting_option(help="Hosts reached by ssh: a,b or @FILE with one per line.")]
LinkOption = Annotated[
    str,
    starting_option(help="Emulate hosts on this machine, joined by a link: 100Mbit/s or 100Mbit/s,delay=1ms,hosts=2."),
]
RanksOption = Annotated[int | None, measured_option(min=1, max=MOST_RANKS, help="MPI ranks.")]
OnlySafeOption = Annotated[
    bool, measured_option("--only-safe", help="Leave out what the MPI library in use is known to do wrong.")
]
PlaceOption = Annotated[
    str, starting_option(help="Ranks x threads of a node and where they go: 2x4,unit=core,order=scatter,memory=local.")
]
