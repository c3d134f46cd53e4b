"""High-Performance Linpack, by itself or inside the HPC Challenge: a row of `T/V N NB P Q Time Gflops`, then checks."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from octant.foreign import Output, Row, Table, Value
from octant.foreign._text import Line, date_of, first, number_of, ranks_of, word_of

_VERSION = r"HPLinpack\s+([0-9][\w.]*)\s.*"
_BOUND = r"scaled residuals are less than\s+(\S+)"
_NORMS = re.compile(r"\|\|[^=]{0,230}\|\|[^=]{0,80}")
_CHECK = re.compile(r"\s*+([^\s.]*+\.?[^\s.]*+)\s*+\.{3,}+\s*+(PASSED|FAILED)\s*")
_UNCHECKED = re.compile(r"\s*([1-9][0-9]*) tests completed without checking")
_VARIANT = re.compile(r"[WC][A-Z0-9]{3,15}")
_USUAL_BOUND = 16.0
_COLUMNS = ("T/V", "N", "NB", "P", "Q", "Time", "Gflops")


@dataclass
class _Found:
    """One solution, and what the lines below it say of its residuals."""

    line: int
    cells: dict[str, str]
    checks: list[Value] = field(default_factory=list)


def read(lines: Sequence[Line]) -> Output:
    """What the output says; a solution without a verdict is none."""
    bound = first(lines, _BOUND)
    limit = number_of(bound[1]) if bound else None
    unchecked = any(_UNCHECKED.match(line.text) for line in lines)
    found = _solutions(lines, limit.value if limit and math.isfinite(limit.value) else _USUAL_BOUND)
    tables = tuple(
        table for one in found if (one.checks or unchecked) and (table := _table(one, bool(one.checks)))
    )  # fmt: skip
    missing = [one for one in found if not one.checks and not unchecked]
    remarks = [f"line {one.line} has no verdict below it, and is not imported" for one in missing[:1]]
    version, date = first(lines, _VERSION), first(lines, r"start time\s+(\w{3} \w{3}\s+\d+ [\d:]+ \d{4})")
    return Output(
        "HPL", word_of(version[1]) if version else "", version[0].strip() if version else "", tables,
        date_of(date[1]) if date else "", "", tuple(remarks),
    )  # fmt: skip


def _solutions(lines: Sequence[Line], bound: float) -> list[_Found]:
    found: list[_Found] = []
    columns: tuple[str, ...] = ()
    current: _Found | None = None  # whose verdict comes next
    for line in lines:
        words = line.text.split()
        if words[:1] == ["T/V"] and set(_COLUMNS) <= set(words):
            columns, current = tuple(words), None
        elif columns and len(words) == len(columns) and _VARIANT.fullmatch(words[0]):
            current = None
            if all(map(number_of, words[1:])):
                current = _Found(line.number, dict(zip(columns, words, strict=True)))
                found.append(current)
        elif current:
            name, _, verdict = line.text.partition("=")
            if _NORMS.fullmatch(name) and (check := _CHECK.fullmatch(verdict)):
                _add_check(current, line.number, check, bound)
    return found


def _add_check(one: _Found, line: int, check: re.Match[str], bound: float) -> None:
    number = number_of(check[1])
    value = number.value if number else math.nan
    name = f"residual_{len(one.checks) + 1}" if one.checks else "residual"
    one.checks.append(Value(name, value, "1", line, bound))
    if check[2] == "FAILED" and value <= bound:  # the tool's word counts
        one.checks.append(Value("verification", 1.0, "1", line, 0.0))


def _table(one: _Found, verified: bool) -> Table | None:
    cells = one.cells
    rows, columns = ranks_of(cells["P"]), ranks_of(cells["Q"])
    seconds, rate = number_of(cells["Time"]), number_of(cells["Gflops"])
    if not rows or not columns or not seconds or not rate or rows * columns > 10_000_000:
        return None
    knobs = {"n": word_of(cells["N"]), "block": word_of(cells["NB"]), "grid": f"{rows}x{columns}"}
    knobs["variant"] = word_of(cells["T/V"])
    values = (
        Value("rate", rate.value * 1e9, "flop/s", one.line),
        Value("time", seconds.value, "s", one.line),
        *one.checks,
    )
    return Table("hpl", one.line, (Row(one.line, {}, values),), knobs, rows * columns, verified=verified)
