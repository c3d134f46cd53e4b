"""Comparison of two machines in rows, as in the POWER6 guide, appendix A.1: stated, published, measured."""

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
    """Figure of a stored run that answers a row."""

    workload: str
    metric: str
    knobs: Mapping[str, str] = {}  # accepted values of a point
    mode: Mode = "one"
    pick: Pick = "last"


class RowSpec(InputTable, frozen=True):
    """Row of `rows.toml`."""

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
    """Value of one machine in one row."""

    text: str
    value: float | None = None  # in the unit of the row, if it is a number
    source: str = "stated"  # stated, published, derived, assumed, or `measured`
    run: str = ""  # that measured it
    limited: bool = False  # invalid as a figure, and no run has a valid one


@dataclass(frozen=True)
class KnownMachine:
    """Machine of the comparison with its values, by group and name of the row."""

    name: str
    title: str
    entries: Mapping[tuple[str, str], Entry]
    machine: Machine | None = None  # `None`: a published one, which cannot be measured


@dataclass(frozen=True)
class ComparisonRow:
    """Row with the values of both machines, and the command that measures a missing first one."""

    spec: RowSpec
    here: Entry | None
    there: Entry | None
    command: str = ""
    reason: str = ""  # reason why the command is not supported here


@functools.cache
def row_specs() -> tuple[RowSpec, ...]:
    """Return the rows in order."""
    text = (files(__name__) / "rows.toml").read_text(encoding="utf-8")
    return convert(tomllib.loads(text)["rows"], tuple[RowSpec, ...])


def number(spec: RowSpec, value: float, source: str, run: str = "", words: str = "") -> Entry:
    """Return an entry that is a number in the unit of its row, followed by `words`."""
    return Entry(" ".join(filter(None, [value_text(value, spec.unit), words])), value, source, run)


def value_text(value: float, unit: str) -> str:
    """Return a number of a row as text: `4.70 GHz`, `256 GiB`, `120`, `336 cycles`."""
    if unit == "B":
        return units.bytes_text(value)
    if unit in ("1", "", "cycles", "bit"):
        digits = f"{value:.0f}" if abs(value - round(value)) < 0.005 or value >= 100 else f"{value:.3g}"
        return f"{digits} {unit}" if unit not in ("1", "") else digits
    return units.si_text(value, unit)


def compare_machines(here: KnownMachine, there: KnownMachine) -> tuple[ComparisonRow, ...]:
    """Return the rows for which either machine has a value, or that can be measured."""
    rows = []
    for spec in row_specs():
        key = (spec.group, spec.name)
        ours, theirs = here.entries.get(key), there.entries.get(key)
        wanted = not ours and bool(spec.command)
        reason = missing(spec.needs, here.machine) if not ours and spec.needs and here.machine else ""
        if ours or theirs or wanted or reason:
            rows.append(ComparisonRow(spec, ours, theirs, "" if reason or not wanted else spec.command, reason))
    return tuple(rows)
