"""The values of knobs in the words of a program's command line, its variables and the names of its files."""

import re
from collections.abc import Iterable, Mapping

from octant.ask import Ask, Launch, Subject

PLACE = re.compile(r"\{(\w+)\}")


def known_values(launch: Launch) -> dict[str, str]:
    """The names that braces may hold: the knobs of a start of one cell, and `ranks`."""
    return known_of(launch.ask, launch.started_knobs)


def known_of(ask: Ask, cell: Mapping[str, str]) -> dict[str, str]:
    """The same for the knobs of one cell of an ask."""
    return {"ranks": str(ask.shape.ranks), **cell}


def filled(text: str, known: Mapping[str, str]) -> str:
    """The text with `{name}` replaced by the value of that name; braces around anything else stay as they are."""
    return PLACE.sub(lambda found: known.get(found[1], found[0]), text)


def filled_words(words: Iterable[str], known: Mapping[str, str]) -> list[str]:
    """Each of the words, filled."""
    return [filled(word, known) for word in words]


def named(subject: Subject) -> set[str]:
    """The names that stand in braces in the command line, the variables or the name of the input file of a program."""
    texts = [*subject.command, *subject.environment.values(), subject.input]
    texts += [word for words in (*subject.before, *subject.after) for word in words]
    texts += [word for check in subject.checks for word in (*check.command, check.file, check.reference)]
    texts += [*subject.keep, *(value.source for value in subject.values)]
    return {name for text in texts for name in PLACE.findall(text)}
