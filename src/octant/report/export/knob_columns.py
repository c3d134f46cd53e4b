"""One column per knob in exported tables: its unit is in the header, and its values are in this unit."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeAlias

from octant.program import is_program
from octant.report.export.sharing import HIDDEN
from octant.request import comparable
from octant.units import parse_real, parse_seconds

Cell: TypeAlias = "str | int | float | None"
Key: TypeAlias = "tuple[str, str]"
"""Name and unit of a knob."""

UNITS: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(
            ("bytes", "distance", "flush_block", "load", "message", "offset", "rotation", "stride", "walk"), "B"
        ),
        **dict.fromkeys(("duration", "seconds", "timelimit"), "s"),
    }
)
"""Units of the knobs that every kernel declares with this unit; knobs of a user's program have none."""
_THREADS = "threads"
"""Knob of all kernels; figures have a column of this name with the same value."""


@dataclass(frozen=True)
class KnobColumn:
    """A column with the values of a knob."""

    key: Key
    header: str  # "bytes [B]"
    type: str  # "int", "float" or "str"


class KnobColumns:
    """The columns of the knobs of a run: those that vary over its figures, and those that do not."""

    def __init__(self, cells: Iterable[tuple[str, Mapping[str, str]]], reserved: Iterable[str]) -> None:
        """Determine the columns.

        Args:
            cells: workload and knobs of each configuration.
            reserved: headers of other columns; a knob with such a name is `NAME (knob)`.
        """
        taken, known = set(reserved), list(cells)
        values: dict[Key, dict[Cell, int]] = {}
        for workload, knobs in known:
            for key, value in _values(workload, knobs).items():
                found = values.setdefault(key, {})
                found[value] = found.get(value, 0) + 1
        if _THREADS in taken and not any(is_program(workload) for workload, _ in known):
            values.pop((_THREADS, ""), None)
        columns = {key: KnobColumn(key, _header(key, taken), _type(found)) for key, found in values.items()}
        fixed = {key for key, found in values.items() if list(found.values()) == [len(known)]}
        self.varying = tuple(one for key, one in columns.items() if key not in fixed)
        self.fixed = tuple(one for key, one in columns.items() if key in fixed)

    def cells(
        self, workload: str, knobs: str, clean: Callable[[str], str] = str, typed: bool = False
    ) -> tuple[list[Cell], list[Cell]]:
        """Return the values of the varying and of the fixed knobs of a configuration.

        Args:
            knobs: JSON object.
            clean: what every text goes through.
            typed: numbers without a unit are numbers; else they are texts, as they were given.
        """
        found = _values(workload, _cleaned(knobs, clean))
        varying, fixed = (
            [_typed(found.get(one.key), one.type if typed else "") for one in part]
            for part in (self.varying, self.fixed)
        )
        return varying, fixed


def _values(workload: str, knobs: Mapping[str, str]) -> dict[Key, Cell]:
    """Return the value of each knob of a configuration in the unit of its column; other values are texts."""
    units = {} if is_program(workload) else UNITS
    return {(name, unit := units.get(name, "")): _value(text, unit) for name, text in knobs.items()}


def _value(text: str, unit: str) -> Cell:
    try:
        return int(comparable(text)) if unit == "B" else parse_seconds(text) if unit == "s" else text
    except ValueError:
        return text


def _typed(value: Cell, kind: str) -> Cell:
    if not isinstance(value, str) or kind not in ("int", "float"):
        return str(value) if kind == "str" and value is not None else value
    return int(value) if kind == "int" else parse_real(value)


def _type(values: Iterable[Cell]) -> str:
    """Return the type of a column in which all values can be represented exactly."""
    types = {_type_of(value) for value in values}
    return "str" if "str" in types else "float" if "float" in types else "int"


def _type_of(value: Cell) -> str:
    if not isinstance(value, str):
        return "float" if isinstance(value, float) else "int"
    if value.isascii() and value.isdecimal() and str(int(value)) == value and len(value) < 19:
        return "int"
    try:
        parse_real(value)
    except ValueError:
        return "str"
    return "float"


def _header(key: Key, taken: set[str]) -> str:
    name, unit = key
    header = f"{name} [{unit}]" if unit else name
    while header in taken:
        header += " (knob)"
    taken.add(header)
    return header


@functools.lru_cache(maxsize=4096)
def _cleaned(knobs: str, clean: Callable[[str], str]) -> Mapping[str, str]:
    """Return the knobs with cleaned values; the cleaner recognises secrets by the names before them."""
    found: dict[str, str] = json.loads(knobs)
    if clean is str:
        return found
    cleaned = {}
    for name, value in found.items():
        text = clean(json.dumps({name: value}, ensure_ascii=False))
        try:
            cleaned[name] = clean(str(next(iter(json.loads(text).values()))))
        except (ValueError, StopIteration):  # a replaced part contained a quotation mark
            cleaned[name] = HIDDEN
    return cleaned
