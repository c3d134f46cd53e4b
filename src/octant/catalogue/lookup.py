"""Published settings by any word: their names, single flags of a set, further words, and the names of today."""

import functools
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from octant.catalogue import Setting, settings
from octant.failure import near


@dataclass(frozen=True)
class _Words:
    """Words and whole phrases that find a setting."""

    names: frozenset[str]
    systems: frozenset[str]


def search(text: str) -> tuple[Setting, ...]:
    """The settings that a word or phrase means, those of that name first; none where nothing fits.

    Case, leading `-` and `#@` do not count. Whole words come first, in the names of the settings or of their
    counterparts; then beginnings of words, also of systems; then `-`, `_` and blanks are alike.
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


def is_named(setting: Setting, text: str) -> bool:
    """Whether this is the name of the setting."""
    return plain(setting.name) == plain(text)


def nearest(text: str, further: Iterable[str] = ()) -> list[str]:
    """Up to three known words, or words of `further`, that resemble a word."""
    known = {plain(word): word for word in further}
    for setting in settings():
        for held in (setting.name, *setting.aliases, setting.neutral, *(c.name for c in setting.counterparts)):
            for word in (*held.split(", "), *_pieces(held)):
                known.setdefault(plain(word), word)
    known.pop("", None)  # a value or a neutral name that is not there, and pieces that are signs alone
    return [known[word] for word in near(plain(text), known)]


def plain(text: str) -> str:
    """A word as it is compared: lower case, without `-`, `#@` and Open MPI's prefix before it."""
    return text.lower().strip(" ,.;:…").lstrip("-#@ ").removeprefix("ompi_mca_")


def _pieces(text: str) -> list[str]:
    """A text's words; of `NAME=VALUE` the whole and both parts."""
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
