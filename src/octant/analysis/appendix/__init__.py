"""Two machines row by row, as the POWER6 guide's appendix A.1: what is stated, published or measured of each."""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Literal

from octant import units
from octant.facts import missing
from octant.machine import Machine
from octant.untrusted import InputTable, convert

Mode = Literal["one", "every core", "inside", "between"]
Pick = Literal["last", "best", "from memory", "levels", "reach", "memory", "memory cycles"]


class FigureSource(InputTable, frozen=True):
    """Which figure of a stored run answers a row."""

    workload: str
    metric: str
    knobs: Mapping[str, str] = {}  # values that a point may have
    mode: Mode = "one"
    pick: Pick = "last"


class RowSpec(InputTable, frozen=True):
    """A row of `rows.toml`."""

    group: str
    name: str
    unit: str = ""
    stated: str = ""
    published: tuple[str, ...] = ()
    text: str = ""
    scale: float = 1.0
    measure: FigureSource | None = None
    command: str = ""
    needs: str = ""
    note: str = ""


@dataclass(frozen=True)
class Entry:
    """What is known of one machine in one row."""

    text: str
    value: float | None = None  # in the row's unit, where it is a number
    source: str = "stated"  # stated, published, derived, assumed, or `measured`
    run: str = ""  # that measured it
    limited: bool = False  # invalid as a figure, and no run has a better one


@dataclass(frozen=True)
class KnownMachine:
    """A machine of the comparison: what is known of it, by group and name of the row."""

    name: str
    title: str
    entries: Mapping[tuple[str, str], Entry]
    machine: Machine | None = None  # `None`: a published one, of which nothing can be measured


@dataclass(frozen=True)
class ComparisonRow:
    """One row: what is known of both, and how to find out what is not known of the first."""

    spec: RowSpec
    here: Entry | None
    there: Entry | None
    command: str = ""
    reason: str = ""  # why that command gives nothing here


@functools.cache
def row_specs() -> tuple[RowSpec, ...]:
    """The rows in their order."""
    text = (files(__name__) / "rows.toml").read_text(encoding="utf-8")
    return convert(tomllib.loads(text)["rows"], tuple[RowSpec, ...])


def number(spec: RowSpec, value: float, source: str, run: str = "", words: str = "") -> Entry:
    """An entry that is a number, in the unit of its row; `words` follow it."""
    return Entry(" ".join(filter(None, [value_text(value, spec.unit), words])), value, source, run)


def value_text(value: float, unit: str) -> str:
    """A number of a row for people: `4.70 GHz`, `256 GiB`, `120`, `336 cycles`."""
    if unit == "B":
        return units.bytes_text(value)
    if unit in ("1", "", "cycles", "bit"):
        digits = f"{value:.0f}" if abs(value - round(value)) < 0.005 or value >= 100 else f"{value:.3g}"
        return f"{digits} {unit}" if unit not in ("1", "") else digits
    return units.si_text(value, unit)


def compare_machines(here: KnownMachine, there: KnownMachine) -> tuple[ComparisonRow, ...]:
    """The rows that say something of either, or that can be measured."""
    rows = []
    for spec in row_specs():
        key = (spec.group, spec.name)
        ours, theirs = here.entries.get(key), there.entries.get(key)
        wanted = not ours and bool(spec.command)
        reason = missing(spec.needs, here.machine) if not ours and spec.needs and here.machine else ""
        if ours or theirs or wanted or reason:
            rows.append(ComparisonRow(spec, ours, theirs, "" if reason or not wanted else spec.command, reason))
    return tuple(rows)
