"""A run of HPC Challenge's tests as a table under HPCC's names, and for programs."""

from __future__ import annotations

import json
from dataclasses import asdict
from itertools import groupby
from typing import TYPE_CHECKING

from octant import units
from octant.benchmarks.rows import hpcc_rows, over_peak
from octant.report import claims
from octant.report.run.text import mark

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from octant.analysis.summary import Summary
    from octant.benchmarks.rows import Row

_DIGITS = 4
_HEAD = ("", "median", "low … high", "as HPCC", "of limit", "checks", "rule", "")


def text(summary: Summary) -> str:
    """The rows of all tests that have a figure, those that have none with the reason, and what the columns are."""
    rows = hpcc_rows(summary)
    shown = [row for row in rows if not row.reason]
    limits = {source: mark(number) for number, source in enumerate(dict.fromkeys(r.limit for r in shown if r.limit))}
    lines: list[tuple[str, ...]] = [_HEAD]
    for test, of_test in groupby(shown, key=lambda row: (row.test, row.ranks)):
        several = list(of_test)
        common = [word for word in several[0].shown if all(word in row.shown for row in several)]
        lines.append((f"{test[0]}, {units.counted(test[1], 'rank')}{_settings(common)}",))
        lines += [_cells(row, common, limits) for row in several]
    return "\n".join([_title(summary), *_aligned(lines), *_missing(rows), *_notes(summary, shown, limits)])


def as_json(summary: Summary) -> str:
    """The same for programs; values are in the units of the keys."""
    run = summary.run
    of_peak = over_peak(summary)
    told: dict[str, object] = {"run": run.id, "figures": [asdict(row) for row in hpcc_rows(summary)]}
    if of_peak:
        told |= {"peak_flops_per_s": of_peak[0], "over_peak": [asdict(one) for one in of_peak[1]]}
    return json.dumps(told, indent=1)


def _title(summary: Summary) -> str:
    return f"HPC Challenge: octant {summary.run.title}, run {summary.run.id}"


def _settings(words: Iterable[str]) -> str:
    return "".join(f", {_readable(word)}" for word in words)


def _readable(word: str) -> str:
    """`bytes=256MiB` for `bytes=268435456`; what is no whole number of KiB stays as it is."""
    name, _, value = word.partition("=")
    if name != "bytes" or not value.isdigit() or int(value) % 1024:
        return word
    return f"{name}={units.bytes_text(int(value)).replace(' ', '')}"


def _cells(row: Row, common: Sequence[str], limits: dict[str, str]) -> tuple[str, ...]:
    own = [*row.varied, *(word for word in row.shown if word not in common)]
    places = units.decimals(row.value or 0.0, _DIGITS)
    ends = "" if row.low is None or row.high is None else f"{row.low:.{places}f} … {row.high:.{places}f}"
    share = "" if row.of_limit is None else f"{units.percent_text(row.of_limit)} {limits.get(row.limit, '')}"
    return (
        f"  {row.key}",
        "-" if row.value is None else f"{row.value:.{places}f}",
        ends,
        "" if row.reference is None else f"{row.reference:.{places}f}",
        share,
        row.verdict,
        row.rule,
        " ".join(own) + " *" * bool(row.doubts),
    )


def _aligned(lines: Sequence[tuple[str, ...]]) -> list[str]:
    """Columns as wide as their cells; a line of one cell is a heading."""
    full = [line for line in lines if len(line) > 1]
    widths = [max(map(len, column)) for column in zip(*full, strict=True)]
    left = {0, len(widths) - 1, len(widths) - 2, len(widths) - 3}
    return [
        line[0]
        if len(line) == 1
        else "  ".join(
            cell.ljust(wide) if place in left else cell.rjust(wide)
            for place, (cell, wide) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    ]


def _missing(rows: Sequence[Row]) -> list[str]:
    reasons = dict.fromkeys((row.test, row.reason) for row in rows if row.reason)
    return ["Not measured:", *(f"  {test}: {reason}" for test, reason in reasons)] if reasons else []


def _notes(summary: Summary, shown: Sequence[Row], limits: dict[str, str]) -> list[str]:
    if not shown:
        return []
    found = [
        "Units are those of HPCC's names, of STREAM and PTRANS GB/s; a star figure is that of one rank.",
        "as HPCC: the same samples reduced as HPCC does, with the least time, where that is not our median.",
        "baseline: HPCC's algorithm; optimised: another one for the same data, checked as HPCC checks it.",
    ]
    if of_peak := over_peak(summary):
        peak, figures = of_peak
        texts = [
            f"{one.name} {units.percent_text(one.value)}"
            if one.unit == "1"
            else f"{one.name} {units.si_text(one.value * 1e9, one.unit)} per Gflop/s"
            for one in figures
        ]
        if texts:
            found.append(f"Over the measured peak of {units.si_text(peak, 'flop/s')}: {', '.join(texts)}.")
    found += claims.legend(figure.value for figure in summary.figures)
    found += [f"{letter}  100 % is {source}" for source, letter in limits.items()]
    if any(row.doubts for row in shown):
        found.append(f"* doubtful here; octant report {summary.run.id} says why.")
    return found
