"""Pages of `--help`: options and commands in groups, then examples.

The groups are typer's help panels. Typer itself draws them only with rich, whose loading takes as long as all the rest.
"""

from __future__ import annotations

import re
from typing import Any

from typer.core import TyperCommand, TyperGroup

from octant.cli import _hints
from octant.failure import Refusal
from octant.registry import Broken

MAX_IN_ONE_LIST = 8
"""Largest number of options in one list; more options are shown in groups."""

MEASURE, SEE, MACHINE, PLACE, STUDY, PREDICT = COMMANDS = (
    "Measurement",
    "Results",
    "Machine and settings",
    "Placement",
    "Studies",
    "Prediction",
)
"""Headings of the commands of `octant`, in their order."""

OUTPUT = "Output and store"
"""Heading of options without a declared heading, such as `--help`."""

FILES = "Report files"
"""Heading of options for pages and charts."""

_MARGINS = 4
"""Characters before and between the columns of a list."""


_KINDS = {
    **dict.fromkeys(("<int range>", "<float range>", "INTEGER RANGE", "FLOAT RANGE"), "N"),
    **dict.fromkeys(("<list[str]>", "<str>"), "TEXT"),
    "<path>": "PATH",
}
"""Names of value types: of typer's versions, and in our help."""


class PageCommand(TyperCommand):
    """A command whose help shows option groups and examples."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments; refuse options of other tools with a substitute."""
        _hints.refuse_launcher_line(_words(ctx), args)
        declared = {word for parameter in self.get_params(ctx) for word in parameter.opts}
        _hints.refuse_foreign_options(_words(ctx), args, declared)
        parsed: list[str] = super().parse_args(ctx, args)
        return parsed

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments and the options, in groups if there are many."""
        _write_parameters(self.get_params(ctx), ctx, formatter)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write the examples."""
        _write_examples(ctx, formatter)


class PageGroup(TyperGroup):
    """A group whose help shows commands under headings, and examples."""

    unusable: tuple[Broken, ...] = ()
    """Files of commands that cannot be loaded."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the command.

        Raises:
            Refusal: it does not exist, and the file of a command cannot be loaded.
        """
        if self.unusable and args and self.get_command(ctx, args[0]) is None:
            for one in self.unusable:
                if one.name == args[0]:
                    raise one.refusal("command")
            files = " and ".join(one.reason for one in self.unusable)
            why = f"no such command; these command modules cannot be loaded: {files}"
            raise Refusal(f"cannot run octant {args[0]!r} ({why}); correct or remove these files, or try octant --help")
        if ctx.parent is None and args and self.get_command(ctx, args[0]) is None:
            _hints.refuse_foreign_command(args[0])
        return super().resolve_command(ctx, args)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write first commands to try, commands under their headings, then options."""
        if ctx.parent is None:
            _write_first_commands(formatter)
        self.format_commands(ctx, formatter)
        _write_parameters(self.get_params(ctx), ctx, formatter)

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002 - as typer calls it
        """Write the commands under their headings, in columns of one width."""
        headings: dict[str, list[tuple[str, str]]] = {heading: [] for heading in COMMANDS}
        width = max(map(len, self.commands))
        for name, command in self.commands.items():
            heading = getattr(command, "rich_help_panel", None) or "Commands"
            row = (name.ljust(width), command.short_help or "")
            headings.setdefault(heading, []).append(row)
        headings["Command modules that cannot be loaded"] = [
            (one.name.ljust(width), one.reason) for one in self.unusable
        ]
        for heading, rows in headings.items():
            if rows:
                with formatter.section(heading):
                    formatter.write_dl(rows)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write the examples of a group below `octant`."""
        _write_examples(ctx, formatter)


def _words(ctx: Any) -> str:
    """Return the words of a command after `octant`: `study run`."""
    words: list[str] = []
    while ctx.parent is not None:
        words.insert(0, ctx.info_name)
        ctx = ctx.parent
    return " ".join(words)


def _write_parameters(parameters: list[Any], ctx: Any, formatter: Any) -> None:
    arguments: list[tuple[str, str]] = []
    headings: dict[str, list[tuple[str, str]]] = {}
    for parameter in parameters:
        record = _simplify_types(parameter.get_help_record(ctx))
        if record and parameter.param_type_name == "argument":
            arguments.append((record[0].removesuffix(" TEXT"), record[1]))
        elif record:
            headings.setdefault(getattr(parameter, "rich_help_panel", None) or OUTPUT, []).append(record)
    if sum(map(len, headings.values())) <= MAX_IN_ONE_LIST:
        headings = {"Options": [record for records in headings.values() for record in records]}
    if arguments:
        headings = {"Arguments": arguments, **headings}
    for heading, records in headings.items():
        with formatter.section(heading):
            formatter.write_dl(records)


def _simplify_types(record: tuple[str, str] | None) -> tuple[str, str] | None:
    """Return a row of the help with `N` for numeric types and ranges as `1 to 9`."""
    if record is None:
        return None
    name, text = record
    for kind, word in _KINDS.items():
        name = name.replace(kind, word)
    return name.rstrip(), re.sub(r"([\d.]+)<=x<=([\d.]+)", r"\1 to \2", text)


def _write_first_commands(formatter: Any) -> None:
    from octant.cli._examples import WAYS_IN

    width = max(len(example.line) for way in WAYS_IN for example in way.examples)
    for way in WAYS_IN:
        with formatter.section(way.who):
            formatter.write_dl([(example.line.ljust(width), example.gives) for example in way.examples], col_max=width)


def _write_examples(ctx: Any, formatter: Any) -> None:
    """Write command lines with their explanations: to the right, or below if a line is too long."""
    from octant.cli._examples import EXAMPLES

    if not (examples := EXAMPLES.get(_words(ctx))):
        return
    width = max(len(example.line) for example in examples)
    with formatter.section("Examples"):
        if width + max(len(example.gives) for example in examples) <= formatter.width - _MARGINS:
            formatter.write_dl(examples, col_max=width)
            return
        for example in examples:
            formatter.write(f"  {example.line}\n      {example.gives}\n")
