"""The command line: one file per command group, which parses arguments, calls one function and prints.

The folder is the registration. Commands import modules inside their functions, so that `octant --help` starts fast.
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
    """Return the application with all commands registered."""
    app = typer.Typer(
        name="octant",
        help="Measure a computer, compare it with its limits, and find better settings.",
        no_args_is_help=True,
        add_completion=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,  # markup would remove every [default: …], and is slow to load
        context_settings={"help_option_names": ["-h", "--help"]},
    )

    @app.callback(invoke_without_command=True)
    def octant(
        version: bool = typer.Option(False, "--version", help="Print the version and the commit, and exit."),
    ) -> None:
        if version:
            from octant.build.version import of_package

            print(f"octant {of_package()}")
            raise typer.Exit

    app.info.cls = _root_group(_register(app))
    _set_help_pages(app)
    return app


def _register(app: typer.Typer) -> tuple[Broken, ...]:
    """Add the commands of every file; return the unusable files and benchmark folders."""
    found = registry.entries(__name__, lambda module: registry.declared(module, "register"))
    failed = [
        one
        for name, module in found.working.items()
        if (one := registry.attempt_of(__name__, name, functools.partial(module.register, app)))
    ]
    return (*found.broken.values(), *failed, *benchmarks.entries().broken.values(), *_remove_name_clashes(app))


def _remove_name_clashes(app: typer.Typer) -> list[Broken]:
    """Remove the command of each benchmark that has the name of another command; return the folders of these."""
    own = [
        one for one in app.registered_commands if one.callback and one.callback.__module__ == f"{__name__}.benchmark"
    ]
    names = {one.name for one in app.registered_commands if one not in own} | {
        one.name for one in app.registered_groups
    }
    app.registered_commands = [one for one in app.registered_commands if one not in own or one.name not in names]
    hidden = [one for one in benchmarks.benchmarks().values() if one.command in names]
    return [
        one.unusable(f"the command {one.command} exists already; give the benchmark another name") for one in hidden
    ]


def _root_group(broken: tuple[Broken, ...]) -> type[_help.PageGroup]:
    """Return the group of all commands, with the files that cannot be loaded."""

    class Root(_help.PageGroup):
        """All commands."""

        unusable = broken

    return Root


def _set_help_pages(app: typer.Typer) -> None:
    """Set the classes that write help pages. Lists of commands show the whole first paragraph of each page."""
    for command in app.registered_commands:
        command.short_help = inspect.cleandoc(command.callback.__doc__ or "").split("\n\n")[0]
        if command.cls in (None, TyperCommand):
            command.cls = _help.PageCommand
    for group in app.registered_groups:
        if group.typer_instance:
            group.short_help = group.typer_instance.info.help
            if not (isinstance(group.cls, type) and issubclass(group.cls, _help.PageGroup)):
                group.cls = _help.PageGroup
            _set_help_pages(group.typer_instance)


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
    """Run the command `octant`."""
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
