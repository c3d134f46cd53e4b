"""`octant machine`: this computer, or a recorded one."""

from pathlib import Path
from typing import Annotated

import typer

from octant.cli._help import MACHINE
from octant.cli._options import JsonOption


def register(app: typer.Typer) -> None:
    """Adds the command of this file."""
    app.command("machine", rich_help_panel=MACHINE)(machine)


def machine(
    json: JsonOption = False,
    record: Annotated[
        Path | None, typer.Option(help="Copy the files that discovery reads to this new folder, to be sent to others.")
    ] = None,
    source: Annotated[Path, typer.Option("--from", help="Show the machine recorded in this folder.")] = Path("/"),
) -> None:
    """Show packages, memory, caches, cores, page sizes, settings, and where their sources disagree."""
    from octant.failure import Exit, Refusal
    from octant.machine import discover
    from octant.report.machine import text as writer

    try:
        if record is not None:
            files = discover.record(record, source)
            print(f"{len(files)} files of this machine are in {record}")
            return
        found = discover.discover(source)
    except OSError as error:
        text = f"cannot use {error.filename} ({error.strerror}); try another folder" if error.strerror else str(error)
        raise Refusal(text) from error
    except ValueError as error:
        raise Refusal(str(error), code=Exit.WRONG_WORD) from error
    print(writer.as_json(found) if json else writer.as_text(found))
