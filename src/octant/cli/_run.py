"""`octant run`: measure a workload or a program, or write its batch job."""

from __future__ import annotations

import functools
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from octant.failure import Exit, Refusal

if TYPE_CHECKING:
    from collections.abc import Callable

    from octant.cli._program import ProgramWords
    from octant.launchers import Job
    from octant.machine import Machine
    from octant.request import Request
    from octant.runs.command_line import LaunchTarget
    from octant.store import StoredRun


@dataclass(frozen=True)
class RunOptions:
    """The options of `octant run` that workloads and programs share."""

    knobs: tuple[str, ...]  # of the form name=value
    ranks: int | None
    mode: str
    repeats: int | None
    where: LaunchTarget
    mpi: tuple[str, ...]
    script: Path | None
    submit: bool
    minutes: int
    directives: tuple[str, ...]
    on_model: str
    notes: bool
    store: Path | None
    timeout: float | None
    only_safe: bool
    json: bool
    show_output: bool = False
    limit: bool = True

    @property
    def is_job(self) -> bool:
        """Whether a job script is requested."""
        return self.script is not None or self.submit

    @property
    def started(self) -> dict[str, str]:
        """The options that determine how ranks are started, with their values."""
        where, ranks = self.where, str(self.ranks or "")
        asked = {"--mode": self.mode, "--ranks": ranks, "--place": where.place, "--launcher": where.launcher}
        return asked | {"--hosts": where.hosts, "--link": where.link}


def run_workload(workload: str, options: RunOptions) -> None:
    """Measure a workload, write its job, or simulate it on a network.

    Raises:
        Refusal: an argument is invalid, or not supported here.
        typer.Exit: a launch failed, was wrong, is not supported, or was stopped.
    """
    from octant.cli._limits import RunLimits, find_limits
    from octant.cli._measure import create, finish, prove, safe, settings_of
    from octant.runs import command_line
    from octant.runs.plan import check_startable
    from octant.store import open_store

    _refuse_program_without_dashes(workload, options)
    workload, words, note = command_line.expand_alias(workload, options.knobs)
    options = replace(options, knobs=words)
    if note:
        typer.echo(f"octant: {note}", err=True)
    if others := command_line.namesakes(workload):
        chosen = command_line.find_workload(workload).name
        text = f"octant: {workload} is ambiguous: {chosen} is measured, not {' or '.join(others)}"
        typer.echo(text, err=True)
    if options.on_model:
        _run_on_model(workload, options)
        return
    if options.is_job:
        _write_job(_workload_job(workload, options), options)
        return
    settings = settings_of(options.mpi)
    request, machine = command_line.request_workload(
        workload, options.knobs, options.ranks, options.mode, options.repeats, options.where, settings.variables
    )
    started = [f"{name} {value}" for name, value in options.started.items() if value]
    title = " ".join([workload, *options.knobs, *started, *(f"--mpi {word}" for word in options.mpi)])
    check_startable(request, machine)
    _warn_about_placement(options.where.place, machine)
    requests = safe([request]) if options.only_safe else [request]
    to = open_store(options.store)
    proven = prove(settings, request, to)
    limits = find_limits(to, requests, machine) if options.limit else RunLimits()
    run = create(to, title, machine, [*requests, *limits.requests], "run", proven, limits=limits.stored)
    finish(to, run, options.timeout, shown(options.json, options.notes, page=False))


def _warn_about_placement(place: str, machine: Machine) -> None:
    """Print the warnings about a requested placement, and the better request.

    An explicit order is a choice of domains, as for the latency within one; it gets no warnings about domains.
    """
    from octant.placement.advice import advise_on_request
    from octant.report.placement.text import advice_lines
    from octant.runs.command_line import resolve_placement

    if not place:
        return
    found = resolve_placement(place, machine)
    advice = advise_on_request(found.placement, found.request, machine.topology)
    chosen = ("idle-domains", "uneven") if found.request.order != "compact" or "order=" in place else ()
    if warnings := [one for one in advice.warnings if one.kind not in chosen]:
        for line in advice_lines(warnings, advice.better[0]):
            typer.echo(f"octant: {line}", err=True)


def run_program(program: ProgramWords, options: RunOptions) -> None:
    """Measure a program of the user, or write its job.

    Raises:
        Refusal: an argument is invalid, or not supported here.
        typer.Exit: a launch failed, was wrong, is not supported, or was stopped.
    """
    from octant.cli._measure import create, finish, settings_of
    from octant.mpi.inventory import linked
    from octant.runs.plan import check_startable
    from octant.runs.programs import file_checks, program_request
    from octant.store import Repeats, open_store

    command = program.command or ()
    _refuse_options_of_workloads(options)
    if options.is_job:
        _write_job(_program_job(program, options), options)
        return
    request, machine = program_request.request_program(
        command, options.knobs, options.ranks, options.repeats, options.where, options=program.options
    )
    if options.mpi:
        program_request.check_mpi(request, linked().library)
        request = replace(request, mpi=settings_of(options.mpi).variables)
    file_checks.check_files_exist(request)
    check_startable(request, machine)
    _warn_about_placement(options.where.place, machine)
    report_remarks(request)
    to = open_store(options.store)
    words = [word for name, value in options.started.items() if value for word in (name, value)]
    words += [word for setting in options.mpi for word in ("--mpi", setting)]
    title = program_request.title(command, options.knobs, [*words, *program.options.shown_words])
    run = create(to, title, machine, [request], "run")
    if options.repeats:  # else the first launch decides
        to.decide_repeats(run, Repeats(options.repeats))
        run = to.read(run.id)
    show = shown(options.json, options.notes, page=False)
    finish(to, run, options.timeout, show, shows_output=options.show_output)


def _refuse_program_without_dashes(word: str, options: RunOptions) -> None:
    """Refuse the name of a program where a workload is expected.

    Raises:
        Refusal: no workload has this name, but it is a program or the path of one.
    """
    import shutil

    from octant import launchers, workloads
    from octant.cli._hints import foreign_name_hint
    from octant.program import shell_text

    if workloads.called(word, workloads.workloads()):
        return
    alias = workloads.find_alias(word)
    if not alias and word not in launchers.command_names() and (hint := foreign_name_hint(word)):
        raise Refusal(f"cannot measure {word!r} (no such workload); {hint}", Exit.WRONG_WORD)
    if word.startswith((".", "/", "~")) or shutil.which(word):
        line = f"octant run -- {shell_text([word, *options.knobs])}"
        also = f"; to measure the workload of this name: octant run {alias}" if alias else ""
        why = f"cannot measure {word!r} (unknown workload)"
        raise Refusal(f"{why}. To measure a program: {line}{also}", Exit.WRONG_WORD)


def report_remarks(request: Request) -> None:
    """Print the remarks on a program on standard error before it starts."""
    from octant.runs.programs import program_request

    for text in program_request.remarks(request):
        typer.echo(f"octant: {text}", err=True)


def shown(json: bool, notes: bool, page: bool, all_samples: bool = False) -> Callable[[StoredRun], None]:
    """Return the function that prints a run."""
    return functools.partial(_show, json=json, notes=notes, page=page, all_samples=all_samples)


def _refuse_options_of_workloads(options: RunOptions) -> None:
    where = options.where
    refused = {
        "--mode": (options.mode, "modes exist only for workloads", "--ranks N"),
        "--on-model": (options.on_model, "the communication of a program is not declared", "octant model --help"),
        "--link": (where.link, "only workloads can run on emulated hosts", "--hosts a,b"),
        "--no-limit": (not options.limit, "programs have no limit", "the command without it"),
        "--only-safe": (options.only_safe, "it concerns only knobs of workloads", "the command without it"),
    }
    for name, (given, why, instead) in refused.items():
        if given:
            raise Refusal(f"cannot use {name} with a program ({why}); try {instead}", Exit.WRONG_WORD)


def _workload_job(workload: str, options: RunOptions) -> Job:
    from octant.runs import command_line

    mode, repeats, link = options.mode, options.repeats, options.where.link
    command_line.check_options(options.ranks, mode, repeats)
    further = [f"--mode={mode}"] if mode else []
    further += [f"--repeats={repeats}"] if repeats else []
    further += [] if options.limit else ["--no-limit"]
    further += [f"--mpi={word}" for word in options.mpi] + ([f"--link={link}"] if link else [])
    return command_line.job(
        workload, options.knobs, options.ranks, options.where.place, options.store, options.minutes,
        options.directives, further,
    )  # fmt: skip


def _program_job(program: ProgramWords, options: RunOptions) -> Job:
    from octant.runs import command_line
    from octant.runs.programs import program_request

    command_line.check_options(options.ranks, "", options.repeats)
    further = [f"--repeats={options.repeats}"] if options.repeats else []
    further += [f"--timeout={options.timeout:g}"] if options.timeout else []
    further += ["--show-output"] if options.show_output else []
    return program_request.job(
        program.command or (), options.knobs, options.ranks, program.options, options.where, options.store,
        options.minutes, options.directives, [*further, *(f"--mpi={word}" for word in options.mpi)],
    )  # fmt: skip


def _write_job(job: Job, options: RunOptions) -> None:
    import json as codec

    from octant.launch import submit as batch

    script, system = options.script or Path(f"{job.name}.sh"), options.where.launcher
    batch.write(system, job, script)
    answer = batch.submit(system, script) if options.submit else None
    if options.json:
        print(codec.dumps({"script": str(script), "submitted": answer}))
    else:
        print(f"{script}: {answer}" if options.submit else script)
    if not options.submit:
        typer.echo(f"octant: to submit the job: {batch.line(system, script)}", err=True)


def _run_on_model(workload: str, options: RunOptions) -> None:
    from octant.cli._progress import ended_like_ctrl_c, status_line
    from octant.network import load
    from octant.report.network import answers as report
    from octant.report.tables.layout import fill
    from octant.runs import command_line
    from octant.simulate import simulated_workload

    command_line.read_knobs(workload, options.knobs)
    with ended_like_ctrl_c(), status_line() as tick:
        network = load(options.on_model)
        found = simulated_workload.run(network, workload, options.knobs, options.ranks, options.timeout or 600.0, tick)
    print(report.as_json(found) if options.json else fill("network/times", "on_model", m=found))
    if not all(figure.passed for figure in found.figures):
        raise typer.Exit(int(Exit.WRONG_ANSWER))


def _show(run: StoredRun, json: bool, notes: bool, page: bool, all_samples: bool) -> None:
    """Print a run: with a page its first screen, else also the table of all figures."""
    from octant.analysis.summary import summarise
    from octant.cli._limits import warn_of_unreliable_limits
    from octant.cli._progress import status_line
    from octant.report.charts.pictures import pictures
    from octant.report.export import tidy
    from octant.report.page import run_page
    from octant.report.screen.first_screen import RunReport, first_screen
    from octant.report.screen.level_section import with_levels
    from octant.report.screen.text import screen_lines
    from octant.report.tables import text
    from octant.report.tables.section_text import sections_lines

    with status_line() as tick:
        tick("computing figures")
        summary = summarise(run, all_metrics=json or page)
        warn_of_unreliable_limits(summary.figures)
        tick("writing the report")
        report = with_levels(RunReport(summary, first_screen(summary), pictures(summary) if page else ()))
        path = run_page.write(report, run.folder / "report.html", all_samples=all_samples) if page else None
    if json:
        print(tidy.as_json(report, path))
    elif path:
        text.put(
            lambda width: [
                *screen_lines(report.first, run.id, width, notes), *sections_lines(report.sections, width, notes),
            ],
            sys.stdout,
        )  # fmt: skip
        print(f"\nAll figures: octant report last\n{path}")
    else:
        text.show(report, notes=notes, sources="none")
