"""`octant run`, `octant evaluate`, `octant resume`, `octant runs`: measure and list runs."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from octant.cli import _complete
from octant.cli._help import MEASURE
from octant.cli._measure import create, finish
from octant.cli._options import (
    AllowOption,
    AllowProgramOption,
    AllSamplesOption,
    HostsOption,
    JsonOption,
    LauncherOption,
    LinkOption,
    MpiOption,
    NotesOption,
    OnlySafeOption,
    PlaceOption,
    RanksOption,
    RepeatsOption,
    ShowOutputOption,
    StoreOption,
    TimeoutOption,
    measured_option,
    options_under,
)
from octant.cli._program import ProgramCommand, ProgramWords, takes_program
from octant.cli._run import shown
from octant.failure import Exit, Refusal

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from octant.machine import Machine
    from octant.request import Request
    from octant.store import StoredRun

job_option = options_under("Batch job (with --launcher sbatch, pbs, lsf or flux)")

REPORT_S, POINT_REPORT_S = 1.0, 0.0085
"""CPU seconds of figures and report: constant part, and per point."""

ModeOption = Annotated[
    str,
    measured_option(
        help="Mode: one (one rank), star (independent ranks on all cores), threads (one rank with threads on all "
        "cores), or all (communicating ranks)."
    ),
]
WorkloadArgument = Annotated[
    str,
    typer.Argument(help="Name of a workload (see `octant workloads`).", autocompletion=_complete.workloads),
]
KnobsArgument = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[KNOB=VALUE]...",
        help="Knobs of the workload; lists are allowed: bytes=1MiB,64MiB. Sizes by memory level: bytes=L2/2,2*L3.",
    ),
]
ScriptOption = Annotated[Path | None, job_option(help="Write the job script to this file.")]
SubmitOption = Annotated[bool, job_option("--submit", help="Submit the job script.")]
MinutesOption = Annotated[int, job_option(min=1, max=525_600, help="Time limit of the job, in minutes.")]
DirectiveOption = Annotated[
    list[str] | None, job_option(help="Directive of the batch system for the job script (repeatable).")
]
OnModelOption = Annotated[
    str,
    measured_option("--on-model", help="Simulate the workload with SimGrid on this network (see `octant model list`)."),
]

NoLimitOption = Annotated[
    bool,
    measured_option(
        "--no-limit",
        help="Do not show the share of a limit that this run does not measure by itself. By default the limit is that "
        "of a comparable run of the last 24 hours, or it is measured with the run in a few seconds.",
    ),
]


def register(app: typer.Typer) -> None:
    """Add the commands of this file."""
    for command in (evaluate, run, resume, runs):
        kind = ProgramCommand if command in (run, resume) else None
        app.command(command.__name__, cls=kind, rich_help_panel=MEASURE)(command)


@takes_program
def run(
    program: ProgramWords,
    workload: WorkloadArgument = "",
    knobs: KnobsArgument = None,
    ranks: RanksOption = None,
    mode: ModeOption = "",
    repeats: RepeatsOption = None,
    place: PlaceOption = "",
    launcher: LauncherOption = "",
    hosts: HostsOption = "",
    link: LinkOption = "",
    mpi: MpiOption = None,
    script: ScriptOption = None,
    submit: SubmitOption = False,
    minutes: MinutesOption = 30,
    directive: DirectiveOption = None,
    on_model: OnModelOption = "",
    notes: NotesOption = False,
    store: StoreOption = None,
    timeout: TimeoutOption = None,
    only_safe: OnlySafeOption = False,
    no_limit: NoLimitOption = False,
    show_output: ShowOutputOption = False,
    json: JsonOption = False,
) -> None:
    """Measure one workload, or your own program.

    To measure a program: octant run [KNOB=VALUE]... -- COMMAND
    """
    from octant.cli._run import RunOptions, run_program, run_workload
    from octant.runs.command_line import LaunchTarget

    words = tuple(knobs or ())
    options = RunOptions(
        words, ranks, mode, repeats, LaunchTarget(place, launcher, hosts, link), tuple(mpi or ()), script, submit,
        minutes,
        tuple(directive or ()), on_model, notes, store, timeout, only_safe, json, show_output,
        not no_limit,
    )  # fmt: skip
    if program.command is not None:
        run_program(program, replace(options, knobs=(*([workload] if workload else []), *words)))
        return
    if not workload:
        why = "neither a workload nor a program is named"
        raise Refusal(f"cannot measure ({why}); try octant run stream, or octant run -- ./app", Exit.WRONG_WORD)
    program.refuse_alone("octant run", show_output)
    run_workload(workload, options)


def _fitting(requests: tuple[Request, ...], machine: Machine) -> tuple[Request, ...]:
    """Return the requests of which a configuration fits into memory; print the reason for each other one."""
    from octant.runs.cell_costs import explain_no_fit

    reasons = [explain_no_fit(request, machine) for request in requests]
    for request, why in zip(requests, reasons, strict=True):
        if why:
            typer.echo(f"octant: {request.show.title} is skipped: {why}", err=True)
    return tuple(request for request, why in zip(requests, reasons, strict=True) if not why)


def _refuse_missing(requests: tuple[Request, ...], only: Sequence[str], suite: str) -> None:
    """Refuse a suite without requests, or without requests of a workload of `--only`.

    Raises:
        Refusal: one of them applies.
    """
    if missing := [one for one in only if one not in {request.subject.workload for request in requests}]:
        why = f"the suite {suite} has no request for it on this machine"
        raise Refusal(f"cannot evaluate {missing[0]} ({why}); try octant run {missing[0]}", Exit.WRONG_WORD)
    if not requests:
        why = f"no workload of the suite {suite} is available in this installation and on this machine"
        raise Refusal(f"cannot evaluate ({why}); try octant workloads", Exit.NOT_SUPPORTED)


def evaluate(
    quick: Annotated[
        bool,
        typer.Option("--quick/--full", help="Run the quick suite (two minutes) or the full suite (about an hour)."),
    ] = True,
    suite: Annotated[str, typer.Option(help="Run this suite instead: a name of --list, or a file.")] = "",
    listed: Annotated[bool, typer.Option("--list", help="List the suites of Octant and exit.")] = False,
    only: Annotated[
        list[str] | None,
        typer.Option(help="Measure only this workload of the suite (repeatable).", autocompletion=_complete.workloads),
    ] = None,
    allow: AllowProgramOption = None,
    notes: NotesOption = False,
    store: StoreOption = None,
    timeout: TimeoutOption = None,
    json: JsonOption = False,
    all_samples: AllSamplesOption = False,
) -> None:
    """Measure this machine and compare it with its hardware limits.

    The results are printed and written to an HTML report.
    """
    from octant import suites
    from octant.cli._stored import warn
    from octant.machine.discover import discover
    from octant.runs import command_line
    from octant.runs.durations import load_durations
    from octant.runs.knobs import check_requests
    from octant.runs.programs.permissions import check_allowed
    from octant.store import open_store

    if listed:
        from octant.report.tables import listing as writer

        print(writer.suites_json() if json else writer.suites_text())
        return
    machine, to = discover(), open_store(store)
    name = suite or ("quick" if quick else "full")
    kept = [command_line.find_workload(one).name for one in only or []]
    chosen = suites.load(name)
    for why in suites.absent(chosen, name).values():
        typer.echo(f"octant: {why}; its requests in the suite {name} are skipped", err=True)
    requests = suites.requests(chosen, machine, kept, name, allow or (), warn)
    check_allowed(requests, allow or (), name, f"octant evaluate --suite {shlex.quote(name)}")
    requests = _fitting(requests, machine)
    _refuse_missing(requests, kept, name)
    check_requests(requests)
    words = [f"--suite {suite}" if suite else f"--{name}", *(f"--only {one}" for one in only or [])]
    title = " ".join(["evaluate", *words, *(f"--allow {shlex.quote(one)}" for one in allow or [])])
    screen = suites.first_screen(chosen, machine, only or ())
    run = create(to, title, machine, requests, "evaluate", screen=screen, benchmark="evaluate")
    finish(
        to,
        run,
        timeout,
        shown(json, notes, page=True, all_samples=all_samples),
        _report_s(run),
        load_durations(to, machine, run.id),
    )


def _report_s(run: StoredRun) -> float:
    """Estimate the seconds that figures and page take."""
    return REPORT_S + POINT_REPORT_S * sum(len(launch.cells()) for launch in run.launches)


@takes_program
def resume(
    program: ProgramWords,
    name: Annotated[str, typer.Argument(metavar="RUN", help="Run to resume: its id, last or previous.")] = "last",
    knobs: Annotated[
        list[str] | None,
        typer.Argument(metavar="[KNOB=VALUE]...", help="Knobs of the program, as in the original command."),
    ] = None,
    from_file: Annotated[
        str,
        typer.Option("--from", metavar="FILE", help="File of the study or suite, required if it contains programs."),
    ] = "",
    allow: AllowOption = None,
    notes: NotesOption = False,
    store: StoreOption = None,
    timeout: TimeoutOption = None,
    show_output: ShowOutputOption = False,
    json: JsonOption = False,
) -> None:
    """Resume a stopped run: measure the launches that are missing.

    To resume the run of a program, repeat its command line: octant resume RUN [KNOB=VALUE]... -- COMMAND. Octant
    compares it with the stored one and never starts a command of a store.
    """
    from octant.cli._pair import line_of
    from octant.cli._rounds import command
    from octant.cli._run import report_remarks
    from octant.cli._stored import find_run
    from octant.runs.knobs import check_requests
    from octant.runs.plan import check_stored
    from octant.runs.programs import resume_checks
    from octant.store import Store, open_store

    # `find_run` would choose an older run if the last one could not be read.
    run = open_store(store).find("last") if name == "last" else find_run(store, name)
    if run.imported:
        why = f"it was imported: {run.source}"
        raise Refusal(f"cannot resume {run.id} ({why}); import a longer output instead", Exit.WRONG_WORD)
    if run.pair:
        of_program = any(request.subject.command for request in run.requests)
        more = line_of(run) if of_program else command(run.pair, run.id, run.pair.rounds)
        raise Refusal(f"cannot resume {run.id} alone (its rounds alternate with {run.pair.partner}); try {more}")
    if from_file:
        resume_checks.check_repeated_file(run, _stated(run, from_file, allow or ()), from_file)
    elif program.command is None:
        resume_checks.check_no_program(run)
        program.refuse_alone(f"octant resume {run.id}", show_output)
        if knobs:
            why = "the knobs are stored with the run"
            raise Refusal(f"cannot set {knobs[0]} ({why}); try octant resume {run.id}", Exit.WRONG_WORD)
    else:
        resume_checks.check_repeated_command(run, program.command, knobs or (), program.options, allow or ())
    check_stored(run.launches, allow or (), is_repeated=bool(from_file) or program.command is not None)
    check_requests({launch.request.key: launch.request for launch in run.remaining()}.values())
    for request in run.requests if program.command else ():
        report_remarks(request)
    page = run.benchmark == "evaluate"
    show = _of_study(json) if run.study else shown(json, notes, page)
    show_s = _report_s(run) if page else 0.0
    finish(Store(run.folder.parent.parent), run, timeout, show, show_s, shows_output=show_output)


def _stated(run: StoredRun, name: str, allowed: Sequence[str]) -> Sequence[Request]:
    """Return the requests of the study or suite of a stored run, read from its file; all programs are allowed."""
    from octant import suites
    from octant.runs.programs.permissions import check_allowed
    from octant.study import outcome

    if run.study:
        return outcome.asks_again(run, name, allowed)
    requests = suites.requests(suites.load(name), run.machine, (), name, allowed)
    check_allowed(requests, allowed, name, f"octant resume {run.id} --from {shlex.quote(name)}")
    return requests


def _of_study(json: bool) -> Callable[[StoredRun], None]:
    """Return a callback that shows the verdicts of a study's run and writes its page."""
    from octant.cli._study import show_run
    from octant.study.outcome import outcome_of_run
    from octant.study.stored import study_run

    return lambda run: show_run(outcome_of_run(study_run(run)), json)


def runs(
    words: Annotated[
        list[str] | None, typer.Argument(metavar="[WORD]...", help="List the runs that contain all words.")
    ] = None,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """List the runs of the store.

    Each run is a directory in `runs` of the store. To delete a run, delete its directory.
    """
    from octant.cli._stored import report_damage
    from octant.report.tables import listing
    from octant.store import open_store

    rows = open_store(store).list_runs()
    shown = listing.select_runs([row for row in rows if not row.refused], words or ())
    print(listing.as_json(shown) if json else listing.as_text(rows, shown))
    for row in rows:
        report_damage(row.id, row.problems)
        if row.refused:
            typer.echo(f"octant: {row.refused}", err=True)
