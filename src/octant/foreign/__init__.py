"""Output of other benchmarks as figures. A file a tool, read by the names of its columns; lying here registers it.

Nothing of such a text is trusted: sizes are bounded, names become words of ours, and no part of it is ever started.
docs/import.md has the formats.

A reader `NAME.py` declares `read(lines: Lines) -> Output`. Its lines have no control sequences, no prefixes of
launchers, no spaces at their ends, and come from one rank. The reader calls `lines.use(line)` for each line that it
interpreted, and `lines.refuse(line, consequence)` for a line of the tool of which it left something out, such as a
column. Each `Table` states in `scope` which lines of the file can change its figures: the head of its run, and its own
part. `NAME.toml` beside the reader has patterns, each for a whole line:

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

A line that is neither used nor irrelevant is unrecognised. If it matches `syntax`, the tables in whose scope it is are
not imported; other unrecognised lines are counted and quoted in the summary of the import (`Output.account`). Without
`NAME.toml` a tool's lines are not accounted for.
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

MOST_BYTES = 4 << 20
"""Of a file that is imported; the longest output of a benchmark known has a tenth of that."""
MOST_ROWS, MOST_VALUES = 10_000, 50_000
"""Of the tables of a file together: each row becomes a point of a run, each value a figure of it."""


def tools() -> list[str]:
    """Return the tools whose output can be read, in order."""
    return list(entries().working)


def entries() -> Entries[ModuleType]:
    """Return the tools whose output can be read, and those whose file here cannot be used."""
    return registry.entries(__name__, lambda module: registry.declared(module, "read"))


def read_file(tool: str, path: Path) -> Output:
    """What a file of a tool's output says.

    Raises:
        Refusal: no such tool, or its reader cannot be used; the file cannot be read, is longer than `MOST_BYTES`, holds
            no figures of the tool, more than `MOST_ROWS` or `MOST_VALUES`, or rates that fit no unit.
    """
    entries().check(tool, "import format")
    if tool not in tools():
        lacking = "".join(f", {name} cannot be used here: {one.reason}" for name, one in entries().broken.items())
        known = suggestion(tool, tools())
        raise Refusal(f"cannot import from {tool!r} (no such tool{lacking}); {known}", Exit.WRONG_WORD)
    text = read_text(path, f"output of {tool}", MOST_BYTES)
    found = read(tool, text)
    if not found.tables:
        raise _nothing_read(tool, path, text, found)
    rows = [row for table in found.tables for row in table.rows]
    values = sum(len(row.values) for row in rows)
    if len(rows) > MOST_ROWS or values > MOST_VALUES:
        why = f"{len(rows)} rows with {values} values, at most {MOST_ROWS} and {MOST_VALUES}"
        raise Refusal(f"cannot import {path} ({why}); give the output of fewer benchmarks at a time", Exit.WRONG_WORD)
    return found


def read(tool: str, text: str) -> Output:
    """What the text of a tool's output says; without tables where it holds none.

    Raises:
        Refusal: rates that fit no unit; several ranks printed figures.
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
        remarks.append(f"{counted(len(others), 'line')} of other ranks, from {quote(others[0])} on, not read")
    if torn:
        remarks.append(f"line {torn} has no end, and is not read")
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
    """Return the place of the stream that has the figures, the first if none has.

    Raises:
        Refusal: several have, so that copies of the program ran at the same time.
    """
    if len(streams) == 1:
        return 0
    found = [place for place, stream in enumerate(streams) if _read_stream(tool, Lines(stream.every)).tables]
    if len(found) > 1:
        kind = "rank" if ranks[0].isdecimal() else "host"
        which = ", ".join(ranks[place] for place in found[:4]) + (", …" if len(found) > 4 else "")
        raise Refusal(
            f"cannot import the output ({kind}s {which} each printed figures of {tool}: copies that ran at the same "
            f"time are not one result); give the lines of a single copy, for example those of {kind} {ranks[found[0]]}",
            Exit.WRONG_WORD,
        )
    return found[0] if found else 0


def summary(output: Output) -> tuple[str, ...]:
    """Return what an import reports of a file: what was not read, then how many lines were accounted for, and how."""
    account = output.account
    quoted = [f"unrecognised: {one}" for one in account.quoted if not any(one in remark for remark in output.remarks)]
    return (*output.remarks, *quoted, *([account.text()] if account.stated else []))


def _nothing_read(tool: str, path: Path, text: str, found: Output) -> Refusal:
    """Return the refusal of a file without figures: the reason, the nearest line, and the tools that can be read."""
    why = found.remarks[0] if found.remarks else ""
    lines, known = next(iter(clean(lines_of(text)[0]).streams.values())), _known(tool)
    if other := known.other(lines) if known else "":
        advice = f"known tools: {', '.join(tools())}"
        return Refusal(f"cannot import {path} ({other}, which is not read); {advice}", Exit.WRONG_WORD)
    if not why:
        line = nearest(Lines(lines), known.expected if known else ())
        why = f"the line that comes closest is {quote(line)}" if line else "it has no lines"
    if REMOVE_LINE in why:  # the remark states the next step
        more = sum(REMOVE_LINE in remark for remark in found.remarks[1:])
        others = f"; {counted(more, 'more line')} like this" if more else ""
        return Refusal(f"cannot import {path} (no figures of {tool} remain): {why}{others}", Exit.WRONG_WORD)
    likely = next((one for one in tools() if one != tool and _has_figures(one, text)), "")
    advice = f"try octant import {likely}" if likely else f"give a whole output of {tool}"
    if found.account.interpreted and NOT_RECOGNISED in why and not likely:  # an output whose tables are all refused
        advice = "if that line does not change figures, correct or remove it in a copy of the file and import the copy"
    return Refusal(
        f"cannot import {path} (no figures of {tool} in it: {why}); {advice}; known tools: {', '.join(tools())}",
        Exit.WRONG_WORD,
    )


def _has_figures(tool: str, text: str) -> bool:
    try:
        return bool(read(tool, text).tables)
    except Refusal:
        return False


__all__ = [
    "MOST_BYTES",
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
