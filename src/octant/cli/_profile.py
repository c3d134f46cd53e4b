"""`octant profile`: measure a program with its MPI calls recorded, and show the profile."""

from __future__ import annotations

import sys
import traceback
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import typer

from octant.failure import Exit, Refusal

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from typing import TextIO

    from octant.cli._program import ProgramWords
    from octant.launch import Planned
    from octant.launch.program import ProgramEnd
    from octant.profile.job import JobProfile
    from octant.profile.results import Analysis
    from octant.program import ProgramProfile
    from octant.request import Request
    from octant.runs.command_line import LaunchTarget
    from octant.store import Store, StoredRun

LEAST_COLUMNS, USUAL_COLUMNS = 60, 100
"""Widths of the table: at least, and if it is not for a terminal."""
PAGE = "profile.html"
"""Page of the profile in the folder of a run."""


@dataclass(frozen=True)
class ProfileOptions:
    """The options of `octant profile`."""

    recorded: ProgramProfile
    repeats: int
    ranks: int | None
    where: LaunchTarget
    mpi: tuple[str, ...]
    store: Path | None
    timeout: float | None
    output: Path | None
    mpitrace: Path | None

    @property
    def words(self) -> list[str]:
        """The options in the title of a run."""
        given = {"--ranks": self.ranks, "--place": self.where.place, "--launcher": self.where.launcher}
        given |= {"--hosts": self.where.hosts, "--repeats": self.repeats if self.repeats > 1 else None}
        found = [word for name, value in given.items() if value for word in (name, str(value))]
        modes = {"counts": "--counts", "off": "--region-only", "waits": "--waits"}
        found += [modes[self.recorded.mode]] if self.recorded.mode in modes else []
        found += [] if self.recorded.sites else ["--no-sites"]
        return found + [word for setting in self.mpi for word in ("--mpi", setting)]


def profile_program(program: ProgramWords, options: ProfileOptions) -> None:
    """Run a program, store and show its profile, and end with its exit status.

    Raises:
        Refusal: an argument is invalid, or not supported here.
        typer.Exit: with the exit status of the program, or the exit code of a failed check.
    """
    from octant.store import Repeats, open_store

    request, title = checked_request(program, options)
    to = open_store(options.store)
    run = _create(to, title, request)
    to.decide_repeats(run, Repeats(options.repeats))
    ends: list[ProgramEnd] = []
    try:
        run = _measure(to, to.read(run.id), options, ends)
    except KeyboardInterrupt:
        typer.echo(f"\noctant: stopped; the run is {run.id}", err=True)
        show_if_any(to.read(run.id), options)
        raise typer.Exit(int(Exit.INTERRUPTED)) from None
    try:
        show_if_any(run, options)
    except Refusal as refusal:
        typer.echo(f"octant: {refusal}", err=True)
    except Exception:  # the program's exit status is returned, whatever happens to its table
        traceback.print_exc()
    _end(run, ends)


def checked_request(program: ProgramWords, options: ProfileOptions) -> tuple[Request, str]:
    """Return the request and the title of its run.

    Raises:
        Refusal: an argument is invalid, or the program cannot be profiled.
    """
    from dataclasses import replace

    from octant.cli._measure import settings_of
    from octant.cli._run import report_remarks
    from octant.mpi.inventory import linked
    from octant.runs.plan import check_startable
    from octant.runs.programs import file_checks, profile_checks, program_request

    _check_files(options)
    command = program.command or ()
    request, machine = program_request.request_program(
        command, (), options.ranks, options.repeats, options.where, options=program.options, profile=options.recorded
    )
    if options.mpi:
        program_request.check_mpi(request, linked().library)
        request = replace(request, mpi=settings_of(options.mpi).variables)
    file_checks.check_files_exist(request)
    profile_checks.check_profilable(request)
    check_startable(request, machine)
    if options.where.place:
        report_remarks(request)
    for text in profile_checks.remarks(request):
        typer.echo(f"octant: {text}", err=True)
    words = [*options.words, *program.options.shown_words]
    return request, f"profile {program_request.title(command, (), words)}"


def _check_files(options: ProfileOptions) -> None:
    """Check that the files that were asked for can be written, as they are written after the launches.

    Raises:
        Refusal: one cannot be written.
    """
    from octant import output

    if options.output:
        output.check_folder(options.output.parent, options.output, "use -o with a file that you can write to")
    if options.mpitrace:
        otherwise = "use --mpitrace with a directory that you can write to"
        try:
            options.mpitrace.mkdir(parents=True, exist_ok=True)
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else error
            raise Refusal(f"cannot write {options.mpitrace} ({reason}); {otherwise}") from error
        output.check_folder(options.mpitrace, options.mpitrace, otherwise)


def _create(to: Store, title: str, request: Request) -> StoredRun:
    from octant.cli._measure import create
    from octant.machine.discover import discover

    return create(to, title, discover(), [request], "run")


def _measure(to: Store, run: StoredRun, options: ProfileOptions, ends: list[ProgramEnd]) -> StoredRun:
    """Run the launches, with the standard streams of this process; only a single launch can read its input."""
    from octant.cli._progress import ended_like_ctrl_c
    from octant.cli._stored import report_damage, warn
    from octant.launch.program import Attached
    from octant.runs.plan import planner_of
    from octant.runs.program_schedule import schedule_launches
    from octant.runs.session import execute_run

    def note(_planned: Planned, end: ProgramEnd) -> None:
        ends.append(end)

    attached = Attached(output=True, input=options.repeats == 1, on_end=note)
    with ended_like_ctrl_c():
        plan, launches = planner_of(run, options.timeout), schedule_launches(run, report=warn)
        run = execute_run(to, run, launches, plan, report=warn, attached=attached)
    report_damage(run.id, run.unread)
    return run


def _end(run: StoredRun, ends: list[ProgramEnd]) -> None:
    """End with the exit status of the program: of the first launch that failed, as a shell reports it.

    Raises:
        typer.Exit: the status is not 0, or a check or a value failed.
    """
    from octant.cli._measure import end_command, warn_of_commands
    from octant.runs.exit_reasons import list_exit_reasons

    warn_of_commands(run)
    for failure in dict.fromkeys(failure.reason for failure in run.failures):
        typer.echo(f"octant: {failure}", err=True)
    outcomes = [end.outcome for end in ends]
    timed_out = any(one.timed_out for one in outcomes)
    status = next((one.code for one in outcomes if one.code), 0)
    if status and not timed_out:
        raise typer.Exit(status if status > 0 else 128 - status)
    if run.failures:
        raise typer.Exit(int(Exit.CANNOT_RUN))
    end_command(list_exit_reasons(run))


def why_no_profile(run: StoredRun) -> str:
    """Return why a run has no profile, with the next step."""
    from octant.runs.programs.launch_profile import NO_CALLS, NOTE

    noted = next((point.notes[NOTE] for point in run.points if NOTE in point.notes), "")
    if noted == NO_CALLS:
        return f"{NO_CALLS}; check that the command line starts an MPI program that is linked with shared libraries"
    if noted:
        return f"{noted}; correct the cause, then profile again"
    if any(request.subject.profile for request in run.requests):
        if not run.points and not run.failures:
            return "Octant was ended before the program; profile again"
        return "the program ended before it called MPI; correct the cause, then profile again"
    return "its launches were not profiled; try octant profile -- COMMAND"


def show_if_any(run: StoredRun, options: ProfileOptions) -> None:
    """Print the profile of a run on standard error and write its page, if there is one."""
    from octant.analysis.profiles import newest_analysis

    analysis = newest_analysis(run)
    if analysis is None:
        typer.echo(f"octant: no profile ({why_no_profile(run)})", err=True)
        return
    text, write = _shown(run, analysis, _columns(sys.stderr))
    typer.echo(text, err=True)
    typer.echo(str(write(options.output or run.folder / PAGE)), err=True)
    if options.mpitrace:
        _write_classic(analysis.job, options.mpitrace)


def show_stored(run: StoredRun, output: Path | None, mpitrace: Path | None, json: bool) -> None:
    """Print the profile of a stored run.

    Raises:
        Refusal: the run has no profile, or it cannot be read.
    """
    from octant.analysis.profiles import newest_analysis
    from octant.report.profile.document import report_json

    if json and output is not None:
        why = "--json writes no HTML file"
        raise Refusal(f"cannot use --output with --json ({why}); use one of them", Exit.WRONG_WORD)
    analysis = newest_analysis(run)
    if analysis is None:
        cause, _, step = why_no_profile(run).partition("; ")
        raise Refusal(f"cannot show the profile of {run.id} ({cause}); {step}")
    if mpitrace:
        _write_classic(analysis.job, mpitrace)
    if json:
        print(report_json(analysis))
        return
    text, write = _shown(run, analysis, _columns(sys.stdout), details=True)
    print(text)
    print(write(output or run.folder / PAGE))


def _shown(
    run: StoredRun, analysis: Analysis, columns: int, details: bool = False
) -> tuple[str, Callable[[Path], Path]]:
    """Return the text of a profile, and what writes its page, which is that of `octant report`.

    The text is printed first: a full disk prevents only the page.
    """
    from dataclasses import replace

    from octant.advice.findings import Review
    from octant.analysis.summary import summarise
    from octant.report.charts.pictures import pictures
    from octant.report.page import run_page
    from octant.report.profile.first import first_screen_of
    from octant.report.profile.run_report import with_profile
    from octant.report.profile.text import report_text
    from octant.report.screen.first_screen import RunReport, first_screen

    summary = summarise(run, all_metrics=True)
    first = first_screen(summary)
    shown = with_profile(RunReport(summary, first, pictures(summary)), analysis)
    mine = first_screen_of(analysis, Review(first.findings, first.passed))
    mine = replace(mine, reliability=shown.first.reliability)  # the page and the terminal have the same grade
    text = report_text(analysis, columns, mine, run.id, details)
    return text, partial(run_page.write, shown)


def _columns(stream: TextIO) -> int:
    """Return the width of a table on a stream."""
    from octant.report.terminal import screen_columns

    return max(LEAST_COLUMNS, screen_columns(USUAL_COLUMNS, stream))


def _write_classic(job: JobProfile, folder: Path) -> None:
    """Write files in the format of mpitrace, for the ranks that its variables select."""
    import os

    from octant.profile.classic import write_classic

    for path in write_classic(job, folder, os.environ):
        typer.echo(str(path), err=True)
