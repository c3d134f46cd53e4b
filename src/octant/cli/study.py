"""`octant study`: run studies and compare them with published results."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer

from octant.cli._help import STUDY
from octant.cli._options import (
    LARGEST_SEED,
    AllowProgramOption,
    JsonOption,
    PageOption,
    StoreOption,
    SvgOption,
    TimeoutOption,
)
from octant.failure import Exit

NameArgument = Annotated[str, typer.Argument(help="Study: a name of `octant study list`, or a file.")]


def register(app: typer.Typer) -> None:
    """Add the commands of this file."""
    group = typer.Typer(help="Answer questions and compare with published results.", no_args_is_help=True)
    group.command("list")(list_)
    group.command("show")(show)
    group.command("run")(run)
    group.command("report")(report)
    app.add_typer(group, name="study", rich_help_panel=STUDY)


def list_(
    words: Annotated[
        list[str] | None, typer.Argument(metavar="[WORD]...", help="List the studies that contain all words.")
    ] = None,
    json: JsonOption = False,
) -> None:
    """List the studies and how many of their findings are testable here."""
    from octant.machine.discover import discover
    from octant.report.study import text as study

    shown = study.list_json if json else study.list_text
    print(shown(discover(), tuple(words or ())))


def show(name: NameArgument, json: JsonOption = False) -> None:
    """Show the question of a study and what can be tested on this machine.

    The output names the study file. To write a study of your own, copy that file and edit the copy.
    """
    from octant.machine.discover import discover
    from octant.report.study import text as study

    print(study.show_json(name) if json else study.show_text(name, discover()))


def run(
    name: NameArgument,
    repeats: Annotated[
        int | None,
        typer.Option(min=1, max=1000, help="Number of launches per configuration [default: that of the study]."),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(min=0, max=LARGEST_SEED, help="Seed of the random order of the launches [default: random]."),
    ] = None,
    anyway: Annotated[
        bool, typer.Option("--anyway", help="Measure even if no test of the study can be decided.")
    ] = False,
    allow: AllowProgramOption = None,
    store: StoreOption = None,
    timeout: TimeoutOption = None,
    json: JsonOption = False,
) -> None:
    """Run a study on this machine and print its verdicts.

    Tests that cannot be decided on this machine or with this number of launches are named before the first launch.
    Ctrl-C keeps all measurements; `octant resume` continues.
    """
    from octant.cli._measure import end_command
    from octant.cli._stored import measure
    from octant.cli._study import check_plan, show_run
    from octant.machine.discover import discover
    from octant.runs.exit_reasons import ExitReason, list_exit_reasons
    from octant.store import open_store
    from octant.study import outcome
    from octant.study.stored import study_run

    where, machine = open_store(store), discover()
    check = partial(check_plan, anyway=anyway)
    planned = outcome.begin(where, name, machine, seed, repeats, probes=True, allowed=allow or (), check=check)
    begun = measure(where, planned, timeout)
    found = outcome.outcome_of_run(study_run(begun))
    show_run(found, json)
    ends = list_exit_reasons(begun)
    if not ends and not found.values.by_cell:
        why = [*found.values.absent.values()][-1]
        ends = [ExitReason(Exit.CANNOT_RUN, f"cannot report a value ({why}); try octant doctor")]
    end_command(ends)


def report(
    name: Annotated[str, typer.Argument(help="Study (its last run is shown), or the id of a run of a study.")],
    output: PageOption = None,
    svg: SvgOption = None,
    notes: Annotated[
        bool, typer.Option("--notes", help="Also print all caveats of each row, informational notes included.")
    ] = False,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Show the results of a study and its verdicts."""
    from octant.cli import _study
    from octant.cli._own_run import own_run
    from octant.cli._stored import report_damage
    from octant.store import open_store
    from octant.study import outcome
    from octant.study.local_reference import NO_LOCAL_RUN
    from octant.study.stored import study_run

    if outcome.is_model(name):
        wanted = outcome.wanted_local_run(name)
        found = outcome.outcome_of_model(name, own_run(store, wanted) if wanted else NO_LOCAL_RUN)
    else:
        run = outcome.last_run(open_store(store), name)
        report_damage(run.id, run.unread)
        found = outcome.outcome_of_run(study_run(run))
    _study.show(found, json, notes)
    if svg is not None:
        from octant.report.charts.draw import write_svgs
        from octant.report.study.pictures import pictures

        write_svgs(pictures(found), svg, found.run.id if found.run else found.name)
    if output is not None:
        _study.write(found, output, json)
