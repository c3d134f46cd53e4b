"""Commands that take the command line of a program after `--`, and the options of a program."""

from __future__ import annotations

import inspect
import itertools
import typing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from octant.cli import _hints
from octant.cli._help import PageCommand, PageGroup
from octant.cli._options import options_under
from octant.failure import Exit, Refusal

if TYPE_CHECKING:
    from collections.abc import Callable

    from octant.runs.programs.options import ProgramOptions

PROGRAM = "Own program (command line after --)"
"""Heading of options."""
_WORDS, _OWN = "octant.program", "octant.program.own"

program_option = options_under(PROGRAM)
_OPTIONS: dict[str, tuple[Any, object]] = {
    "value": (
        Annotated[
            list[str] | None,
            program_option(
                "--value",
                metavar="NAME=REGEX",
                help="Read a number from the output: group 1 of the last match (repeatable). Also "
                "NAME[UNIT,lower,FILE]=REGEX, NAME=json:PATH and region:NAME (MPI profile).",
            ),
        ],
        None,
    ),
    "check": (
        Annotated[
            list[str] | None,
            program_option(
                "--check",
                metavar="CHECK",
                help="Check the result (repeatable): 'NAME within 1e-9', 'NAME within 1% of 5', "
                "'NAME within 1 absolute', 'file PATH', 'file PATH = REFERENCE', 'command COMMAND' or exit=N.",
            ),
        ],
        None,
    ),
    "env": (
        Annotated[
            list[str] | None,
            program_option(
                "--env", metavar="NAME=VALUE", help="Set an environment variable for the program (repeatable)."
            ),
        ],
        None,
    ),
    "input": (
        Annotated[
            str, program_option("--input", metavar="FILE", help="Standard input of the program [default: empty].")
        ],
        "",
    ),
    "fresh_dir": (
        Annotated[bool, program_option("--fresh-dir", help="Run each launch in a new copy of the current directory.")],
        False,
    ),
    "keep": (
        Annotated[
            list[str] | None,
            program_option("--keep", metavar="PATTERN", help="Store matching output files with the run (repeatable)."),
        ],
        None,
    ),
    "before": (
        Annotated[
            list[str] | None,
            program_option(
                "--before", metavar="COMMAND", help="Run this command before each launch, untimed (repeatable)."
            ),
        ],
        None,
    ),
    "after": (
        Annotated[
            list[str] | None,
            program_option(
                "--after", metavar="COMMAND", help="Run this command after each launch, untimed (repeatable)."
            ),
        ],
        None,
    ),
}
"""Parameters of a program's options, each with its default."""


@dataclass(frozen=True)
class ProgramWords:
    """The command line after `--`, and the options of the program."""

    command: tuple[str, ...] | None  # `None`: there is no `--`
    given: typing.Mapping[str, Any]  # options of the program, by name
    own: tuple[str, ...] = ()  # the arguments before `--`, as typed
    typed: frozenset[str] = frozenset()  # names of the other parameters among them
    subcommand: str = ""  # of a group: it follows

    @property
    def options(self) -> ProgramOptions:
        """The options as `runs.programs.program_request.request_program` takes them."""
        from octant.runs.programs.options import ProgramOptions

        given: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in self.given.items() if value
        }
        return ProgramOptions(**given)

    def refuse_alone(self, example: str, show_output: bool = False) -> None:
        """Refuse options of a program that were given without one.

        Args:
            example: a correct command line without its options.
            show_output: whether `--show-output` was given.

        Raises:
            Refusal: there is such an option.
        """
        if options := [*self.options.words, *(["--show-output"] if show_output else [])]:
            from octant.program import shell_text

            why = "it applies to a program, but there is no command line after --"
            text = f"{example} {shell_text(options)} -- ./app"
            raise Refusal(f"cannot use {options[0]} ({why}); try {text}", Exit.WRONG_WORD)

    def refuse_with_subcommand(self, group: str) -> None:
        """Refuse options of a group, or a command line after --, that were given with one of its commands.

        Raises:
            Refusal: there is one.
        """
        if self.command is not None:
            why = f"{self.subcommand} shows a stored run"
            raise Refusal(f"cannot start a program ({why}); try {group} -- ./app", Exit.WRONG_WORD)
        names = [f"--{name.replace('_', '-')}" for name in sorted(self.typed | {n for n, v in self.given.items() if v})]
        if names:
            why = f"it precedes {self.subcommand}, which does not use it"
            raise Refusal(f"cannot use {names[0]} ({why}); write options after {self.subcommand}", Exit.WRONG_WORD)


class ProgramCommand(PageCommand):
    """A command that takes the command line of a program after `--`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Store the arguments after the first `--` for `program_words`, and parse the others."""
        if "--" in args:
            at = args.index("--")
            ctx.meta[_WORDS], ctx.meta[_OWN] = tuple(args[at + 1 :]), tuple(args[:at])
            args = args[:at]
        return super().parse_args(ctx, args)


class ProgramGroup(PageGroup):
    """A group that takes the command line of a program after `--`, or one of its commands."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Store the arguments after the first `--` for `program_words`, and parse the others."""
        if "--" in args:
            at = args.index("--")
            ctx.meta[_WORDS], ctx.meta[_OWN] = tuple(args[at + 1 :]), tuple(args[:at])
            args = args[:at]
        declared = {word for parameter in self.get_params(ctx) for word in parameter.opts}
        own = list(itertools.takewhile(lambda word: word not in self.commands, args))
        _hints.refuse_foreign_options(ctx.info_name, own, declared)
        return super().parse_args(ctx, args)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the command.

        Raises:
            Refusal: it does not exist; `--` may be missing before a program.
        """
        if args and self.get_command(ctx, args[0]) is None:
            from octant.program import shell_text

            names = " or ".join(self.commands)
            line = f"octant {ctx.info_name} -- {shell_text(args)}"
            why = f"the only command of octant {ctx.info_name} is {names}"
            raise Refusal(f"cannot run {args[0]!r} ({why}); to start a program: {line}", Exit.WRONG_WORD)
        return super().resolve_command(ctx, args)


def program_words(context: Any) -> tuple[str, ...] | None:
    """Return the arguments after `--` from the context of a command; `None` if there is no `--`."""
    found: tuple[str, ...] | None = context.meta.get(_WORDS)
    return found


def own_words(context: Any) -> tuple[str, ...]:
    """Return the arguments between the name of a command and the first `--`, as typed."""
    found: tuple[str, ...] = context.meta.get(_OWN, ())
    return found


def _is_typed(context: Any, name: str) -> bool:
    """Return whether a parameter was given on the command line."""
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def takes_program(function: Callable[..., None]) -> Callable[..., None]:
    """Return the function of a `ProgramCommand` with the options of a program as further parameters.

    Args:
        function: takes `program: ProgramWords` instead of these options.
    """
    hints = typing.get_type_hints(function, {**function.__globals__, "ProgramWords": ProgramWords}, include_extras=True)
    own = [one for one in inspect.signature(function).parameters.values() if one.name != "program"]
    parameters = {one.name: (hints[one.name], one.default) for one in own} | _OPTIONS

    def command(context: typer.Context, **given: Any) -> None:
        options = {name: given.pop(name) for name in _OPTIONS}
        typed = frozenset(name for name in given if _is_typed(context, name))
        command_line, subcommand = program_words(context), context.invoked_subcommand or ""
        function(program=ProgramWords(command_line, options, own_words(context), typed, subcommand), **given)

    command.__name__, command.__doc__ = function.__name__, function.__doc__
    command.__annotations__ = {"context": typer.Context, **{name: kind for name, (kind, _) in parameters.items()}}
    command.__annotations__["return"] = None
    keyword = inspect.Parameter.KEYWORD_ONLY
    command.__dict__["__signature__"] = inspect.Signature(
        [
            inspect.Parameter("context", keyword, annotation=typer.Context),
            *(
                inspect.Parameter(name, keyword, default=default, annotation=kind)
                for name, (kind, default) in parameters.items()
            ),
        ]
    )
    return command
