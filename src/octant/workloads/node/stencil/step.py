"""One pass of node/stencil in each rank: its points, and the levels of its grid (grid.hpp)."""

from __future__ import annotations

from collections.abc import Mapping

from octant.step import Step

_ELEMENT_BYTES = {"single": 4, "double": 8}
_LINE_BYTES = 64
_REACH = 4  # points to each side
_FLOPS = 33  # of a point
_APART_LINES = 51  # between two arrays


def step(knobs: Mapping[str, str], ranks: int, _threads: int) -> Step:
    """Return one pass, which makes `depth` steps of the grid with blocking=time; the threads of a rank share it."""
    n, size = int(knobs["n"]), _ELEMENT_BYTES[knobs["element"]]
    planes = int(knobs["planes"]) or n
    points = n * n * planes * (int(knobs["depth"]) if knobs["blocking"] == "time" else 1) * ranks
    counts = {
        "points": points,
        "bytes_read": 3 * size * points,
        "bytes_written": size * points,
        "flops": _FLOPS * points,
    }
    arrays = 4 if knobs["store"] == "streaming" else 3  # levels, and the factor
    return Step(counts, arrays * size * _elements(n, planes, _LINE_BYTES // size) * ranks)


def _elements(n: int, planes: int, line: int) -> int:
    """Of an array, in whole lines: rows and planes have an odd number of them, with points around that stay zero."""
    pitch = (n // line + 1 | 1) * line
    plane = (pitch // line * (n + _REACH) | 1) * line
    elements = (planes + 2 * _REACH) * plane + _REACH * pitch + 2 * line
    return (-(-elements // line) + _APART_LINES) * line
