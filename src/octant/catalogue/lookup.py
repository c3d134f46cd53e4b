"""Search of published settings by name, flag of a set, alias, or name of a current counterpart."""

import functools
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from octant.catalogue import Setting, settings

_MAX_EDITS = 2
_LETTERS_PER_EDIT = 4  # two differing letters in a word of five letters are not a misspelling
_MAX_SUGGESTIONS = 3


@dataclass(frozen=True)
class _Words:
    """Words and whole phrases by which a setting is found."""

    names: frozenset[str]
    systems: frozenset[str]


def search(text: str) -> tuple[Setting, ...]:
    """Return the settings that match a word or phrase, exact names first.

    Case, leading `-` and `#@` are ignored. Whole words in the names of settings or counterparts are tried first; then
    prefixes of words, also of systems; then `-`, `_` and blanks are treated as equal.
    """
    wanted = plain(text)
    parts = wanted.split()
    if not parts:
        return ()
    steps: tuple[Callable[[_Words], bool], ...] = (
        lambda held: wanted in held.names or held.names.issuperset(parts),
        lambda held: len(wanted) > 1 and any(word.startswith(wanted) for word in held.names | held.systems),
        lambda held: _loose(wanted) in {_loose(word) for word in held.names | held.systems},
    )
    for fits in steps:
        if found := [setting for setting, held in _index() if fits(held)]:
            return tuple(sorted(found, key=lambda setting: (setting.name != text, not is_named(setting, text))))
    return ()


def is_whole_word(text: str) -> bool:
    """Return whether a text is a whole word of settings, not only a prefix of one or of a system's name."""
    wanted = plain(text)
    return any(wanted in held.names or held.names.issuperset(wanted.split()) for _, held in _index())


def is_today(text: str) -> bool:
    """Return whether a text is the name of a current counterpart of published settings."""
    wanted = plain(text)
    return any(wanted in map(plain, c.name.split(", ")) for setting in settings() for c in setting.counterparts)


def is_named(setting: Setting, text: str) -> bool:
    """Return whether this is the name of the setting."""
    return plain(setting.name) == plain(text)


def documented_words() -> Iterator[str]:
    """Yield every word by which a published setting is found: names, flags, values and current counterparts."""
    for setting in settings():
        for held in (setting.name, *setting.aliases, setting.neutral, *(c.name for c in setting.counterparts)):
            yield from (*held.split(", "), *_pieces(held))


def similar(text: str, known: Iterable[str]) -> list[str]:
    """Return up to three known words that differ in at most two letters, or have the same parts in another order.

    Case, leading `-`, and `_` for `-` are ignored. A letter may be inserted, omitted, replaced or exchanged with its
    neighbour; short words may differ in one letter for every four.
    """
    wanted = _compared(text)
    words = {_compared(word): word for word in known}
    most = min(_MAX_EDITS, len(wanted) // _LETTERS_PER_EDIT)
    parts = sorted(wanted.split("-"))
    same = [words[word] for word in words if len(parts) > 1 and sorted(word.split("-")) == parts]
    near = sorted((edits(wanted, word, most), words[word]) for word in words if word not in (wanted, ""))
    return list(dict.fromkeys([*same, *(word for count, word in near if count <= most)]))[:_MAX_SUGGESTIONS]


def edits(one: str, other: str, most: int) -> int:
    """Return the edit distance of two words (insert, omit, replace, exchange neighbours), at most `most` + 1."""
    if abs(len(one) - len(other)) > most:
        return most + 1
    differing = Counter(one)
    differing.subtract(other)
    if sum(map(abs, differing.values())) > 2 * most:
        return most + 1
    earlier: list[int] = []
    before = list(range(len(other) + 1))
    for row, letter in enumerate(one, 1):
        line = [row]
        for column, theirs in enumerate(other, 1):
            best = min(line[-1] + 1, before[column] + 1, before[column - 1] + (letter != theirs))
            if row > 1 and column > 1 and letter == other[column - 2] and one[row - 2] == theirs:
                best = min(best, earlier[column - 2] + 1)
            line.append(best)
        earlier, before = before, line
    return min(before[-1], most + 1)


def _compared(text: str) -> str:
    return text.strip().lower().lstrip("-").replace("_", "-")


def plain(text: str) -> str:
    """Return a word in lower case without leading `-`, `#@` and Open MPI's prefix."""
    return text.lower().strip(" ,.;:…").lstrip("-#@ ").removeprefix("ompi_mca_")


def _pieces(text: str) -> list[str]:
    """Return the words of a text; for `NAME=VALUE` also both parts."""
    found = re.split(r"[\s,;/@()]+", text)
    return [piece for word in found for piece in (word, *word.split("=")) if piece]


def _terms(texts: Iterable[str]) -> frozenset[str]:
    return frozenset(plain(word) for text in texts for word in (text, *_pieces(text))) - {""}


@functools.cache
def _index() -> tuple[tuple[Setting, _Words], ...]:
    return tuple((setting, _words(setting)) for setting in settings())


def _words(setting: Setting) -> _Words:
    today = setting.counterparts
    names = (setting.name, setting.value, setting.neutral, *setting.aliases, *(c.name for c in today))
    return _Words(_terms(names), _terms((setting.system, *(c.system for c in today))))


def _loose(word: str) -> str:
    return re.sub(r"[-_ ]+", " ", word)
