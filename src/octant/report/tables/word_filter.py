"""Entries of a list that contain all words of a search."""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from octant.failure import Exit, Refusal, near

_Entry = TypeVar("_Entry")
_IGNORED = {"a", "an", "and", "at", "by", "for", "in", "of", "on", "or", "per", "the", "to", "with"}
"""Words of a search that are ignored, unless there are no others."""
_TOKEN = re.compile(r"[^\W_][\w./-]{2,}")


def select_entries(
    entries: Iterable[_Entry], words: Sequence[str], text_of: Callable[[_Entry], str], noun: str, command: str
) -> list[_Entry]:
    """Return the entries whose text contains all words; the case is ignored. Without words, return all entries.

    Args:
        entries: of the list.
        words: of the search; an argument with blanks counts as several words.
        text_of: returns the text of an entry that is searched.
        noun: of one entry, for the error message: `study`.
        command: that prints the whole list.

    Raises:
        Refusal: no entry contains all words; the message names the nearest words and the command of the whole list.
    """
    every = [(entry, text_of(entry).lower()) for entry in entries]
    given = [word.lower() for text in words for word in text.split()]
    sought = [word for word in given if word not in _IGNORED] or given
    found = [entry for entry, text in every if all(word in text for word in sought)]
    if found or not words:
        return found
    unknown = [word for word in sought if not any(word in text for _, text in every)]
    known = {token for _, text in every for token in _TOKEN.findall(text)}
    close = {word: alike for word in unknown if (alike := near(word, sorted(known)))}
    several = len(sought) > 1
    hints = [f"did you mean {' or '.join(alike)}{f' instead of {word}' * several}?" for word, alike in close.items()]
    listed = f"`{command}` lists all"
    if not hints and len(sought) > 1:
        listed = f"use fewer words, or `{command}` lists all"
    why = f"no {noun} contains {' and '.join(repr(word) for word in sought)}"
    raise Refusal(f"{why}; {' '.join((*hints, listed))}", Exit.WRONG_WORD)
