"""`octant profile`: record the MPI calls of a program, and show them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from octant.cli import _complete
from octant.cli._help import MEASURE
from octant.cli._options import (
    HostsOption,
    JsonOption,
    LauncherOption,
    MpiOption,
    PageOption,
    PlaceOption,
    RanksOption,
    StoreOption,
    TimeoutOption,
    options_under,
)
from octant.cli._program import ProgramGroup, ProgramWords, takes_program
from octant.failure import Exit, Refusal

if TYPE_CHECKING:
    from octant.program import ProfileMode

recorded_option = options_under("Recording")

RepeatsOption = Annotated[int, recorded_option(min=1, max=1000, help="Number of launches; times then get intervals.")]
CountsOption = Annotated[bool, recorded_option("--counts", help="Count the calls without timing them.")]
WaitsOption = Annotated[
    bool,
    recorded_option(
        "--waits", help="Measure the waiting in blocking collectives, by a barrier before each of them (more messages)."
    ),
]
NoSitesOption = Annotated[bool, recorded_option("--no-sites", help="Do not separate the calls by call site.")]
RegionOnlyOption = Annotated[
    bool,
    recorded_option(
        "--region-only",
        help="Record only between summary_start and summary_stop, or MPI_Pcontrol(1) and MPI_Pcontrol(0).",
    ),
]
CostOption = Annotated[
    bool,
    recorded_option("--cost", help="Measure the overhead of the recording, in paired rounds with and without it."),
]
RoundsOption = Annotated[
    int | None, recorded_option("--rounds", min=4, max=1000, help="Largest number of paired rounds of --cost.")
]
MpitraceOption = Annotated[
    Path | None,
    recorded_option(
        "--mpitrace",
        metavar="DIR",
        help="Also write mpi_profile.N files to this directory; SAVE_ALL_TASKS and SAVE_LIST select the ranks.",
    ),
]
RunArgument = Annotated[
    str,
    typer.Argument(metavar="RUN", help="Run: its id, its directory, last or previous.", autocompletion=_complete.runs),
]


def register(app: typer.Typer) -> None:
    """Add the commands of this file."""
    group = typer.Typer(help="Record the MPI calls of a program and show where its time goes.")
    group.callback(invoke_without_command=True)(takes_program(profile))
    group.command("report")(report)
    app.add_typer(group, name="profile", cls=ProgramGroup, rich_help_panel=MEASURE)


def profile(
    program: ProgramWords,
    repeats: RepeatsOption = 1,
    counts: CountsOption = False,
    waits: WaitsOption = False,
    no_sites: NoSitesOption = False,
    region_only: RegionOnlyOption = False,
    cost: CostOption = False,
    rounds: RoundsOption = None,
    mpitrace: MpitraceOption = None,
    ranks: RanksOption = None,
    place: PlaceOption = "",
    launcher: LauncherOption = "",
    hosts: HostsOption = "",
    mpi: MpiOption = None,
    output: PageOption = None,
    store: StoreOption = None,
    timeout: TimeoutOption = None,
) -> None:
    """Record the MPI calls of a program and show where its time goes.

    The program needs no change: octant profile -- mpiexec -n 8 ./app. It keeps its standard streams and its exit
    status; the table goes to standard error.
    """
    from octant.cli._profile import ProfileOptions, profile_program
    from octant.cli._profile_cost import measure_cost
    from octant.program import ProgramProfile
    from octant.runs.command_line import LaunchTarget

    if program.subcommand:
        program.refuse_with_subcommand("octant profile")
        return
    if program.command is None:
        why = "there is no command line after --"
        raise Refusal(f"cannot profile ({why}); try octant profile -- mpiexec -n 4 ./app", Exit.WRONG_WORD)
    recorded = ProgramProfile(_mode(counts, waits, region_only), not no_sites)
    options = ProfileOptions(
        recorded,
        repeats,
        ranks,
        LaunchTarget(place, launcher, hosts),
        tuple(mpi or ()),
        store,
        timeout,
        output,
        mpitrace,
    )
    if rounds and not cost:
        raise Refusal("cannot use --rounds without --cost; add --cost, or use --repeats", Exit.WRONG_WORD)
    if cost:
        measure_cost(program, options, rounds)
    else:
        profile_program(program, options)


def _mode(counts: bool, waits: bool, region_only: bool) -> ProfileMode:
    """Return what is recorded.

    Raises:
        Refusal: the options exclude each other.
    """
    if counts and region_only:
        why = "the program starts the recording of times"
        raise Refusal(f"cannot use --counts with --region-only ({why}); omit one of them", Exit.WRONG_WORD)
    if waits and (counts or region_only):
        other = "--counts" if counts else "--region-only"
        why = "waiting is measured by times of the whole program"
        raise Refusal(f"cannot use --waits with {other} ({why}); omit one of them", Exit.WRONG_WORD)
    return "waits" if waits else "counts" if counts else "off" if region_only else "full"


def report(
    name: RunArgument = "last",
    output: PageOption = None,
    mpitrace: MpitraceOption = None,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Show the profile of a run and write its HTML page.

    The last line of the output is the path of the page.
    """
    from octant.cli._profile import show_stored
    from octant.cli._stored import find_run

    show_stored(find_run(store, name), output, mpitrace, json)
