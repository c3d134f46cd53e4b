"""The options of a user's program, as they were given and as parts of what is asked."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from octant.failure import Exit, Refusal
from octant.request import Subject
from octant.runs.programs import grammar

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

MOST_WORDS = 100_000
"""Of a command line."""


@dataclass(frozen=True)
class ProgramOptions:
    """The options of `octant run` that belong to a program, in the user's words; each field is an option."""

    value: tuple[str, ...] = ()
    check: tuple[str, ...] = ()
    env: tuple[str, ...] = ()
    input: str = ""
    fresh_dir: bool = False
    keep: tuple[str, ...] = ()
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()

    @property
    def words(self) -> list[str]:
        """The options as words of a command line."""
        return self._words([field.name for field in fields(self)])

    @property
    def shown_words(self) -> list[str]:
        """Those of the words that a title shows: what the program finds in its environment and reads."""
        return self._words(["env", "input"])

    def _words(self, names: Sequence[str]) -> list[str]:
        found: list[str] = []
        for option in names:
            name, given = f"--{option.replace('_', '-')}", getattr(self, option)
            if isinstance(given, bool):
                found += [name] if given else []
            else:
                found += option_words(name, (given,) if given and isinstance(given, str) else given)
        return found

    def subject(self, command: Sequence[str], program: str = "", directory: str = "") -> Subject:
        """Return what is started, with these options.

        Args:
            command: the words of the command line.
            program: the name of the program behind the launcher.
            directory: in which the program works.

        Raises:
            Refusal: an option has a mistake.
        """
        if not command or not command[0]:
            raise Refusal("cannot run a program (no word follows --); try octant run -- ./app", Exit.WRONG_WORD)
        if len(command) > MOST_WORDS or any("\0" in word for word in command):
            raise Refusal("cannot run this command line (it is too long, or contains a null byte)", Exit.WRONG_WORD)
        checks, statuses = grammar.read_checks(self.check)
        return Subject(
            command=tuple(command),
            program=program,
            environment=grammar.read_variables(self.env),
            input=self.input,
            directory=directory,
            fresh=self.fresh_dir,
            values=grammar.read_values(self.value),
            checks=checks,
            statuses=statuses,
            keep=tuple(grammar.read_file(text, "keep") for text in self.keep),
            before=tuple(grammar.read_command(text, "before") for text in self.before),
            after=tuple(grammar.read_command(text, "after") for text in self.after),
        )


def option_words(name: str, values: Iterable[str]) -> list[str]:
    """Return an option with each of its values as words; one that begins with a dash is joined to the option."""
    found: list[str] = []
    for value in values:
        found += [f"{name}={value}"] if value.startswith("-") else [name, value]
    return found
