"""`octant mpi`: patterns of the MPI benchmarks under the names of IMB and OSU, with their tables."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from octant.cli._help import MEASURE
from octant.cli._options import (
    MEASURED,
    HostsOption,
    JsonOption,
    LauncherOption,
    LinkOption,
    MpiOption,
    OnlySafeOption,
    RanksOnCoresOption,
    RepeatsOption,
    StoreOption,
    TimeoutOption,
)
from octant.failure import Exit, Refusal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from octant.benchmarks.messages.tables import Style
    from octant.store import Store, StoredRun

SizesOption = Annotated[
    str, typer.Option(help="Message lengths: 8,64KiB, or 0:4MiB by powers of two.", rich_help_panel=MEASURED)
]
StyleOption = Annotated[
    Literal["imb", "osu", "octant"], typer.Option("--as", help="Whose table: imb, osu or octant (medians).")
]


def register(app: typer.Typer) -> None:
    """Adds the command of this file."""
    app.command("mpi", rich_help_panel=MEASURE)(mpi)


def mpi(
    patterns: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[PATTERN|KNOB=VALUE]...", help="PingPong, Allreduce, osu_latency, …; none: the usual ones."
        ),
    ] = None,
    ranks: RanksOnCoresOption = None,
    sizes: SizesOption = "",
    multi: Annotated[
        bool,
        typer.Option("--multi", help="All ranks at once, in groups of each process count.", rich_help_panel=MEASURED),
    ] = False,
    repeats: RepeatsOption = None,
    launcher: LauncherOption = "",
    hosts: HostsOption = "",
    link: LinkOption = "",
    mpi: MpiOption = None,
    only_safe: OnlySafeOption = False,
    style: StyleOption = "imb",
    show: Annotated[str, typer.Option("--run", help="Print the tables of this stored run instead.")] = "",
    listed: Annotated[bool, typer.Option("--list", help="List the patterns and their names instead.")] = False,
    faults: Annotated[bool, typer.Option("--faults", help="List known faults of MPI libraries instead.")] = False,
    store: StoreOption = None,
    timeout: TimeoutOption = None,
    json: JsonOption = False,
) -> None:
    """Measure patterns of the MPI benchmarks, and print their tables as IMB or OSU do."""
    from octant.benchmarks.messages import lists as mpi_lists
    from octant.benchmarks.messages.requests import left_out
    from octant.cli._measure import finish
    from octant.cli._stored import find_run

    asked = Asked(tuple(patterns or ()), ranks, sizes, multi, repeats, launcher, hosts, link, tuple(mpi or ()))
    also = [*asked.options, *["--only-safe"] * only_safe, *["--timeout"] * (timeout is not None)]
    chosen = {"--list": listed, "--faults": faults, "--run": bool(show)}
    if instead := [name for name, given in chosen.items() if given]:
        _check_alone(instead, [*instead[1:], *(asked.words if not show or listed or faults else asked.knobs), *also])
    if listed or faults:
        print(mpi_lists.patterns_text(json) if listed else mpi_lists.faults_text(json))
        return
    if show:
        run = find_run(store, show)
        _show(run, style, json, asked.names)
        return
    run, to = _created(asked, only_safe, store)
    further = left_out(asked.names, sizes, asked.knobs)
    try:
        finish(to, run, timeout, lambda done: _show(done, style, json, further=further))
    except typer.Exit as ended:
        if ended.exit_code == Exit.INTERRUPTED:
            typer.echo(f"Tables of what was kept: octant mpi --run {run.id}", err=True)
        raise


@dataclass(frozen=True)
class Asked:
    """What the user asked, in their words."""

    words: tuple[str, ...]  # names of patterns, and knobs
    ranks: int | None
    sizes: str
    multi: bool
    repeats: int | None
    launcher: str
    hosts: str
    link: str
    mpi: tuple[str, ...]

    @property
    def names(self) -> list[str]:
        """Of patterns."""
        return [word for word in self.words if "=" not in word]

    @property
    def knobs(self) -> list[str]:
        """As words `knob=value`."""
        return [word for word in self.words if "=" in word]

    @property
    def options(self) -> dict[str, str]:
        """Those that were given, each with its value in words."""
        values = {"--ranks": self.ranks, "--sizes": self.sizes, "--launcher": self.launcher, "--hosts": self.hosts}
        values |= {"--link": self.link, "--multi": self.multi, "--repeats": self.repeats, "--mpi": " ".join(self.mpi)}
        return {name: str(value) for name, value in values.items() if value}

    @property
    def title(self) -> str:
        """The command that asks the same."""
        valued = {name: self.options[name] for name in self.options if name not in ("--multi", "--repeats", "--mpi")}
        words = [f"{name} {value}" for name, value in valued.items()] + ["--multi"] * self.multi
        return " ".join(["mpi", *self.words, *words, *(f"--mpi {word}" for word in self.mpi)])


def _check_alone(instead: Sequence[str], beside: Sequence[str]) -> None:
    """Refuses what has no meaning beside an option that prints something instead of measuring."""
    if beside:
        why = f"{instead[0]} measures nothing"
        raise Refusal(f"cannot use {beside[0]} beside {instead[0]} ({why}); try it alone", Exit.WRONG_WORD)


def _created(asked: Asked, only_safe: bool, store: Path | None) -> tuple[StoredRun, Store]:
    """A new run with an ask for each pattern; whatever cannot be is refused before."""
    from octant.benchmarks.messages import requests as mpi_patterns
    from octant.cli._measure import create, prove, safe, settings_of
    from octant.launch.link import read_link
    from octant.machine.discover import discover
    from octant.machine.facts import usable_cores
    from octant.runs import requests
    from octant.runs.plan import check_startable
    from octant.store import open_store

    machine, settings = discover(), settings_of(asked.mpi)
    requests.check_options(asked.ranks, "", asked.repeats)
    where = requests.Where("", asked.launcher, asked.hosts, asked.link)
    count = asked.ranks or (read_link(asked.link).hosts if asked.link else len(usable_cores(machine)))
    asks = mpi_patterns.asks(
        asked.names, count, asked.sizes, asked.multi, asked.repeats, asked.knobs, where, settings.variables
    )
    for ask in asks:
        check_startable(ask, machine)
    kept = safe(asks) if only_safe else asks
    to = open_store(store)
    return create(to, asked.title, machine, kept, "run", prove(settings, asks[0], to)), to


def _show(run: StoredRun, style: Style, json: bool, names: Sequence[str] = (), further: Sequence[str] = ()) -> None:
    from octant.analysis.summary import summarise
    from octant.benchmarks.messages import tables as mpi_tables
    from octant.cli._progress import status_line
    from octant.report.run.first_screen import absent_workloads
    from octant.workloads import workloads

    with status_line() as tick:
        tick("working out the figures")
        summary = summarise(run, mpi_tables.with_times(workloads()), all_metrics=True)
    if (run.points or run.imported) and not mpi_tables.tables(summary):
        why = f"it is imported: {run.title}" if run.imported else f"it is `{run.title}`"
        raise Refusal(
            f"cannot print tables of {run.id} ({why}, and has no pattern of octant mpi); try octant report {run.id}",
            Exit.WRONG_WORD,
        )
    for text in absent_workloads(summary):
        typer.echo(f"octant: {text}", err=True)
    print(mpi_tables.as_json(summary, names) if json else mpi_tables.text(summary, style, names, further))
