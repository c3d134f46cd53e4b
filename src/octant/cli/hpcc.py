"""`octant hpcc`: the tests of HPC Challenge in one run, with figures under its names."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from octant.cli._help import MEASURE
from octant.cli._options import (
    MEASURED,
    HostsOption,
    JsonOption,
    LauncherOption,
    RanksOnCoresOption,
    StoreOption,
    TimeoutOption,
)
from octant.failure import Exit, Refusal

if TYPE_CHECKING:
    from octant.store import Store, StoredRun


def register(app: typer.Typer) -> None:
    """Adds the command of this file."""
    app.command("hpcc", rich_help_panel=MEASURE)(hpcc)


def hpcc(
    quick: Annotated[
        bool, typer.Option("--quick/--full", help="Minutes, or HPCC's own sizes.", rich_help_panel=MEASURED)
    ] = True,
    size: Annotated[
        str,
        typer.Option(help="hpl:N, the order of HPL's matrix; all other sizes follow.", rich_help_panel=MEASURED),
    ] = "",
    ranks: RanksOnCoresOption = None,
    repeats: Annotated[
        int | None,
        typer.Option(min=1, max=10_000, help="Launches of each test [default: 3].", rich_help_panel=MEASURED),
    ] = None,
    launcher: LauncherOption = "",
    hosts: HostsOption = "",
    show: Annotated[str, typer.Option("--run", help="Print the table of this stored run instead.")] = "",
    store: StoreOption = None,
    timeout: TimeoutOption = None,
    json: JsonOption = False,
) -> None:
    """Measure the tests of HPC Challenge, and print their figures under HPCC's names."""
    from octant.benchmarks.requests import FULL_S, QUICK_S
    from octant.cli._measure import finish
    from octant.cli._stored import find_run
    from octant.runs.durations import learned

    if show:
        _show(find_run(store, show), json)
        return
    run, to = _created(quick, size, ranks, repeats, launcher, hosts, store)
    limit_s, known = timeout or (QUICK_S if quick else FULL_S), learned(to, run.machine, run.id)
    finish(to, run, limit_s, lambda done: _show(done, json), known=known)


def _created(
    quick: bool, size: str, ranks: int | None, repeats: int | None, launcher: str, hosts: str, store: Path | None
) -> tuple[StoredRun, Store]:
    """A new run with an ask for each test that can be measured; the others are named on standard error."""
    from octant.benchmarks.hpcc.sizes import Sizes, full_order, quick_order, read_order
    from octant.benchmarks.requests import asked
    from octant.cli._measure import create, prove, settings_of
    from octant.launch import leftovers
    from octant.machine.discover import discover
    from octant.machine.facts import usable_cores
    from octant.runs import requests
    from octant.runs.plan import check_startable
    from octant.store import open_store
    from octant.units import bytes_text

    machine = discover()
    requests.check_options(ranks, "", repeats)
    names = requests.host_names(hosts)
    count = ranks or len(usable_cores(machine)) * max(1, len(names))
    limit = machine.system.get("cgroup_memory_bytes", "")
    memory = min(machine.memory_bytes, int(limit) if limit.isdigit() else machine.memory_bytes) * max(1, len(names))
    order = read_order(size, memory) if size else quick_order(count, memory) if quick else full_order(memory)
    available = int(machine.system.get("available_memory_bytes", memory)) * max(1, len(names))
    if not size and (left := full_order(memory, available)) < order:
        why = f"{bytes_text(available)} of {bytes_text(memory)} of memory are available"
        rule = "a quick run has" if quick else "HPCC's rules ask for"
        typer.echo(f"octant: N is {left} where {rule} {order}: {why}", err=True)
        order = left
    shareable = leftovers.free_bytes()
    tests = asked(Sizes(count, order), quick, repeats, launcher, names, shareable_bytes=shareable)
    for name in tests.unshared:
        why = f"its ranks would share more than the {bytes_text(int(shareable))} that {leftovers.FOLDER} has"
        typer.echo(f"octant: {name} is measured by messages: {why}", err=True)
    for name, why in tests.left_out.items():
        typer.echo(f"octant: {name} is left out: {why}", err=True)
    if not tests.asks:
        raise Refusal("cannot measure any test of HPC Challenge (see above); try octant doctor", Exit.NOT_SUPPORTED)
    for ask in tests.asks:
        check_startable(ask, machine)
    to = open_store(store)
    words = ["hpcc", "--quick" if quick else "--full", f"--size hpl:{order}", f"--ranks {count}"]
    words += [f"--launcher {launcher}"] * bool(launcher) + [f"--hosts {hosts}"] * bool(hosts)
    proven = prove(settings_of(()), tests.asks[-1], to)
    return create(to, " ".join(words), machine, tests.asks, "run", proven), to


def _show(run: StoredRun, json: bool) -> None:
    from octant.analysis.summary import summarise
    from octant.benchmarks.rows import with_references
    from octant.cli._progress import status_line
    from octant.report import benchmark_table as hpcc_table
    from octant.workloads import workloads

    with status_line() as tick:
        tick("working out the figures")
        summary = summarise(run, with_references(workloads()), all_metrics=True)
    print(hpcc_table.as_json(summary) if json else hpcc_table.text(summary))
