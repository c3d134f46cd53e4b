"""Option tables of launchers, and the two grammars with which launchers read them: whole words, and getopt_long."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

OPTIONAL = -1
"""Number of values of an option whose value may be absent: it is then only read from the same word."""
NO_PROGRAM = "it prints about the launcher and starts no program"
PROGRAMS_IN_A_FILE = "the programs are in a file"


@dataclass
class Given:
    """The options of a command line, and where the first word behind them is."""

    end: int
    values: dict[str, list[str]] = field(default_factory=dict)  # of the last occurrence, by name
    spelt: dict[str, str] = field(default_factory=dict)  # the last word that states the option
    all_values: list[tuple[str, list[str]]] = field(default_factory=list)  # of every occurrence, in order

    def add(self, word: str, name: str, values: list[str]) -> None:
        """Record one occurrence of an option."""
        self.values[name], self.spelt[name] = values, word
        self.all_values.append((name, values))

    def last(self, *names: str) -> str | None:
        """Return the value of the option that was given last among these names; `None`: none of them was given."""
        return next((values[0] for name, values in reversed(self.all_values) if name in names and values), None)


def unknown(word: str) -> ValueError:
    """Return the error of an option that the table does not contain."""
    return ValueError(f"{word} is not an option of it that Octant knows")


def scan(
    words: Sequence[str],
    counts: Mapping[str, int],
    split: Callable[[str], tuple[str, str | None]],
    refused: Mapping[str, str],
    assigning: Collection[str] = (),
) -> Given:
    """Read the options of a launcher that compares whole words, up to the first word without a dash, or behind `--`.

    Args:
        words: the command line.
        counts: number of values by name of an option; `OPTIONAL`: one, in the same word, or none. A table that
            contains the name `""` accepts `--` as the end of the options.
        split: name of an option, and the value in the same word, `None`: no value; it raises ValueError where the
            launcher does not accept this spelling.
        refused: reasons by name of options with which no program, or more than one, would start.
        assigning: names of options whose two values may be one word, `NAME=VALUE`.

    Raises:
        ValueError: an unknown option, or a missing value.
    """
    given = Given(1)
    while given.end < len(words) and words[given.end].startswith("-"):
        word = words[given.end]
        if word == "--" and "" in counts:
            given.end += 1
            break
        name, value = split(word)
        if name in refused:
            raise ValueError(f"{word}: {refused[name]}")
        if not name or name not in counts or (value is not None and counts[name] == 0):
            raise unknown(word)
        values = [] if value is None else [value]
        missing = max(0, counts[name] - len(values))
        if name in assigning and "=" in (value or "".join(words[given.end + 1 : given.end + 2])):
            missing = max(0, missing - 1)
        if given.end + missing >= len(words):
            raise ValueError(f"{word} has no value")
        values += words[given.end + 1 : given.end + 1 + missing]
        given.add(word, name, values)
        given.end += 1 + missing
    return given


def getopt(
    words: Sequence[str],
    counts: Mapping[str, int],
    short: Mapping[str, str],
    refused: Mapping[str, str],
    begin: int = 1,
) -> Given:
    """Read options as getopt_long(3) does with `+`: `--name value`, `--name=value`, `-n value`, `-nvalue`, `-ab`.

    Abbreviated names, which getopt_long accepts where they are unambiguous, are refused.

    Args:
        words: the command line.
        counts: 0, 1 or `OPTIONAL` by long name.
        short: long names by letter.
        refused: reasons by long name.
        begin: index of the first option.

    Raises:
        ValueError: an unknown option, a missing value, or a value of an option that has none.
    """
    given = Given(begin)
    while given.end < len(words) and words[given.end].startswith("-") and words[given.end] != "-":
        word, given.end = words[given.end], given.end + 1
        if word == "--":
            break
        for name, value in _named(word, counts, short):
            if name in refused:
                raise ValueError(f"{word}: {refused[name]}")
            if value is None and counts[name] == 1:
                if given.end >= len(words):
                    raise ValueError(f"{word} has no value")
                value, given.end = words[given.end], given.end + 1  # noqa: PLW2901 - the next word is its value
            given.add(word, name, [] if value is None else [value])
    return given


def _named(word: str, counts: Mapping[str, int], short: Mapping[str, str]) -> list[tuple[str, str | None]]:
    """Return the options in one word by their long names, the last one with the value in the same word."""
    if word.startswith("--"):
        name, equals, value = word[2:].partition("=")
        if name not in counts or (equals and counts[name] == 0):
            raise unknown(word)
        return [(name, value if equals else None)]
    found: list[tuple[str, str | None]] = []
    for at, letter in enumerate(word[1:], 2):
        if letter not in short:
            raise unknown(word if len(word) == 2 else f"-{letter} in {word}")
        name = short[letter]
        if counts[name] != 0:
            return [*found, (name, word[at:] or None)]
        found.append((name, None))
    return found


def program_index(words: Sequence[str], given: Given) -> int:
    """Return the index of the word that names the program.

    Raises:
        ValueError: no program, or several, which launchers separate by `:`.
    """
    if given.end >= len(words) or not words[given.end]:
        raise ValueError("it names no program")
    if ":" in words[given.end :]:
        raise ValueError("it starts several programs, separated by :")
    return given.end
