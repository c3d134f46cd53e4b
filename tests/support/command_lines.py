"""Lines of a shell that begin with `octant`: read by the command line as it is, without doing what they ask for."""

import functools
import shlex
from collections.abc import Iterator
from typing import Any

import typer.main

from octant.cli import application


@functools.cache
def commands() -> dict[str, Any]:
    """Every command by its words, groups and `octant` itself (the empty words) included."""
    return dict(_below("", typer.main.get_command(application())))


@functools.cache
def _idle() -> Any:
    """The command, of which no part does anything."""
    root = typer.main.get_command(application())
    for _, command in _below("", root):
        if not getattr(command, "commands", None) or command.invoke_without_command:
            command.callback = lambda **_: None
    return root


def _below(words: str, command: Any) -> Iterator[tuple[str, Any]]:
    yield words, command
    for name, inner in getattr(command, "commands", {}).items():
        yield from _below(f"{words} {name}".strip(), inner)


def words_of(line: str) -> list[str]:
    """The words after `octant`, as a shell splits them: without what it would send elsewhere, or do before or next.

    Raises:
        ValueError: the line does not begin with `octant`.
    """
    words = shlex.split(line, comments=True)
    if words[:1] != ["octant"]:
        raise ValueError(f"no line of octant: {line}")
    ends = [number for number, word in enumerate(words) if word in ("&&", "||", "|", ";", ">", "2>", "2>/dev/null")]
    return words[1 : min(ends, default=len(words))]


def is_name(line: str) -> bool:
    """Whether a line names a command, or options of one, without being complete: `octant run`, `octant run --mpi`."""
    words, every = words_of(line), commands()
    count = max(count for count in range(len(words) + 1) if " ".join(words[:count]) in every)
    command, rest = every[" ".join(words[:count])], words[count:]
    options = {name for parameter in command.params for name in parameter.opts}
    return bool(words) and all(word in options for word in rest)


def read(line: str) -> None:
    """Lets the command line read a line: its commands, options, and their values, and nothing more.

    Raises:
        Exception: click's or typer's `UsageError`, whose classes differ between versions of typer.
    """
    _idle().main(args=words_of(line), prog_name="octant", standalone_mode=False)
