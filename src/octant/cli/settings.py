"""`octant settings`: MPI settings by purpose, and a check for names that libraries ignore silently."""

from typing import Annotated, Literal

import typer

from octant.cli._options import JsonOption


def register(app: typer.Typer) -> None:
    """Adds the command of this file."""
    app.command("settings")(settings)


def settings(
    name: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME|NAME=VALUE]...", help="A name of any library, or Octant's own.")
    ] = None,
    library: Annotated[
        Literal["auto", "mpich", "openmpi"] | None, typer.Option(help="Query this installed library.")
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Check the names (or the environment) against the installed library.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Explain MPI settings and their current names, or refuse names that the library would ignore silently."""
    import os

    from octant.catalogue.mpi_settings import check_names, of_mpi
    from octant.failure import Exit, Refusal
    from octant.machine.mpi_inventory import inventory
    from octant.report.machine import settings as writer
    from octant.runs import mpi_settings

    try:
        known = inventory(library or "auto") if library or check else None
        if check and known is not None:
            given = name or of_mpi(os.environ)
            problems = (
                mpi_settings.problems(name, known) if name else check_names({v: os.environ[v] for v in given}, known)
            )
            text = writer.as_json([], known, problems) if json else writer.problems_text(problems, known, len(given))
            print(text)
            raise typer.Exit(Exit.WRONG_ANSWER if any(p.refused for p in problems) else Exit.OK)
        if json:
            print(writer.as_json([word.partition("=")[0] for word in name or ()], known, None))
        elif name:
            print("\n\n".join(writer.entry_text(word.partition("=")[0], known) for word in name))
        else:
            print(writer.list_text(known))
    except ValueError as error:
        raise Refusal(str(error), code=Exit.WRONG_ANSWER) from error
