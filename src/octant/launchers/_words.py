"""The two grammars with which launchers read their options: whole words, and getopt_long."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field

from octant.launchers._tables import OptionFacts, Table

_NEAR = 2
"""Letters in which an option may differ from the one that was meant."""
NO_PROGRAM = "it prints information and starts no program"
PROGRAMS_IN_A_FILE = "the programs are in a file"


@dataclass
class ParsedOptions:
    """The options of a command line, and where the first word behind them is."""

    end: int
    values: dict[str, list[str]] = field(default_factory=dict)  # of the last occurrence, by name
    spelt: dict[str, str] = field(default_factory=dict)  # the last word that states the option
    all_values: list[tuple[str, list[str]]] = field(default_factory=list)  # of every occurrence, in order
    occurrences: list[tuple[str, OptionFacts]] = field(default_factory=list)  # the word and the option of each of them

    def add(self, word: str, option: OptionFacts, values: list[str]) -> None:
        """Record one occurrence of an option."""
        self.values[option.name], self.spelt[option.name] = values, word
        self.all_values.append((option.name, values))
        self.occurrences.append((word, option))

    def last(self, *names: str) -> str | None:
        """Return the value of the option that was given last among these names; `None`: none of them was given."""
        return next((values[0] for name, values in reversed(self.all_values) if name in names and values), None)

    def without(self, name: str) -> "ParsedOptions":
        """Return the same options except one."""
        return ParsedOptions(
            self.end,
            {key: value for key, value in self.values.items() if key != name},
            {key: value for key, value in self.spelt.items() if key != name},
            [one for one in self.all_values if one[0] != name],
            [one for one in self.occurrences if one[1].name != name],
        )


def unknown(word: str, options: Collection[str] = ()) -> ValueError:
    """Return the error of an option that the table does not contain, with the nearest one that it contains."""
    name = word.lstrip("-").partition("=")[0]
    dashes = word[: len(word) - len(word.lstrip("-"))]
    near = [(_distance(name, one), one) for one in options if abs(len(one) - len(name)) <= _NEAR and len(one) > _NEAR]
    best = min(near, default=(_NEAR + 1, ""))
    hint = f"; did you mean {dashes}{best[1]}?" if best[0] <= _NEAR < len(name) else ""
    return ValueError(f"{word} is an unknown option{hint}")


def _distance(one: str, other: str) -> int:
    """Return the number of letters to insert, remove or replace that make one word the other."""
    row = list(range(len(other) + 1))
    for at, letter in enumerate(one, 1):
        above, row = row, [at]
        for i, wanted in enumerate(other):
            row.append(min(above[i] + (letter != wanted), above[i + 1] + 1, row[i] + 1))
    return row[-1]


def scan(
    words: Sequence[str],
    options: Table,
    split: Callable[[str], tuple[str, str | None]],
    assigning: Collection[str] = (),
) -> ParsedOptions:
    """Read the options of a launcher that compares whole words, up to the first word without a dash, or behind `--`.

    Args:
        words: the command line.
        options: the launcher's options. A table that contains the name `""` accepts `--` as the end of the options.
        split: name of an option, and the value in the same word, `None`: no value; it raises ValueError where the
            launcher does not accept this spelling.
        assigning: names of options whose two values may be one word, `NAME=VALUE`.

    Raises:
        ValueError: an unknown option, one with which no program starts, or a missing value.
    """
    given = ParsedOptions(1)
    while given.end < len(words) and words[given.end].startswith("-"):
        word = words[given.end]
        if word == "--" and "" in options:
            given.end += 1
            break
        name, value = split(word)
        option = options.get(name)
        if option is not None and option.effect == "refused":
            raise ValueError(f"{word}: {option.reason}")
        if not name or option is None or (value is not None and option.values == 0):
            raise unknown(word, options)
        values = [] if value is None else [value]
        missing = max(0, option.values - len(values))
        if option.name in assigning and "=" in (value or "".join(words[given.end + 1 : given.end + 2])):
            missing = max(0, missing - 1)
        if given.end + missing >= len(words):
            raise ValueError(f"{word} has no value")
        values += words[given.end + 1 : given.end + 1 + missing]
        given.add(word, option, values)
        given.end += 1 + missing
    return given


def getopt(
    words: Sequence[str], options: Table, begin: int = 1, *, abbreviated: bool = True, one_dash: bool = False
) -> ParsedOptions:
    """Read options as getopt_long(3) does with `+`: `--name value`, `--name=value`, `-n value`, `-nvalue`, `-ab`.

    Args:
        words: the command line.
        options: 0, 1 or `OPTIONAL` values each; names of one letter are short options.
        begin: index of the first option.
        abbreviated: whether the beginning of a long name is accepted where it is unambiguous; the table must be
            complete then.
        one_dash: whether a long name may follow one dash, as getopt_long_only(3) reads it.

    Raises:
        ValueError: an unknown or ambiguous option, one with which no program starts, a missing value, or a value of an
            option that has none.
    """
    given = ParsedOptions(begin)
    while given.end < len(words) and words[given.end].startswith("-") and words[given.end] != "-":
        word, given.end = words[given.end], given.end + 1
        if word == "--":
            break
        for option, value in _named(word, options, abbreviated=abbreviated, one_dash=one_dash):
            if option.effect == "refused":
                raise ValueError(f"{word}: {option.reason}")
            if value is None and option.values == 1:
                if given.end >= len(words):
                    raise ValueError(f"{word} has no value")
                value, given.end = words[given.end], given.end + 1  # noqa: PLW2901 - the next word is its value
            given.add(word, option, [] if value is None else [value])
    return given


def _named(word: str, options: Table, *, abbreviated: bool, one_dash: bool) -> list[tuple[OptionFacts, str | None]]:
    """Return the options in one word, the last one with the value in the same word."""
    long = {spelt: one for spelt, one in options.items() if len(spelt) > 1}
    if word.startswith("--") or (one_dash and word[1:].partition("=")[0] in long):
        name, equals, value = word.lstrip("-").partition("=")
        option = long.get(name)
        if option is None and abbreviated and name:
            begun = {one.name: one for spelt, one in long.items() if spelt.startswith(name)}
            if len(begun) > 1:
                raise ValueError(f"{unknown(word)}; it is ambiguous: {', '.join(sorted(begun))}")
            option = next(iter(begun.values()), None)
        if option is None or (equals and option.values == 0):
            raise unknown(word, long)
        return [(option, value if equals else None)]
    found: list[tuple[OptionFacts, str | None]] = []
    for at, letter in enumerate(word[1:], 2):
        if letter not in options:
            raise unknown(word if len(word) == 2 else f"-{letter} in {word}")
        option = options[letter]
        if option.values != 0:
            return [*found, (option, word[at:] or None)]
        found.append((option, None))
    return found


def program_index(words: Sequence[str], given: ParsedOptions) -> int:
    """Return the index of the word that names the program.

    Raises:
        ValueError: no program, or several, which launchers separate by `:`.
    """
    if given.end >= len(words) or not words[given.end]:
        raise ValueError("no program given")
    if ":" in words[given.end :]:
        raise ValueError("several programs, separated by ':', are not supported")
    return given.end
