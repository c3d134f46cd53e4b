"""Widths of texts in drawings, from the advance widths of DejaVu Sans, the widest of the common sans-serif fonts.

Texts placed with these widths also fit in narrower fonts. An accented letter is as wide as its letter. Other characters
count as a full em, as in Chinese and Japanese fonts.
"""

import pkgutil
import unicodedata
from functools import cache, lru_cache

FAMILY = "'Liberation Sans', Arial, Helvetica, 'DejaVu Sans', sans-serif"
"""The fonts of drawings; the first one that is installed is used."""


def text_width(text: str, size: float, bold: bool = False) -> float:
    """Return the width of a line, px, in a font of `size` px."""
    return _ems(text, bold) * size


def cut(text: str, size: float, most: float, bold: bool = False) -> str:
    """Return the text, or as much of it as fits in `most` px, ending in `…`."""
    if text_width(text, size, bold) <= most:
        return text
    kept = text
    while kept and text_width(kept + "…", size, bold) > most:
        kept = kept[:-1]
    return kept.rstrip(" ,;:·") + "…"


def wrap(text: str, size: float, most: float, lines: int, bold: bool = False) -> list[str]:
    """Return the text's words in at most `lines` lines of `most` px; a text that does not fit ends in `…`."""
    wrapped = [""]
    words = text.split()
    for number, word in enumerate(words):
        longer = f"{wrapped[-1]} {word}".lstrip()
        if not wrapped[-1] or text_width(longer, size, bold) <= most:
            wrapped[-1] = longer
        elif len(wrapped) < lines:
            wrapped.append(word)
        else:
            wrapped[-1] = " ".join([wrapped[-1], *words[number:]])
            break
    return [cut(line, size, most, bold) for line in wrapped]


@lru_cache(maxsize=4096)
def _ems(text: str, bold: bool) -> float:
    table = _widths()["bold" if bold else "regular"]
    return sum(table.get(sign) or _other_width(sign, table) for sign in text) / 1000


@cache
def _widths() -> dict[str, dict[str, int]]:
    """Return the width of each character of DejaVuSans.ttf and DejaVuSans-Bold.ttf (2.37), thousandths of an em."""
    lines = (pkgutil.get_data("octant.report.charts.layout", "widths.txt") or b"").decode().rstrip("\n").split("\n")
    tables: dict[str, dict[str, int]] = {"regular": {}, "bold": {}}
    for name, width, signs in (line.split(" ", 2) for line in lines):
        tables[name] |= dict.fromkeys(signs, int(width))
    return tables


def _other_width(sign: str, table: dict[str, int]) -> int:
    return 0 if unicodedata.combining(sign) else table.get(unicodedata.normalize("NFD", sign)[0], 1000)
