"""Torus coordinates: letter orders and map files as Blue Gene's launchers understand them."""

import math
import re
from collections.abc import Iterator


def coordinates(letters: str, shape: tuple[int, ...], ranks: int) -> list[tuple[int, ...]]:
    """Return the coordinates of each rank: node in the torus, then place in the node.

    `shape` is the torus and, last, the number of ranks per node. On Blue Gene/L and /P (letters X, Y, Z, T)
    the leftmost letter changes fastest; on /Q (A to E, T) the rightmost.

    Raises:
        ValueError: more ranks than places.
    """
    places = math.prod(shape)
    if ranks > places:
        size = "x".join(str(n) for n in shape)
        raise ValueError(f"cannot map {ranks} ranks on {size} places; the most is {places}")
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
    """Return the coordinates of each rank from a map file: one line per rank: node in the torus, then place in the node.

    Raises:
        ValueError: no line, one that is no such place, or a place given twice; with the line's number.
    """
    found: dict[tuple[int, ...], int] = {}
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split("#", 1)[0].split()
        if not words:
            continue
        if len(words) != len(torus) + 1 or not all(re.fullmatch(r"[0-9]{1,9}", word) for word in words):
            raise ValueError(
                f"cannot read line {number} of the map file ({line.strip()!r}): it needs {len(torus) + 1} numbers, "
                f"{len(torus)} of the node and one of the place in it"
            )
        place = tuple(int(word) for word in words)
        if any(n >= size for n, size in zip(place, torus, strict=False)):
            size = "x".join(str(n) for n in torus)
            raise ValueError(f"cannot use line {number} of the map file: {line.strip()!r} is outside of {size}")
        if place in found:
            raise ValueError(
                f"cannot use line {number} of the map file: {line.strip()!r} occurs twice, first in line {found[place]}"
            )
        found[place] = number
    if not found:
        raise ValueError("cannot use the map file: no line of it is a place; try one line per rank such as '0 0 0 0'")
    return list(found)


def write_map(places: list[tuple[int, ...]]) -> str:
    """Return a map file: one line per rank."""
    return "".join(" ".join(str(n) for n in place) + "\n" for place in places)


def letter_orders(dimensions: int) -> Iterator[str]:
    """Yield the orders that the launcher of the machine accepts: T first or last on L and P."""
    yield from ("XYZT", "TXYZ") if dimensions == 3 else ("ABCDET", "TABCDE", "TEDCBA")
