"""Lines of a shell as assignments and arguments, and the integers in them."""

import re
import shlex
from dataclasses import dataclass

LONGEST_OPTIONS = 1 << 16
"""Characters of lines of options; rank files and map files may be longer."""
MAX_RANKS = 1 << 12
"""Of one node, and threads of one of its ranks."""
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")


@dataclass(frozen=True)
class CommandLine:
    """A command line: the assignments before it, and its arguments, the program first."""

    variables: dict[str, str]
    arguments: list[str]

    def option(self, *names: str) -> str | None:
        """Return the value of the first of these options, as `-x v`, `--x=v` or `-xv` for one-letter ones."""
        for i, word in enumerate(self.arguments):
            for name in names:
                if word == name:
                    return self.arguments[i + 1] if i + 1 < len(self.arguments) else ""
                if word.startswith(name + "="):
                    return word[len(name) + 1 :]
                if re.fullmatch(r"-\w", name) and re.fullmatch(re.escape(name) + r"\d+", word):
                    return word[len(name) :]
        return None

    def number(self, *names: str, most: int = MAX_RANKS) -> int | None:
        """Return the value of the first of these options as a number from 1 to `most`.

        Raises:
            ValueError: it is none.
        """
        value = self.option(*names)
        return None if value is None else read_integer(names[0], value, most)

    def value(self, variable: str) -> str:
        """Return the value of a variable.

        Raises:
            ValueError: the text names it without setting it.
        """
        if variable not in self.variables:
            raise ValueError(
                f"cannot find {variable}=VALUE among the variables of these lines; add export {variable}=…"
            )
        return self.variables[variable]

    def threads(self) -> int | None:
        """OpenMP's number of threads, of the outermost level.

        Raises:
            ValueError: it is no number.
        """
        value = self.variables.get("OMP_NUM_THREADS", "").split(",")[0].strip()
        return read_integer("OMP_NUM_THREADS", value) if value else None

    def number_of(self, variable: str) -> int | None:
        """Return a variable's value as a number of at least 1.

        Raises:
            ValueError: it is none.
        """
        value = self.variables.get(variable)
        return None if value is None else read_integer(variable, value)


def read_integer(name: str, value: str, most: int = MAX_RANKS, least: int = 1) -> int:
    """Parse a number and check its bounds.

    Raises:
        ValueError: it is none.
    """
    if not re.fullmatch("[0-9]{1,9}", value) or not least <= int(value) <= most:
        raise ValueError(f"cannot read {name} {value[:60]}: it is not an integer from {least} to {most}")
    return int(value)


def read_line(text: str) -> CommandLine:
    """Parse assignments and arguments (`export A=b`, `A=b mpiexec -n 4 prog`); lines may end in `\\`.

    Raises:
        ValueError: too long, or with an open quotation.
    """
    if len(text) > LONGEST_OPTIONS:
        raise ValueError(
            f"cannot read lines of {len(text)} characters (at most {LONGEST_OPTIONS}); give the lines of one launch"
        )
    variables: dict[str, str] = {}
    words: list[str] = []
    for row in text.replace("\\\n", " ").splitlines():
        try:
            pieces = shlex.split(re.sub(r"^(export|env)\s+", "", row.strip()), comments=True)
        except ValueError as error:
            raise ValueError(f"cannot read {row.strip()!r} ({str(error).lower()})") from None
        begin = next((at for at, piece in enumerate(pieces) if not _ASSIGNMENT.match(piece)), len(pieces))
        variables |= dict(piece.split("=", 1) for piece in pieces[:begin])
        words += pieces[begin:]
    for at, word in enumerate(words[:-1]):  # `-x A=b` of Open MPI, `-genv A b` and `-genv A=b` of Hydra, `env A=b`
        if word in ("-x", "-env", "-genv", "--env", "--genv", "env"):
            name, equals, value = words[at + 1].partition("=")
            if equals or (word.endswith("env") and word != "env" and at + 2 < len(words)):
                variables.setdefault(name, value if equals else words[at + 2])
    return CommandLine(variables, words)
