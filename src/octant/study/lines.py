"""Where a key of a TOML text stands, so that a message can name the line."""

import re
from collections.abc import Sequence

_HEADER = re.compile(r"\s*(\[\[?)\s*(.+?)\s*\]\]?\s*(?:#.*)?$")
_ASSIGNMENT = re.compile(r"""\s*((?:[\w-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[\w-]+|"[^"]*"|'[^']*'))*)\s*=""")
_KEY = re.compile(r"""[\w-]+|"[^"]*"|'[^']*'""")


def line_of(text: str, path: Sequence[str]) -> int | None:
    """The first line of the deepest part of the path that the text shows; the n-th of `[[tables]]` is `tables`, `n`.

    `None` where not even the first part of the path is there.
    """
    best, depth = None, 0
    counts: dict[tuple[str, ...], int] = {}
    table: list[str] = []
    for number, line in enumerate(text.splitlines(), start=1):
        header, assignment = _HEADER.match(line), _ASSIGNMENT.match(line)
        if header:
            table = _within(_keys(header[2]), counts)
            if header[1] == "[[":
                name = tuple(table)
                counts[name] = counts.get(name, -1) + 1
                table.append(str(counts[name]))
            here = table
        elif assignment:
            here = [*table, *_keys(assignment[1])]
        else:
            continue
        common = next(
            (n for n, (a, b) in enumerate(zip(here, path, strict=False)) if a != b), min(len(here), len(path))
        )
        if common > depth:
            best, depth = number, common
    return best


def _keys(text: str) -> list[str]:
    return [key.strip("\"'") for key in _KEY.findall(text)]


def _within(keys: Sequence[str], counts: dict[tuple[str, ...], int]) -> list[str]:
    """A header's path, with the number of the present table behind each list of tables on the way."""
    found: list[str] = []
    for last, key in zip([*[False] * (len(keys) - 1), True], keys, strict=True):
        found.append(key)
        if not last and tuple(found) in counts:
            found.append(str(counts[tuple(found)]))
    return found
