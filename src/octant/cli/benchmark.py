"""A command for each published benchmark: measure its tests and print the figures under its names."""

from __future__ import annotations

from dataclasses import replace
from inspect import Parameter, Signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from octant import benchmarks
from octant.benchmarks import BenchmarkArguments, BenchmarkOption
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
    from collections.abc import Callable, Sequence

    from octant.benchmarks import Benchmark, BenchmarkRequests
    from octant.store import Store, StoredRun

_SHARED: dict[str, tuple[Any, object]] = {
    "ranks": (RanksOnCoresOption, None),
    "repeats": (RepeatsOption, None),
    "launcher": (LauncherOption, ""),
    "hosts": (HostsOption, ""),
    "link": (LinkOption, ""),
    "mpi": (MpiOption, None),
    "only_safe": (OnlySafeOption, False),
}
"""Options that a benchmark may have, each with its default."""
_ALWAYS: dict[str, tuple[Any, object]] = {
    "run": (Annotated[str, typer.Option("--run", help="Print the tables of this stored run and exit.")], ""),
    "store": (StoreOption, None),
    "timeout": (TimeoutOption, None),
    "json": (JsonOption, False),
}


def register(app: typer.Typer) -> None:
    """Add the command of each benchmark."""
    for one in benchmarks.benchmarks().values():
        app.command(one.command, rich_help_panel=MEASURE)(_command(one))


def _command(benchmark: Benchmark) -> Callable[..., None]:
    """Return the function of a benchmark's command, with its options as parameters."""
    parameters = {}
    for one in benchmark.options:
        if isinstance(one, BenchmarkOption):
            parameters[f"{one.key}_"] = _own(one)
        else:
            parameters[one] = _SHARED[one]
    if benchmark.launches and "repeats" in parameters:
        text = f"Number of launches per test [default: {benchmark.launches}]."
        kind = typer.Option(min=1, max=10_000, help=text, rich_help_panel=MEASURED)
        parameters["repeats"] = (Annotated[int | None, kind], None)
    parameters |= _ALWAYS

    def command(**given: Any) -> None:
        _run(benchmark, given)

    command.__doc__ = benchmark.help
    command.__annotations__ = {name: kind for name, (kind, _) in parameters.items()} | {"return": None}
    command.__dict__["__signature__"] = Signature(
        [
            Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=kind)
            for name, (kind, default) in parameters.items()
        ]
    )
    return command


def _own(one: BenchmarkOption) -> tuple[Any, object]:
    """Return the parameter of an option or argument that only one benchmark has, and its default."""
    if not one.is_option:
        return Annotated[list[str] | None, typer.Argument(metavar=one.name, help=one.help)], None
    kind = bool if isinstance(one.default, bool) else Literal[one.choices] if one.choices else str
    panel = MEASURED if one.measures else None
    return Annotated[kind, typer.Option(one.name, help=one.help, rich_help_panel=panel)], one.default


def _run(benchmark: Benchmark, given: dict[str, Any]) -> None:
    from octant.cli._measure import finish
    from octant.cli._stored import find_run
    from octant.runs.durations import load_durations

    options = [one for one in benchmark.options if isinstance(one, BenchmarkOption)]
    own = {one.key: given[f"{one.key}_"] for one in options if one.is_option}
    words = next((given[f"{one.key}_"] for one in options if not one.is_option), None)
    arguments = BenchmarkArguments(
        tuple(words or ()), given.get("ranks"), given.get("repeats"), given.get("launcher", ""), given.get("hosts", ""),
        given.get("link", ""), tuple(given.get("mpi") or ()), own,
    )  # fmt: skip
    lists = [one for one in options if one.instead and own[one.key]]
    instead = [*(one.name for one in lists), *["--run"] * bool(given["run"])]
    if instead:
        further_words = arguments.words if lists else arguments.knobs  # of a run, the named tests are shown
        _check_alone(instead[0], [*instead[1:], *further_words, *_given(options, given)])
    if lists:
        if part := benchmark.part("lists"):
            print(part.text(lists[0].key, given["json"]))
        return
    if given["run"]:
        _show(benchmark, find_run(given["store"], given["run"]), arguments, given["json"])
        return
    run, to, below = _created(benchmark, arguments, given.get("only_safe", False), given["store"])
    timeout = given["timeout"] or (benchmark.timeouts_s and benchmark.timeouts_s[not own.get("quick", True)])
    known = load_durations(to, run.machine, run.id)
    every = replace(arguments, words=())  # a failed test has no table; the text of the run reports it
    try:
        finish(to, run, timeout, lambda done: _show(benchmark, done, every, given["json"], below), known=known)
    except typer.Exit as ended:
        if ended.exit_code == Exit.INTERRUPTED:
            typer.echo(f"To print the stored results: octant {benchmark.command} --run {run.id}", err=True)
        raise


def _given(options: Sequence[BenchmarkOption], given: dict[str, Any]) -> list[str]:
    """Return the given options that concern the measurement."""
    shared = [f"--{name.replace('_', '-')}" for name in (*_SHARED, "timeout") if given.get(name)]
    measuring = [one for one in options if one.measures and one.is_option]
    return shared + [one.name.rpartition("/")[2] for one in measuring if given[f"{one.key}_"] != one.default]


def _check_alone(instead: str, others: Sequence[str]) -> None:
    """Refuse further options with an option that prints something and measures nothing."""
    if others:
        why = f"{instead} measures nothing"
        raise Refusal(f"cannot use {others[0]} with {instead} ({why}); use one of them", Exit.WRONG_WORD)


def _created(
    benchmark: Benchmark, arguments: BenchmarkArguments, only_safe: bool, store: Path | None
) -> tuple[StoredRun, Store, tuple[str, ...]]:
    """Create a run with a request for each test that can be measured; return it with the notes below its tables."""
    from octant.benchmarks import requests as tests_and_sizes
    from octant.cli._measure import create, prove, safe, settings_of
    from octant.machine.discover import discover
    from octant.runs import command_line
    from octant.runs.plan import check_startable
    from octant.store import open_store

    machine, settings = discover(), settings_of(arguments.mpi)
    command_line.check_options(arguments.ranks, "", arguments.repeats)
    part = benchmark.part("requests") or tests_and_sizes
    found: BenchmarkRequests = part.make_requests(benchmark, arguments, machine, settings.variables)
    for text in found.remarks:
        typer.echo(f"octant: {text}", err=True)
    if not found.requests:
        raise Refusal(
            f"cannot measure any test of {benchmark.title} (see the reasons above); try octant doctor",
            Exit.NOT_SUPPORTED,
        )
    for request in found.requests:
        check_startable(request, machine)
    requests = safe(found.requests) if only_safe else found.requests
    to = open_store(store)
    proven = prove(settings, found.requests[-1], to)
    return create(to, found.title, machine, requests, "run", proven, benchmark=benchmark.command), to, found.below


def _show(
    benchmark: Benchmark, run: StoredRun, arguments: BenchmarkArguments, json: bool, below: Sequence[str] = ()
) -> None:
    from octant.analysis.summary import summarise
    from octant.cli._progress import status_line
    from octant.report.screen.first_screen import absent_workloads
    from octant.report.tables import benchmark as benchmark_table

    with status_line() as tick:
        tick("computing figures")
        summary = summarise(run, all_metrics=True)
        shown = (
            benchmark_table.as_json(summary, benchmark, arguments)
            if json
            else benchmark_table.text(summary, benchmark, arguments, below)
        )
    for text in absent_workloads(summary):
        typer.echo(f"octant: {text}", err=True)
    print(shown)
