"""`octant run`, `octant evaluate`, `octant resume`, `octant runs`: measure, and keep what was measured."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from octant.cli import _complete
from octant.cli._options import JsonOption, StoreOption, TimeoutOption
from octant.failure import Exit, Refusal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from octant.ask import Launch
    from octant.launch.jobs import Job
    from octant.machine import Machine
    from octant.store import Store, StoredRun

PlaceOption = Annotated[
    str, typer.Option(help="Ranks x threads of a node and where they go: 2x4,unit=core,order=scatter,memory=local.")
]
LauncherOption = Annotated[
    str, typer.Option(help="direct, mpiexec, srun, flux [default: the one at hand]; see --script.")
]
HostsOption = Annotated[str, typer.Option(help="Hosts reached by ssh: a,b or @FILE with one a line.")]


def register(app: typer.Typer) -> None:
    """Adds the commands of this file."""
    app.command("run")(run)
    app.command("evaluate")(evaluate)
    app.command("resume")(resume)
    app.command("runs")(runs)


def run(
    workload: Annotated[
        str,
        typer.Argument(help="Name of a workload; `octant workloads` lists them.", autocompletion=_complete.workloads),
    ],
    knobs: Annotated[
        list[str] | None, typer.Argument(metavar="[KNOB=VALUE]...", help="Values may be lists: bytes=1MiB,64MiB.")
    ] = None,
    ranks: Annotated[int | None, typer.Option(help="MPI ranks.")] = None,
    mode: Annotated[str, typer.Option(help="one, star (a copy on every core), threads, or all (ranks together).")] = "",
    repeats: Annotated[int, typer.Option(help="Launches: each is a sample of its own.")] = 1,
    place: PlaceOption = "",
    launcher: LauncherOption = "",
    hosts: HostsOption = "",
    mpi: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="Setting of the MPI library (repeatable): eager-limit=64KiB."),
    ] = None,
    script: Annotated[Path | None, typer.Option(help="With a batch system: write the job script here.")] = None,
    submit: Annotated[bool, typer.Option("--submit", help="With a batch system: submit the job script.")] = False,
    minutes: Annotated[int, typer.Option(help="With a batch system: time limit.")] = 30,
    directive: Annotated[
        list[str] | None, typer.Option(help="With a batch system: its own words (repeatable).")
    ] = None,
    on_model: Annotated[
        str, typer.Option("--on-model", help="Not here: on this network of `octant model list`, simulated by SimGrid.")
    ] = "",
    store: StoreOption = None,
    timeout: TimeoutOption = None,
    json: JsonOption = False,
) -> None:
    """Measure one workload, here or as a job of a batch system (--launcher sbatch, pbs, lsf or flux, --script)."""
    from octant.runs import requests

    if on_model:
        _on_model(on_model, workload, knobs or [], ranks, timeout, json)
        return

    if script is not None or submit:
        further = [f"--mode={mode}"] if mode else []
        further += [f"--repeats={repeats}", *(f"--mpi={word}" for word in mpi or [])]
        job = requests.job(workload, knobs or [], ranks, place, store, minutes, tuple(directive or ()), further)
        _as_job(launcher, job, script or Path(f"{job.name}.sh"), submit, json)
        return
    plan, machine = requests.run(workload, knobs or [], ranks, mode, repeats, requests.Where(place, launcher, hosts))
    plan = _with_mpi(plan, mpi or [])
    asked = {"--mode": mode, "--ranks": ranks, "--place": place, "--launcher": launcher, "--hosts": hosts}
    words = [f"{name} {value}" for name, value in asked.items() if value] + [f"--mpi {word}" for word in mpi or []]
    _measure(store, " ".join([workload, *(knobs or []), *words]), plan, machine, timeout, json, page=False)


def _on_model(
    network: str, workload: str, knobs: Sequence[str], ranks: int | None, timeout: float | None, json: bool
) -> None:
    from octant.network import load
    from octant.report.network import answers as report
    from octant.report.network import text as network_text
    from octant.simulate import on_model

    found = on_model.run(load(network), workload, knobs, ranks, timeout or 600.0)
    print(report.as_json(found) if json else network_text.on_model_text(found))
    if not all(figure.passed for figure in found.figures):
        raise typer.Exit(int(Exit.WRONG_ANSWER))


def evaluate(
    quick: Annotated[bool, typer.Option("--quick/--full", help="About three minutes, or everything.")] = True,
    only: Annotated[
        list[str] | None, typer.Option(help="Only this workload (repeatable).", autocompletion=_complete.workloads)
    ] = None,
    store: StoreOption = None,
    timeout: TimeoutOption = None,
    json: JsonOption = False,
) -> None:
    """Measure this machine: what it can do, how far that is from its limits, and a report to look at."""
    from octant.runs import requests

    plan, machine = requests.evaluate(quick, only or [])
    title = " ".join(["evaluate", "--quick" if quick else "--full", *(f"--only {name}" for name in only or [])])
    _measure(store, title, plan, machine, timeout, json, page=True)


def resume(
    name: Annotated[str, typer.Argument(help="A run: its id, last or previous.")] = "last",
    store: StoreOption = None,
    timeout: TimeoutOption = None,
    json: JsonOption = False,
) -> None:
    """Measure only what a stopped run still lacks."""
    from octant.store import Store, open_store

    found = open_store(store).find(name)
    _finish(Store(found.folder.parent.parent), found, timeout, json, page=found.title.startswith("evaluate"))


def runs(store: StoreOption = None, json: JsonOption = False) -> None:
    """List the runs of the store."""
    from octant.report.run import listing
    from octant.store import open_store

    found, unread = open_store(store).listed()
    print(listing.as_json(found) if json else listing.as_text(found))
    for text in unread:
        typer.echo(f"octant: {text}", err=True)


def _with_mpi(plan: Sequence[Launch], words: Sequence[str]) -> tuple[Launch, ...]:
    from dataclasses import replace

    from octant.machine.mpi_inventory import inventory
    from octant.runs import mpi_settings

    if not words:
        return tuple(plan)
    try:
        settings = mpi_settings.read(words, inventory())
    except ValueError as error:
        raise Refusal(str(error)) from error
    for text in settings.without_effect:
        typer.echo(f"octant: {text}; left out", err=True)
    return tuple(replace(launch, mpi=settings.variables) for launch in plan)


def _as_job(system: str, job: Job, script: Path, submit: bool, json: bool) -> None:
    import json as codec

    from octant.launch import submit as batch

    batch.write(system, job, script)
    answer = batch.submit(system, script) if submit else None
    if json:
        print(codec.dumps({"script": str(script), "submitted": answer}))
    else:
        print(f"{script}: {answer}" if submit else script)


def _measure(
    store: Path | None,
    title: str,
    plan: Sequence[Launch],
    machine: Machine,
    timeout: float | None,
    json: bool,
    page: bool,
) -> None:
    from octant.store import open_store

    where = open_store(store)
    _finish(where, where.create(title, machine, plan), timeout, json, page)


def _finish(where: Store, run: StoredRun, timeout: float | None, json: bool, page: bool) -> None:
    from octant.analysis.given import with_mismatches
    from octant.cli._progress import shown
    from octant.runs.carry_out import carry_out

    try:
        with shown() as progress:
            run = carry_out(where, run, progress, timeout)
    except KeyboardInterrupt:
        kept = len(where.read(run.id).points)
        typer.echo(f"\nStopped; {kept} points are kept. Go on with: octant resume {run.id}", err=True)
        raise typer.Exit(int(Exit.INTERRUPTED)) from None
    _show(run, json, page)
    run = with_mismatches(run)
    for text in sorted({text for point in run.points for text in point.mismatches}):
        typer.echo(f"octant: NOT AS ASKED: {text}", err=True)
    if any(not point.verdict.passed for point in run.points):
        raise typer.Exit(int(Exit.WRONG_ANSWER))
    if not run.points and run.failures:
        raise Refusal(f"nothing could be measured ({run.failures[0].reason})", run.failures[0].exit)
    if left := run.left():
        reasons = [failure.reason for failure in run.failures if failure.exit not in (2, 3)]
        why = reasons[-1] if reasons else "no record of them came"
        raise Refusal(f"{len(left)} launches failed ({why}); mend that and try octant resume {run.id}")


def _show(run: StoredRun, json: bool, page: bool) -> None:
    from octant.report.run import html, text

    if not json:
        text.show(run)
    report = html.write(run, run.folder / "report.html") if page else None
    if json:
        from octant.report.run import tidy

        print(tidy.as_json(run, report=report))
    elif report:
        print(report)
