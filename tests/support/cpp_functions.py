"""How long the functions of C++ sources are."""

from __future__ import annotations

import re
from collections.abc import Iterator

_NO_FUNCTION = re.compile(r"(namespace|struct|class|enum|union|extern|if|for|while|switch|do|else|try|catch)\b|[}\]#.]")


def function_lengths(text: str) -> Iterator[tuple[str, int]]:
    """Yield the first line and the number of lines of each function of a source that clang-format laid out.

    A function begins at a statement that contains `(` before its first `{`, and that no keyword of another block
    begins. It ends at the next line that has the same indentation and begins with `}`. Lambdas and functions in other
    functions belong to those. Functions in initialisers (`.read = [](int n) {`) are not measured.
    """
    lines = text.splitlines()
    head = place = 0
    while place < len(lines):
        last = lines[place].strip()
        if not last or last.startswith(("//", "/*", "*", "#")) or last.endswith((";", "}", ":")):
            head = place + 1
        elif last.endswith("{"):
            first, statement = lines[head], " ".join(lines[head : place + 1])
            indent = first[: len(first) - len(first.lstrip())]
            if "(" in statement.partition("{")[0] and not _NO_FUNCTION.match(first.strip()):
                later = range(place + 1, len(lines))
                place = next((n for n in later if lines[n].startswith(f"{indent}}}")), place)
                yield first.strip(), place - head + 1
            head = place + 1
        place += 1
