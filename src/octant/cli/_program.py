"""Commands that take the command line of a program behind `--`, and the options of a program."""

from __future__ import annotations

import inspect
import typing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from octant.cli._help import PageCommand
from octant.cli._options import options_under
from octant.failure import Exit, Refusal

if TYPE_CHECKING:
    from collections.abc import Callable

    from octant.runs.programs.options import ProgramOptions

PROGRAM = "A program of yours (behind --)"
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
                help="Number in the output: group 1 of the last match (repeatable); also "
                "NAME[UNIT,lower,FILE]=REGEX or =json:PATH.",
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
                help="'NAME within 1e-9', 'NAME within 1% of 5', 'NAME within 1 absolute', 'file PATH', "
                "'file PATH = REFERENCE', 'command WORDS' or exit=N (repeatable).",
            ),
        ],
        None,
    ),
    "env": (
        Annotated[
            list[str] | None,
            program_option("--env", metavar="NAME=VALUE", help="Environment variable of the launches (repeatable)."),
        ],
        None,
    ),
    "input": (
        Annotated[str, program_option("--input", metavar="FILE", help="Standard input [default: empty].")],
        "",
    ),
    "fresh_dir": (
        Annotated[bool, program_option("--fresh-dir", help="Run each launch in a fresh copy of the current folder.")],
        False,
    ),
    "keep": (
        Annotated[
            list[str] | None,
            program_option("--keep", metavar="PATTERN", help="Store these files with the run (repeatable)."),
        ],
        None,
    ),
    "before": (
        Annotated[
            list[str] | None,
            program_option("--before", metavar="COMMAND", help="Run this before each launch, untimed (repeatable)."),
        ],
        None,
    ),
    "after": (
        Annotated[
            list[str] | None,
            program_option("--after", metavar="COMMAND", help="Run this after each launch, untimed (repeatable)."),
        ],
        None,
    ),
}
"""Parameters of a program's options, each with its default."""


@dataclass(frozen=True)
class ProgramWords:
    """The command line behind `--` of a command, and the options of a program that were given with it."""

    command: tuple[str, ...] | None  # `None`: there is no `--`
    given: typing.Mapping[str, Any]  # by the names of the options
    own: tuple[str, ...] = ()  # the words in front of `--`, as they were typed
    typed: frozenset[str] = frozenset()  # names of the other parameters that stand among them

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
            example: a command line that is right, up to its options.
            show_output: whether `--show-output` was given.

        Raises:
            Refusal: there is such an option.
        """
        if options := [*self.options.words, *(["--show-output"] if show_output else [])]:
            from octant.program import shell_text

            why = "it is an option of a program, and no command line follows --"
            text = f"{example} {shell_text(options)} -- ./app"
            raise Refusal(f"cannot use {options[0]} ({why}); try {text}", Exit.WRONG_WORD)


class ProgramCommand(PageCommand):
    """A command that takes the command line of a program behind `--`, whose words are not its own arguments."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Keeps what stands behind the first `--` for `program_words`."""
        if "--" in args:
            at = args.index("--")
            ctx.meta[_WORDS], ctx.meta[_OWN] = tuple(args[at + 1 :]), tuple(args[:at])
            args = args[:at]
        return super().parse_args(ctx, args)


def program_words(context: Any) -> tuple[str, ...] | None:
    """The words behind `--` of a command, from its context; `None` if there is no `--`."""
    found: tuple[str, ...] | None = context.meta.get(_WORDS)
    return found


def own_words(context: Any) -> tuple[str, ...]:
    """The words between the name of a command and the first `--`, as they were typed."""
    found: tuple[str, ...] = context.meta.get(_OWN, ())
    return found


def _is_typed(context: Any, name: str) -> bool:
    """Whether a parameter stands in the command line."""
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def takes_program(function: Callable[..., None]) -> Callable[..., None]:
    """Return the function of a `ProgramCommand` with the options of a program as further parameters.

    Args:
        function: takes `program: ProgramWords` in place of these options.
    """
    hints = typing.get_type_hints(function, {**function.__globals__, "ProgramWords": ProgramWords}, include_extras=True)
    own = [one for one in inspect.signature(function).parameters.values() if one.name != "program"]
    parameters = {one.name: (hints[one.name], one.default) for one in own} | _OPTIONS

    def command(context: typer.Context, **given: Any) -> None:
        options = {name: given.pop(name) for name in _OPTIONS}
        typed = frozenset(name for name in given if _is_typed(context, name))
        function(program=ProgramWords(program_words(context), options, own_words(context), typed), **given)

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
