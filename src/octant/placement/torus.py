"""Torus coordinates: letter orders and map files of Blue Gene's launchers."""

import math
import re
from collections.abc import Iterator


def coordinates(letters: str, shape: tuple[int, ...], ranks: int) -> list[tuple[int, ...]]:
    """Return the coordinates of each rank: node in the torus, then slot in the node.

    `shape` has the dimensions of the torus and, last, the number of ranks per node. On Blue Gene/L and /P (letters X,
    Y, Z, T) the leftmost letter changes fastest; on /Q (A to E, T) the rightmost.

    Raises:
        ValueError: more ranks than slots.
    """
    places = math.prod(shape)
    if ranks > places:
        size = "x".join(str(n) for n in shape)
        raise ValueError(f"cannot map {ranks} ranks on {size} slots; at most {places} ranks fit")
    axes = "XYZT" if len(letters) == 4 else "ABCDET"
    fastest_first = letters if len(letters) == 4 else letters[::-1]
    found = []
    for rank in range(ranks):
        rest, at = rank, [0] * len(shape)
        for letter in fastest_first:
            axis = axes.index(letter)
            rest, at[axis] = divmod(rest, shape[axis])
        found.append(tuple(at))
    return found


def read_map(text: str, torus: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Return the coordinates of each rank from a map file with one line per rank: node in the torus, then slot.

    Raises:
        ValueError: no line, an invalid line, or a repeated slot; the message has the number of the line.
    """
    found: dict[tuple[int, ...], int] = {}
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split("#", 1)[0].split()
        if not words:
            continue
        if len(words) != len(torus) + 1 or not all(re.fullmatch(r"[0-9]{1,9}", word) for word in words):
            raise ValueError(
                f"cannot read line {number} of the map file ({line.strip()!r}): {len(torus) + 1} numbers are required, "
                f"{len(torus)} for the node and one for the slot in the node"
            )
        place = tuple(int(word) for word in words)
        if any(n >= size for n, size in zip(place, torus, strict=False)):
            size = "x".join(str(n) for n in torus)
            raise ValueError(f"line {number} of the map file: {line.strip()!r} is outside of torus={size}")
        if place in found:
            raise ValueError(
                f"line {number} of the map file: {line.strip()!r} repeats line {found[place]}; each slot holds one rank"
            )
        found[place] = number
    if not found:
        raise ValueError("the map file has no coordinates; write one line per rank, such as '0 0 0 0'")
    return list(found)


def write_map(places: list[tuple[int, ...]]) -> str:
    """Return the text of a map file with one line per rank."""
    return "".join(" ".join(str(n) for n in place) + "\n" for place in places)


def letter_orders(dimensions: int) -> Iterator[str]:
    """Yield the letter orders that the launchers accept: T first or last on Blue Gene/L and /P."""
    yield from ("XYZT", "TXYZ") if dimensions == 3 else ("ABCDET", "TABCDE", "TEDCBA")
