"""Placeholders `{name}` in the command line of a program, its variables and its file names."""

import re
from collections.abc import Iterable, Mapping

from octant.request import Launch, Request, Subject

PLACEHOLDER = re.compile(r"\{(\w+)\}")


def start_values(launch: Launch) -> dict[str, str]:
    """Return the values of placeholders for a start of one cell: its knobs, and `ranks`."""
    return cell_values(launch.request, launch.started_knobs)


def cell_values(request: Request, cell: Mapping[str, str]) -> dict[str, str]:
    """Return the values of placeholders for one cell of a request: its knobs, and `ranks`."""
    return {"ranks": str(request.shape.ranks), **cell}


def fill_text(text: str, known: Mapping[str, str]) -> str:
    """Replace `{name}` by the value of that name; other braces remain unchanged."""
    return PLACEHOLDER.sub(lambda found: known.get(found[1], found[0]), text)


def fill_words(words: Iterable[str], known: Mapping[str, str]) -> list[str]:
    """Replace the placeholders in each word."""
    return [fill_text(word, known) for word in words]


def placeholder_names(subject: Subject) -> set[str]:
    """Return the names of all placeholders of a program: in its commands, variables, checks and file names."""
    texts = [*subject.command, *subject.environment.values(), subject.input]
    texts += [word for words in (*subject.before, *subject.after) for word in words]
    texts += [word for check in subject.checks for word in (*check.command, check.file, check.reference)]
    texts += [*subject.keep, *(value.source for value in subject.values)]
    return {name for text in texts for name in PLACEHOLDER.findall(text)}
