"""`octant machine`: show or record a machine, its measured memory levels, or compare it with another one."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from octant.cli import _complete
from octant.cli._help import MACHINE
from octant.cli._options import JsonOption, StoreOption

if TYPE_CHECKING:
    from collections.abc import Iterator

    from octant.analysis.appendix import KnownMachine
    from octant.machine import Machine
    from octant.store import Store


def register(app: typer.Typer) -> None:
    """Add the command of this file."""
    app.command("machine", rich_help_panel=MACHINE)(machine)


def machine(
    name: Annotated[
        str,
        typer.Argument(
            metavar="[RUN]",
            help="With --measured: the run [default: the newest with these figures].",
            autocompletion=_complete.runs,
        ),
    ] = "",
    measured: Annotated[
        bool,
        typer.Option(
            "--measured", help="Show size, bandwidth and latency of each memory level, as a run measured them."
        ),
    ] = False,
    json: JsonOption = False,
    record: Annotated[
        Path | None, typer.Option(help="Record the machine: copy the files that describe it to this new directory.")
    ] = None,
    source: Annotated[
        Path, typer.Option("--from", help="Show the machine recorded in this directory or hwloc XML file.")
    ] = Path("/"),
    other: Annotated[
        str,
        typer.Option(
            "--beside", metavar="MACHINE", help="Compare with a published machine, a recorded one, or that of a run."
        ),
    ] = "",
    store: StoreOption = None,
) -> None:
    """Show the hardware and the settings of a machine.

    Contradictions between the sources are reported.
    """
    from octant.machine import recording
    from octant.machine.discover import discover
    from octant.machine.load import load_machine
    from octant.report.machine import text as writer

    _check_options(name, measured, record is not None or bool(other))
    if record is not None:
        with _refusing():
            files = recording.record(record, source)
        print(f"{len(files)} files that describe this machine are in {record}")
        return
    with _refusing():
        found = discover(source) if source == Path("/") else load_machine(str(source))
    if measured:
        print(_measured_text(found, name, store, json))
    elif other:
        print(_comparison_text(found, other, store, json))
    else:
        print(writer.as_json(found) if json else writer.as_text(found))


def _check_options(name: str, measured: bool, is_other_task: bool) -> None:
    """Check which of the options are used together.

    Raises:
        Refusal: a run without --measured, or --measured with --record or --beside.
    """
    from octant.failure import Exit, Refusal

    if name and not measured:
        why = "only --measured takes a run"
        raise Refusal(f"cannot use {name!r} ({why}); try octant machine --measured {name}", Exit.WRONG_WORD)
    if measured and is_other_task:
        why = "--record and --beside do not show measured levels"
        raise Refusal(f"cannot use --measured with them ({why}); use one of them", Exit.WRONG_WORD)


def _measured_text(found: Machine, name: str, store: Path | None, json: bool) -> str:
    """Return the memory levels that a run measured.

    Args:
        name: the run; "": the newest of this machine.

    Raises:
        Refusal: no run of this machine, or not this run, measured memory levels.
    """
    from octant.cli._stored import find_run
    from octant.report.machine import measured_levels as writer
    from octant.store import open_store

    levels = writer.levels_of_run(find_run(store, name)) if name else writer.newest_levels(open_store(store), found)
    return writer.as_json(levels) if json else writer.as_text(levels)


@contextlib.contextmanager
def _refusing() -> Iterator[None]:
    """Turn errors of machine files into refusals.

    Raises:
        Refusal: a folder cannot be read or written, or contains no machine.
    """
    from octant.failure import Exit, Refusal

    try:
        yield
    except OSError as error:
        text = f"cannot use {error.filename} ({error.strerror}); try another folder" if error.strerror else str(error)
        raise Refusal(text) from error
    except ValueError as error:
        raise Refusal(str(error), code=Exit.WRONG_WORD) from error


def _comparison_text(found: Machine, other: str, store: Path | None, json: bool) -> str:
    from octant.analysis.appendix import compare_machines
    from octant.analysis.appendix.measured import with_measured
    from octant.analysis.appendix.stated import of_machine
    from octant.report.machine import machine_comparison as writer
    from octant.store import open_store

    where = open_store(store)
    there = with_measured(_other(other, where), where)
    here = with_measured(of_machine(found), where)
    rows = compare_machines(here, there)
    return writer.as_json(rows, here, there) if json else writer.as_text(rows, here, there)


def _other(name: str, where: Store) -> KnownMachine:
    """Return the machine of that name: published, recorded in a folder, or of a stored run.

    Raises:
        Refusal: there is none; the text contains similar names.
    """
    from octant import catalogue
    from octant.analysis.appendix.published import of_published
    from octant.analysis.appendix.stated import of_machine
    from octant.failure import Exit, Refusal, suggestion
    from octant.machine import discover
    from octant.untrusted import exists, is_file

    published = catalogue.machines()
    if name in published:
        return of_published(published[name])
    folder = Path(name)
    if exists(folder / "sys") or exists(folder / "proc"):
        with _refusing():
            return of_machine(discover.discover(folder), folder.name)
    ids = where.ids()
    if name == "last" or is_file(folder / "asked.json") or sum(one.startswith(name) for one in ids) == 1:
        run = where.find(name)
        return of_machine(run.machine, run.id)
    hint = suggestion(name, [*published, *ids[-5:]], "octant catalogue machines")
    why = "no published machine, recording or run has this name"
    raise Refusal(f"cannot find the machine {name!r} ({why}); {hint}", Exit.WRONG_WORD)
