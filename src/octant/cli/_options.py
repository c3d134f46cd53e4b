"""Options that several commands share."""

from __future__ import annotations

import functools
import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from octant.cli._help import FILES

if TYPE_CHECKING:
    from collections.abc import Callable

MEASURED, STARTING = "Measurement", "Launch"
"""Headings of option groups."""

LARGEST_SEED = 2**32 - 1
MAX_RANKS = 1_000_000
MAX_NODES = 2**20
"""Largest number of nodes of a network."""


def finite(value: float | None) -> float | None:
    """Return the value of an option unless it is `nan`, which click accepts in every range.

    Raises:
        typer.BadParameter: the value is `nan`.
    """
    if value is not None and math.isnan(value):
        raise typer.BadParameter("nan is not a number")
    return value


def options_under(heading: str) -> Callable[..., Any]:
    """Return a replacement of `typer.Option` whose options appear under this heading of the help."""
    return functools.partial(typer.Option, rich_help_panel=heading)


files_option, measured_option, starting_option = map(options_under, (FILES, MEASURED, STARTING))
StoreOption = Annotated[
    Path | None, typer.Option("--store", help="Directory of the store [default: $OCTANT_STORE or ./octant-store].")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
PageOption = Annotated[Path | None, typer.Option("-o", "--output", "--html", help="Write an HTML page to this file.")]
SvgOption = Annotated[
    Path | None,
    files_option(
        "--svg", metavar="DIR", help="Write each chart as SVG to this directory, in one- and two-column width."
    ),
]
ShowOutputOption = Annotated[
    bool, typer.Option("--show-output", help="Show the output of the program while it runs (it is also stored).")
]
AllSamplesOption = Annotated[
    bool,
    files_option("--all-samples", help="Include all samples in the HTML file [default: a selection, about 0.1 MB]."),
]
NotesOption = Annotated[
    bool, typer.Option("--notes", help="Print all caveats of each figure, informational notes included.")
]
TimeoutOption = Annotated[
    float | None,
    starting_option(min=0.1, max=1e7, callback=finite, help="Timeout per launch, in seconds."),
]
AllowOption = Annotated[
    list[str] | None,
    starting_option("--allow", help="Allow a host, file or program that is named in the stored run (repeatable)."),
]
AllowProgramOption = Annotated[
    list[str] | None,
    starting_option(
        "--allow", metavar="PROGRAM", help="Allow a program that is named in the file to be started (repeatable)."
    ),
]
LauncherOption = Annotated[
    str, starting_option(help="Launcher: direct, mpiexec, srun or flux [default: the one available].")
]
MpiOption = Annotated[
    list[str] | None,
    measured_option(metavar="NAME=VALUE", help="Setting of the MPI library, e.g. eager-limit=64KiB (repeatable)."),
]
RepeatsOption = Annotated[
    int | None,
    measured_option(
        min=1,
        max=10_000,
        help="Number of launches per configuration [default: 6, or 3 if a knob has more than 4 values].",
    ),
]
RanksOnCoresOption = Annotated[
    int | None,
    measured_option("-n", "--ranks", min=1, max=MAX_RANKS, help="Number of MPI ranks [default: one per core]."),
]
HostsOption = Annotated[str, starting_option(help="Hosts to reach by ssh: a,b, or @FILE with one host per line.")]
LinkOption = Annotated[
    str,
    starting_option(help="Emulate hosts that are connected by a link, e.g. 100Mbit/s,delay=1ms,hosts=2."),
]
RanksOption = Annotated[int | None, measured_option(min=1, max=MAX_RANKS, help="Number of MPI ranks.")]
OnlySafeOption = Annotated[
    bool, measured_option("--only-safe", help="Skip tests that trigger known bugs of this MPI library.")
]
PlaceOption = Annotated[
    str,
    starting_option(
        help="Placement: RANKSxTHREADS per node and options, e.g. 2x4,unit=core,order=scatter,memory=local."
    ),
]
