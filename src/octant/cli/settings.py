"""`octant settings`: settings old and new by any of their names, and a check for names that libraries ignore."""

from typing import Annotated, Any

import typer

from octant.cli._help import MACHINE, PageCommand
from octant.cli._options import JsonOption


def register(app: typer.Typer) -> None:
    """Adds the command of this file."""
    app.command("settings", cls=_AnyName, rich_help_panel=MACHINE)(settings)


class _AnyName(PageCommand):
    """Names may begin with `-`: flags of compilers and options of launchers are settings, too."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Options of this command first, then every other word as a name."""
        flags = {flag: parameter for parameter in self.get_params(ctx) for flag in parameter.opts}
        options: list[str] = []
        names: list[str] = []
        words = iter(args)
        for word in words:
            if word == "--":
                names += words
            elif (flag := flags.get(word.partition("=")[0])) and word.startswith("-"):
                takes = "=" not in word and not getattr(flag, "is_flag", False)
                options += [word, *([next(words, "")] if takes else [])]
            else:
                names.append(word)
        return super().parse_args(ctx, [*options, "--", *names])


def settings(
    name: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[NAME|NAME=VALUE]...", help="A flag, variable, keyword or tool, old or new; or a phrase."
        ),
    ] = None,
    library: Annotated[str, typer.Option(help="Query this installed library: auto, mpich, openmpi or intelmpi.")] = "",
    check: Annotated[
        bool, typer.Option("--check", help="Check the names (or the environment) against the installed library.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Explain settings, old and new, with the lines that replace an old one, or check names for the MPI library in
    use."""
    import os

    from octant.failure import Exit, Refusal
    from octant.mpi.current import installed
    from octant.mpi.inventory import inventory
    from octant.mpi.knobs import check_names, select_mpi_variables
    from octant.mpi.settings import problems as problems_of
    from octant.report.machine import settings as writer

    try:
        words = writer.phrases(name or [])
        known = inventory(library or "auto") if library or check else None
        if check and known is not None:
            given = name or select_mpi_variables(os.environ)
            problems = problems_of(words, known) if name else check_names({v: os.environ[v] for v in given}, known)
            text = writer.as_json([], known, problems) if json else writer.problems_text(problems, known, len(given))
            print(text)
            raise typer.Exit(Exit.WRONG_WORD if any(p.refused for p in problems) else Exit.OK)
        if json:
            print(writer.as_json(words, known or installed(words), None))
        elif words:
            here = known or installed(words)
            print("\n\n".join(writer.entry_text(word, known, here) for word in words))
        else:
            print(writer.list_text(known))
    except ValueError as error:
        raise Refusal(str(error), code=Exit.WRONG_WORD) from error
