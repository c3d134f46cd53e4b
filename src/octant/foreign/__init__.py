"""Import of the output of other benchmarks. Each module in this folder is the reader of one tool.

The text is not trusted: sizes are limited, names are converted to words of Octant, and no part of the text is executed.
docs/import.md describes the formats.

A reader `NAME.py` declares `read(lines: Lines) -> Output`. Its lines have no control sequences, no prefixes of
launchers, no spaces at their ends, and come from one rank. The reader calls `lines.use(line)` for each line that it
interpreted, and `lines.refuse(line, consequence)` for a line of the tool from which something is not imported, such as
a column. Each `Table` states in `scope` which lines of the file can change its figures: the head of its run, and the
lines of the table. `NAME.toml` in this folder has patterns that match whole lines:

    expected = ["lines", "of a typical output"]   # the line of an unreadable file that is nearest to one is quoted
    [[irrelevant]]                                # lines that change no figure
    reason = "why they cannot"
    patterns = ['Written by .*']
    [[syntax]]                                    # lines that only the tool prints: an unknown one may change figures
    what = "parameters of the head"
    patterns = ['[A-Z]+ *: .*']
    result = true                                 # optional: they hold results, and a missing one is always reported
    [[other]]                                     # optional: lines of a similar program; a refusal names it
    program = "HPCG"
    patterns = ['HPCG-Benchmark.*']

A line that is neither used nor irrelevant is unrecognised. If it matches `syntax`, tables with this line in their scope
are not imported. Other unrecognised lines are counted and quoted in the summary of the import (`Output.account`).
Without `NAME.toml`, lines are not counted.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import ModuleType

from octant import registry
from octant.failure import Exit, Refusal, suggestion
from octant.foreign._account import (
    NOT_RECOGNISED,
    REMOVE_LINE,
    KnownLines,
    Lines,
    known_lines,
    nearest,
    quote,
    settle,
)
from octant.foreign._clean import clean
from octant.foreign._names import find_octant_name
from octant.foreign._output import Account, ImportedRow, ImportedValue, Output, Table
from octant.foreign._plausible import measured
from octant.foreign._text import Line, lines_of
from octant.registry import Entries
from octant.units import counted
from octant.untrusted import read_text

MAX_BYTES = 4 << 20
"""Maximum size of an imported file; the longest known output of a benchmark has a tenth of it."""
MAX_ROWS, MAX_VALUES = 10_000, 50_000
"""Maximum numbers of rows and values in a file: each row becomes a point of a run, each value a figure."""


def tools() -> list[str]:
    """Return the supported tools, in order."""
    return list(entries().working)


def entries() -> Entries[ModuleType]:
    """Return the supported tools, and those whose reader cannot be used."""
    return registry.entries(__name__, lambda module: registry.declared(module, "read"))


def read_file(tool: str, path: Path) -> Output:
    """Import a file with the output of a tool.

    Raises:
        Refusal: unknown tool, or its reader cannot be used; the file cannot be read, is longer than `MAX_BYTES`, has
            no figures of the tool, more than `MAX_ROWS` or `MAX_VALUES`, or rates that are consistent with no unit.
    """
    entries().check(tool, "import format")
    if tool not in tools():
        broken = "".join(
            f"; the reader of {name} cannot be used: {one.reason}" for name, one in entries().broken.items()
        )
        raise Refusal(f"unknown tool {tool!r}{broken}; {suggestion(tool, tools())}", Exit.WRONG_WORD)
    text = read_text(path, f"output of {tool}", MAX_BYTES)
    found = read(tool, text)
    if not found.tables:
        raise _nothing_read(tool, path, text, found)
    rows = [row for table in found.tables for row in table.rows]
    values = sum(len(row.values) for row in rows)
    if len(rows) > MAX_ROWS or values > MAX_VALUES:
        why = f"it has {len(rows)} rows with {values} values; at most {MAX_ROWS} and {MAX_VALUES} are supported"
        raise Refusal(f"cannot import {path}: {why}; divide the output into several files", Exit.WRONG_WORD)
    return found


def read(tool: str, text: str) -> Output:
    """Parse the text of a tool's output; the result has no tables if the text has no figures.

    Raises:
        Refusal: rates that are consistent with no unit, or more than one rank printed figures.
    """
    lines, torn = lines_of(text)
    cleaned = clean(lines)
    streams = [Lines(stream) for stream in cleaned.streams.values()]
    chosen = _chosen(tool, streams, list(cleaned.streams))
    found = settle(streams[chosen], _known(tool), _read_stream(tool, streams[chosen]))
    tables, missing = measured(found.tables)
    others = [line for place, stream in enumerate(streams) if place != chosen for line in stream]
    remarks = [*found.remarks, *missing]
    if others:
        are = "is" if len(others) == 1 else "are"
        what = f"{counted(len(others), 'line')} of other ranks {are} not imported"
        remarks.append(f"{what}; the first is {quote(others[0])}")
    if torn:
        remarks.append(f"line {torn} is incomplete and not imported")
    account = replace(
        found.account, unrecognised=found.account.unrecognised + len(others), prefixes=cleaned.prefixes
    )  # fmt: skip
    return replace(found, tables=tables, remarks=tuple(remarks), account=account if _known(tool) else Account())


def _known(tool: str) -> KnownLines | None:
    return known_lines(registry.file_of(__name__, tool).with_suffix(".toml"))


def _read_stream(tool: str, lines: Lines) -> Output:
    found: Output = entries().working[tool].read(lines)
    return found


def _chosen(tool: str, streams: Sequence[Lines], ranks: Sequence[str]) -> int:
    """Return the index of the stream with figures; 0 if no stream has figures.

    Raises:
        Refusal: more than one stream has figures, so that copies of the program ran at the same time.
    """
    if len(streams) == 1:
        return 0
    found = [place for place, stream in enumerate(streams) if _read_stream(tool, Lines(stream.every)).tables]
    if len(found) > 1:
        kind = "rank" if ranks[0].isdecimal() else "host"
        which = ", ".join(ranks[place] for place in found[:4]) + (", …" if len(found) > 4 else "")
        raise Refusal(
            f"cannot import the output: {kind}s {which} each printed figures of {tool}, which are results of separate "
            f"copies; import the lines of one copy, for example those of {kind} {ranks[found[0]]}",
            Exit.WRONG_WORD,
        )
    return found[0] if found else 0


def summary(output: Output) -> tuple[str, ...]:
    """Return the report of an import: what was not imported, then the numbers of interpreted and other lines."""
    account = output.account
    quoted = [f"unrecognised: {one}" for one in account.quoted if not any(one in remark for remark in output.remarks)]
    return (*output.remarks, *quoted, *([account.text()] if account.stated else []))


def _nothing_read(tool: str, path: Path, text: str, found: Output) -> Refusal:
    """Return the refusal of a file without figures: the reason, the nearest line, and the supported tools."""
    why = found.remarks[0] if found.remarks else ""
    lines, known = next(iter(clean(lines_of(text)[0]).streams.values())), _known(tool)
    if other := known.other(lines) if known else "":
        advice = f"supported tools: {', '.join(tools())}"
        return Refusal(f"cannot import {path}: {other}, which is not supported; {advice}", Exit.WRONG_WORD)
    if not why:
        line = nearest(Lines(lines), known.expected if known else ())
        why = f"the most similar line is {quote(line)}" if line else "the file has no lines"
    if REMOVE_LINE in why:  # the remark states the next step
        more = sum(REMOVE_LINE in remark for remark in found.remarks[1:])
        others = f"; {counted(more, 'more line')} like this" if more else ""
        return Refusal(f"cannot import {path}, since no figures of {tool} remain: {why}{others}", Exit.WRONG_WORD)
    likely = next((one for one in tools() if one != tool and _has_figures(one, text)), "")
    advice = f"use octant import {likely}" if likely else f"import a complete output of {tool}"
    if found.account.interpreted and NOT_RECOGNISED in why and not likely:  # an output whose tables are all refused
        advice = "if that line does not change figures, correct or remove it in a copy of the file and import the copy"
    return Refusal(
        f"cannot import {path}, which has no figures of {tool}: {why}; {advice}; supported tools: {', '.join(tools())}",
        Exit.WRONG_WORD,
    )


def _has_figures(tool: str, text: str) -> bool:
    try:
        return bool(read(tool, text).tables)
    except Refusal:
        return False


__all__ = [
    "MAX_BYTES",
    "Account",
    "ImportedRow",
    "ImportedValue",
    "Line",
    "Lines",
    "Output",
    "Table",
    "find_octant_name",
    "read",
    "read_file",
    "summary",
    "tools",
]
