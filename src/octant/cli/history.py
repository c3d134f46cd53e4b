"""`octant history`: a figure over the runs of a machine, what changed, and whether there is a step."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import typer

from octant.cli._help import SEE
from octant.cli._options import AllowOption, JsonOption, PageOption, StoreOption, TimeoutOption, options_under
from octant.failure import Exit, Refusal

if TYPE_CHECKING:
    from octant.analysis.history import FigureHistory, SeriesOfPoints
    from octant.store import Store, StoredRun

rows_option, confirm_option = map(options_under, ("Rows", "Confirmation"))

WordsArgument = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[FIGURE] [KNOB=VALUE]...",
        help="Name of a workload, request, tile or metric, and values of knobs [default: list all figures].",
    ),
]
MachineOption = Annotated[
    str, rows_option("--machine", metavar="NAME", help="Machine whose runs are used [default: this machine].")
]
SinceOption = Annotated[str, rows_option("--since", metavar="DATE", help="Show runs since this date, e.g. 2026-11-01.")]
LastOption = Annotated[
    int | None, rows_option("--last", min=1, max=100_000, help="Show only this number of runs, the newest.")
]
ConfirmOption = Annotated[
    bool, confirm_option("--confirm", help="Measure new launches, store them as a run, and repeat the verdict.")
]


def register(app: typer.Typer) -> None:
    """Add the command of this file."""
    app.command("history", rich_help_panel=SEE)(history)


def history(
    words: WordsArgument = None,
    machine: MachineOption = "",
    since: SinceOption = "",
    last: LastOption = None,
    confirm: ConfirmOption = False,
    allow: AllowOption = None,
    timeout: TimeoutOption = None,
    output: PageOption = None,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Show a figure over the runs of a machine, and report steps.

    What changed between two runs is printed with the later one.

    --since and --last select the rows that are shown; the verdict always uses all runs.
    """
    from octant.report.history import page, text
    from octant.store import open_store

    where, begin = open_store(store), _date_of(since)
    runs = _runs_of(where, machine)
    name = next(reversed(runs.values())).machine.name
    series = _series(runs)
    if not words:
        if confirm or output is not None:
            option = "--confirm" if confirm else "--output"
            raise Refusal(f"cannot use {option} (no figure is named); name a figure", Exit.WRONG_WORD)
        print(text.list_json(series, name)) if json else text.show_list(series, name)
        return
    found = _history(words, series, runs)
    if confirm:
        run = _measure_again(where, found, allow or [], timeout)
        runs = {**runs, run.id: run}
        found = _history(words, _series(runs), runs)
    shown = [n for n, row in enumerate(found.rows) if begin is None or row.begun >= begin][-(last or 0) :]
    if json:
        print(text.as_json(found, shown, name))
    else:
        text.show(found, shown, name)
    if output is not None:
        typer.echo(page.write(found, name, output), err=json)


def _date_of(text: str) -> datetime | None:
    """Return the local time of `--since`; `None` without a date.

    Raises:
        Refusal: the text is no date.
    """
    if not text:
        return None
    try:
        return datetime.fromisoformat(text).astimezone()
    except (ValueError, OverflowError) as error:
        raise Refusal(f"cannot read --since {text!r} (not a date); try --since 2026-11-01", Exit.WRONG_WORD) from error


def _runs_of(where: Store, name: str) -> dict[str, StoredRun]:
    """Return the measured runs of a machine, oldest first; runs of other processors are never among them.

    Args:
        name: of the machine; "": this one.

    Raises:
        Refusal: no run of this machine.
    """
    from octant.cli._stored import report_damage, warn
    from octant.machine import codec
    from octant.machine.discover import discover
    from octant.units import counted

    listed = [row for row in where.list_runs() if not row.refused and not row.who.startswith("import ")]
    if name:
        found = [row for row in listed if row.machine == name]
        print_of = found[-1].fingerprint if found else ""
        if others := sum(row.fingerprint != print_of for row in found):
            warn(f"{counted(others, 'run')} of {name} with other hardware (processor, memory) not included")
    else:
        print_of = codec.fingerprint(discover())
    ids = [row.id for row in listed if row.fingerprint == print_of]
    if not ids:
        names = ", ".join(f"--machine {one}" for one in dict.fromkeys(row.machine for row in listed))
        why = f"no run of {f'the machine {name}' if name else 'this machine'} in {where.root}"
        hint = f"try {names}" if names else "measure first, e.g. with octant evaluate"
        raise Refusal(f"cannot show a history ({why}); {hint}", Exit.WRONG_WORD if name else Exit.CANNOT_RUN)
    runs = {one: where.read(one) for one in ids}
    for run in runs.values():
        report_damage(run.id, run.unread)
    return runs


def _series(runs: dict[str, StoredRun]) -> list[SeriesOfPoints]:
    from octant.analysis.history import collect_series
    from octant.build.describe import default_knobs

    return collect_series(runs.values(), default_knobs)


def _history(words: list[str], series: list[SeriesOfPoints], runs: dict[str, StoredRun]) -> FigureHistory:
    from octant.analysis.history import read_history, words_of
    from octant.analysis.history_names import select

    one, metric = select(words, series)
    return read_history(one, runs, words_of(one, series, metric), metric)


def _measure_again(where: Store, found: FigureHistory, allowed: list[str], timeout: float | None) -> StoredRun:
    """Measure fresh launches of the newest run's request, and return their run.

    Raises:
        Refusal: the conditions differ from those of the newest run, or its session has not ended.
        typer.Exit: it was stopped.
    """
    from octant.analysis.evidence import APART
    from octant.cli._measure import create
    from octant.cli._stored import measure
    from octant.machine.discover import discover
    from octant.runs.interleaved import find_obstacle
    from octant.stats.steps import FRESH_LAUNCHES

    row, here = found.rows[-1], discover()
    run, point = row.run, row.figure.point
    request = run.request_of(point.launch)
    if request is None:
        raise Refusal(f"cannot measure {found.name} again ({run.id} does not contain its request); measure a new run")
    if request.subject.command:
        from octant.runs.programs.command_text import run_line

        why = "commands of a store are never started"
        raise Refusal(f"cannot measure this program again ({why}); try {run_line(request)}", Exit.NOT_SUPPORTED)
    again = replace(
        request, knobs={name: point.knobs.get(name, value) for name, value in request.knobs.items()},
        repeats=FRESH_LAUNCHES,
    )  # fmt: skip
    if why := find_obstacle(run, [again], here, allowed):
        raise Refusal(f"cannot measure {found.name} again ({run.id}: {why}); measure a new run with the same command")
    end = (found.sessions or found.rows)[-1].begun + APART
    if datetime.now().astimezone() < end:
        why = "the newest run is less than an hour old, and launches of one hour share their conditions"
        raise Refusal(f"cannot confirm yet ({why}); try again at {end:%H:%M}", Exit.NOT_DECIDED)
    title = f"history of {found.name}"
    return measure(where, create(where, title, here, [again], "history", settings=run.settings), timeout)
