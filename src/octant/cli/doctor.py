"""`octant doctor`: show what disturbs measurements, and state whether the machine is fit for benchmarking."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from octant.cli import _complete
from octant.cli._help import MACHINE
from octant.cli._options import JsonOption

if TYPE_CHECKING:
    from octant.advice import Diagnosis
    from octant.advice.fitness import Fitness
    from octant.machine import Machine


def register(app: typer.Typer) -> None:
    """Add the command of this file."""
    app.command("doctor", rich_help_panel=MACHINE)(doctor)


def doctor(
    static: Annotated[
        bool, typer.Option("--static", help="Omit the noise test, which takes about six seconds.")
    ] = False,
    json: JsonOption = False,
    explain: Annotated[
        str | None,
        typer.Option(
            metavar="RULE", help="Print the description of one rule and exit.", autocompletion=_complete.rules
        ),
    ] = None,
) -> None:
    """Show what disturbs measurements, and whether this machine is fit.

    Each entry has its evidence and the command that fixes it. A noise test of at most ten seconds on all usable
    hardware threads measures lost time, stolen time, the clock and other load. Exit code 0: the machine is fit, or fit
    with reservations; 7: it is not fit.
    """
    from octant.advice import Facts, diagnose, page
    from octant.failure import Exit
    from octant.machine.discover import discover
    from octant.report.machine import advice as writer
    from octant.software.observe import observe

    if explain is not None:
        print(page(explain))
        return
    machine = discover()
    found = diagnose(Facts(machine, observe(machine.topology.usable_cores(), machine.processor.flags)))
    fitness = _fitness(machine, found, static)
    print(writer.as_json(found, fitness) if json else writer.as_text(found, fitness))
    if fitness.verdict == "not fit":
        raise typer.Exit(int(Exit.UNFIT))


def _fitness(machine: Machine, found: Diagnosis, static: bool) -> Fitness:
    """Return the verdict on the machine, after the noise test unless it is omitted or impossible."""
    from octant.advice.fitness import judge_fitness
    from octant.cli._noise_test import measure_noise, warn
    from octant.failure import Refusal

    if static:
        return judge_fitness(None, found, "--static")
    try:
        return judge_fitness(measure_noise(machine), found)
    except Refusal as refusal:
        return judge_fitness(None, found, str(refusal))
    except KeyboardInterrupt:
        warn("stopped during the noise test; octant doctor --static omits it")
        raise
