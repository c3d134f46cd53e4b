"""`octant export`: write figures, results or samples of a run for other programs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from octant.cli import _complete
from octant.cli._help import SEE
from octant.cli._options import StoreOption
from octant.failure import Exit, Refusal, suggestion


def register(app: typer.Typer) -> None:
    """Add the command of this file."""
    app.command("export", rich_help_panel=SEE)(export)


def export(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[BENCHMARK] [RUN]",
            help="Run: its id, its directory, last or previous; a benchmark before it selects its format.",
            autocompletion=_complete.runs,
        ),
    ] = None,
    to: Annotated[str, typer.Option("--to", help="Format: csv, parquet, json or a benchmark.")] = "csv",
    samples: Annotated[bool, typer.Option("--samples", help="Write one row per sample.")] = False,
    results: Annotated[bool, typer.Option("--results", help="Write one row per named result or check.")] = False,
    share: Annotated[bool, typer.Option("--share", help="Remove user names, host names, paths and secrets.")] = False,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Write to this file [default: standard output].")
    ] = None,
    store: StoreOption = None,
    json: Annotated[bool, typer.Option("--json", help="Same as --to json.")] = False,
) -> None:
    """Write figures, results or samples as CSV, Parquet or JSON.

    To write them in the format of a benchmark: octant export BENCHMARK RUN
    """
    from octant.analysis.summary import summarise
    from octant.benchmarks import benchmarks, entries
    from octant.cli._stored import find_run
    from octant.output import opened
    from octant.report.export import sharing, tidy

    if samples and results:
        why = "their rows have different columns"
        raise Refusal(f"cannot use --samples with --results ({why}); use one of them", Exit.WRONG_WORD)
    names = list(words or [])
    named = names.pop(0) if names[:1] and names[0] in benchmarks() else ""
    names = names or ["last"]
    form = "json" if json else named or to
    for word in (form, names[0]):
        entries().check(word, "benchmark")
    if len(names) > 1:
        _check_run(names[0], store)
        raise Refusal(f"cannot also export {names[1]!r} (a file contains one run); name one run", Exit.WRONG_WORD)
    if of := named or (form in benchmarks() and form):
        if samples or results or (named and (json or to not in ("csv", named))):
            why = f"the format of {of} is fixed"
            raise Refusal(f"cannot use further options with {of} ({why}); try octant export {of} last", Exit.WRONG_WORD)
        _export_as(of, store, names[0], output, share)
        return
    what: tidy.What = "samples" if samples else "results" if results else "figures"
    if output is None and form == "parquet" and sys.stdout.isatty():
        raise Refusal("cannot print Parquet on a terminal (binary data); try -o FILE", Exit.WRONG_WORD)
    run = find_run(store, names[0])
    summary = summarise(run, all_metrics=what == "figures")
    clean = sharing.cleaner(run) if share else str
    if output is None:
        tidy.write(summary, form, what, sys.stdout.buffer, clean)
        return
    with opened(output, "try another -o FILE") as file:
        tidy.write(summary, form, what, file, clean)


def _check_run(word: str, store: Path | None) -> None:
    """Refuse an argument before a run that is neither a benchmark nor a run."""
    from octant.benchmarks import benchmarks
    from octant.cli._stored import find_run

    if word in ("last", "previous"):
        return
    try:
        find_run(store, word)
    except Refusal as refusal:
        why = "no such benchmark or run"
        hint = suggestion(word, benchmarks())
        raise Refusal(f"cannot export {word!r} ({why}); {hint}", Exit.WRONG_WORD) from refusal


def _export_as(name: str, store: Path | None, run: str, output: Path | None, share: bool) -> None:
    """Write a run in the format of a benchmark."""
    from octant.analysis.summary import summarise
    from octant.benchmarks import benchmarks
    from octant.cli._stored import find_run
    from octant.output import opened
    from octant.report.export import sharing
    from octant.report.tables import benchmark as benchmark_table

    found = find_run(store, run)
    text = benchmark_table.exported(summarise(found, all_metrics=True), benchmarks()[name])
    text = sharing.cleaner(found)(text) if share else text
    if output is None:
        print(text, end="")
        return
    with opened(output, "try another -o FILE") as file:
        file.write(text.encode())
