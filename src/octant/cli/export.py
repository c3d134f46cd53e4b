"""`octant export`: figures or samples of a run for other programs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from octant.cli import _complete
from octant.cli._options import StoreOption
from octant.failure import Exit, Refusal


def register(app: typer.Typer) -> None:
    """Adds the command of this file."""
    app.command("export")(export)


def export(
    name: Annotated[
        str,
        typer.Argument(
            metavar="RUN", help="A run: its id, its folder, last or previous.", autocompletion=_complete.runs
        ),
    ] = "last",
    to: Annotated[str, typer.Option("--to", help="csv, parquet or json.")] = "csv",
    samples: Annotated[bool, typer.Option("--samples", help="One row a sample, not one a figure.")] = False,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="The file [default: standard output].")] = None,
    store: StoreOption = None,
    json: Annotated[bool, typer.Option("--json", help="The same as --to json.")] = False,
) -> None:
    """Write one tidy row a figure, or a sample, as CSV, Parquet or JSON."""
    from octant.cli._stored import find_run
    from octant.report.run import tidy

    content = tidy.export(find_run(store, name), "json" if json else to, samples)
    if output is None:
        if to == "parquet" and sys.stdout.isatty():
            raise Refusal("cannot print Parquet on a terminal (it is binary); try -o FILE", Exit.WRONG_ANSWER)
        sys.stdout.buffer.write(content)
        return
    try:
        output.write_bytes(content)
    except OSError as error:
        raise Refusal(f"cannot write {output} ({error.strerror}); try -o with a file of yours") from error
