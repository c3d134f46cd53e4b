"""Lines of a shell that begin with `octant`: read by the command line as it is, without doing what they ask for."""

import shlex
from collections.abc import Iterator
from typing import Any

import typer.main

from octant.cli import application


def commands() -> dict[str, Any]:
    """Every command by its words, groups and `octant` itself (the empty words) included."""
    return dict(_below("", typer.main.get_command(application())))


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


def read(line: str) -> None:
    """Lets the command line read a line: its commands, options, and their values, and nothing more.

    Raises:
        Exception: click's or typer's `UsageError`, whose classes differ between versions of typer.
    """
    every = commands()
    for command in every.values():
        if not getattr(command, "commands", None):
            command.callback = lambda **_: None
    every[""].main(args=words_of(line), prog_name="octant", standalone_mode=False)
