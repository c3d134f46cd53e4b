"""`octant compare`: two runs side by side."""

from __future__ import annotations

from typing import Annotated

import typer

from octant.cli import _complete
from octant.cli._options import JsonOption, StoreOption
from octant.failure import Exit, Refusal


def register(app: typer.Typer) -> None:
    """Adds the command of this file."""
    app.command("compare")(compare)


def compare(
    a: Annotated[
        str,
        typer.Argument(
            help="The run to compare with: its id, its folder, last or previous.", autocompletion=_complete.runs
        ),
    ] = "previous",
    b: Annotated[str, typer.Argument(help="The run to judge.", autocompletion=_complete.runs)] = "last",
    threshold: Annotated[
        float, typer.Option(min=0, max=10, help="Least difference that matters, as a fraction.")
    ] = 0.03,
    curves: Annotated[bool, typer.Option("--curves", help="Compare the points of curves too.")] = False,
    gate: Annotated[
        bool, typer.Option("--gate", help="Exit with 3 on a regression: slower, or attempted without a result.")
    ] = False,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Show what is faster and slower in run B than in run A, and where no difference is seen."""
    from octant.analysis import compare as comparing
    from octant.analysis.summary import summarise
    from octant.build.describe import default_knobs
    from octant.cli._stored import find_run
    from octant.report.run import comparison

    before, after = (summarise(find_run(store, name)) for name in (a, b))
    found = comparing.compare(before, after, threshold, curves, default_knobs)
    if json:
        print(comparison.as_json(found))
    else:
        comparison.show(found)
    if gate and found.regressions:
        raise typer.Exit(int(Exit.REGRESSION))
    if gate and not found.compared:
        raise Refusal(
            "cannot judge (the two runs have no figure in common); try two runs of the same `octant evaluate`"
        )
