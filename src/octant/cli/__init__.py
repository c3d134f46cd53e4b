"""The command line: parses arguments, calls one function, prints. One file per group; the folder is the registration.

Commands import what they need inside their bodies, so that `octant --help` starts in a fraction of a second.
"""

import functools
import inspect
import os
import sys
import warnings

import typer
from typer.core import TyperCommand

from octant import benchmarks, registry
from octant.cli import _help
from octant.failure import Exit, Refusal, RenamedWarning
from octant.registry import Broken


def application() -> typer.Typer:
    """The command with every group registered."""
    app = typer.Typer(
        name="octant",
        help="Measures a computer, how far it is from its limits, and which settings bring it closer.",
        no_args_is_help=True,
        add_completion=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,  # markup would swallow every [default: …], and takes as long to load as all the rest
        context_settings={"help_option_names": ["-h", "--help"]},
    )

    @app.callback(invoke_without_command=True)
    def octant(version: bool = typer.Option(False, "--version", help="Print version and commit, and exit.")) -> None:
        if version:
            from octant.build.version import of_package

            print(f"octant {of_package()}")
            raise typer.Exit

    app.info.cls = _root(_register(app))
    _dress(app)
    return app


def _register(app: typer.Typer) -> tuple[Broken, ...]:
    """Adds the commands of every file, and returns the files and the folders of benchmarks that cannot be used."""
    found = registry.entries(__name__, lambda module: registry.declared(module, "register"))
    failed = [
        one
        for name, module in found.working.items()
        if (one := registry.attempt_of(__name__, name, functools.partial(module.register, app)))
    ]
    return (*found.broken.values(), *failed, *benchmarks.entries().broken.values(), *_taken(app))


def _taken(app: typer.Typer) -> list[Broken]:
    """Remove the command of each benchmark whose name is that of another command, and return their folders."""
    own = [
        one for one in app.registered_commands if one.callback and one.callback.__module__ == f"{__name__}.benchmark"
    ]
    names = {one.name for one in app.registered_commands if one not in own} | {
        one.name for one in app.registered_groups
    }
    app.registered_commands = [one for one in app.registered_commands if one not in own or one.name not in names]
    hidden = [one for one in benchmarks.benchmarks().values() if one.command in names]
    return [one.unusable(f"the command {one.command} exists already, give the benchmark another one") for one in hidden]


def _root(broken: tuple[Broken, ...]) -> type[_help.PageGroup]:
    """The group of all commands, which knows the files whose commands it lacks."""

    class Root(_help.PageGroup):
        """All commands."""

        lacks = broken

    return Root


def _dress(app: typer.Typer) -> None:
    """Gives every command our page of help. Lists of commands show the first paragraph of each page, not cut off."""
    for command in app.registered_commands:
        command.short_help = inspect.cleandoc(command.callback.__doc__ or "").split("\n\n")[0]
        if command.cls in (None, TyperCommand):
            command.cls = _help.PageCommand
    for group in app.registered_groups:
        if group.typer_instance:
            group.short_help = group.typer_instance.info.help
            group.cls = _help.PageGroup
            _dress(group.typer_instance)


def _note_old_names() -> None:
    """Print a note to standard error for each old name that is replaced, once."""
    format_warning = warnings.formatwarning

    def note(
        message: Warning | str, category: type[Warning], filename: str, lineno: int, line: str | None = None
    ) -> str:
        renamed = issubclass(category, RenamedWarning)
        return f"octant: note: {message}\n" if renamed else format_warning(message, category, filename, lineno, line)

    warnings.simplefilter("once", RenamedWarning)
    warnings.formatwarning = note


def main() -> None:
    """Entry point of the command `octant`."""
    from octant.report import plain

    json = "--json" in sys.argv
    if "utf" not in (getattr(sys.stdout, "encoding", None) or "utf-8").lower():
        plain.make_streams_patient(json)
    plain.clean_streams(json)
    _note_old_names()
    try:
        application()()
    except Refusal as refusal:
        print(f"octant: {refusal}", file=sys.stderr)
        sys.exit(refusal.code)
    except KeyboardInterrupt:
        sys.exit(int(Exit.INTERRUPTED))
    except BrokenPipeError:  # the reader of our output left (`octant … | head`)
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(int(Exit.CANNOT_RUN))
