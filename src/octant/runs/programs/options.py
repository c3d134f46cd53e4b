"""Options of a user's program, as text and as parts of a request."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from octant.failure import Exit, Refusal
from octant.program import ProgramProfile
from octant.request import Subject
from octant.runs.programs import grammar

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

MAX_WORDS = 100_000
"""Maximum number of arguments of a command line."""


@dataclass(frozen=True)
class ProgramOptions:
    """Options of `octant run` for a program, as the user wrote them; each field is an option."""

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
        """The options as command-line arguments."""
        return self._words([field.name for field in fields(self)])

    @property
    def shown_words(self) -> list[str]:
        """The options in the title of a run: variables and standard input."""
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

    def subject(
        self, command: Sequence[str], program: str = "", directory: str = "", profile: ProgramProfile | None = None
    ) -> Subject:
        """Return the subject of a request with these options.

        Args:
            command: the command line.
            program: name of the program after the launcher.
            directory: working directory of the program.
            profile: recording of its MPI calls; `None`: only if a value is one of the profile.

        Raises:
            Refusal: an option is invalid.
        """
        if not command or not command[0]:
            raise Refusal("the command line after -- is missing; try octant run -- ./app", Exit.WRONG_WORD)
        if len(command) > MAX_WORDS or any("\0" in word for word in command):
            why = "it is too long, or contains a null byte"
            raise Refusal(f"cannot run this command line ({why}); use a script instead", Exit.WRONG_WORD)
        checks, statuses = grammar.read_checks(self.check)
        values = grammar.read_values(self.value)
        implied = ProgramProfile() if any(value.region or value.call for value in values) else None
        return Subject(
            command=tuple(command),
            program=program,
            environment=grammar.read_variables(self.env),
            input=self.input,
            directory=directory,
            fresh=self.fresh_dir,
            values=values,
            checks=checks,
            statuses=statuses,
            keep=tuple(grammar.read_file(text, "keep") for text in self.keep),
            before=tuple(grammar.read_command(text, "before") for text in self.before),
            after=tuple(grammar.read_command(text, "after") for text in self.after),
            profile=profile or implied,
        )


def option_words(name: str, values: Iterable[str]) -> list[str]:
    """Return an option with each of its values as arguments; a value that begins with a dash is joined with `=`."""
    found: list[str] = []
    for value in values:
        found += [f"{name}={value}"] if value.startswith("-") else [name, value]
    return found
