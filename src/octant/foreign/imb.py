"""Intel MPI Benchmarks and Pallas MPI Benchmarks: `# Benchmarking NAME`, `# #processes = N`, a header line, rows.

A file may contain several runs with separate heads (`_imb_head.py`). Rates are compared with the times in the same row
to determine the megabyte (10^6 today, 2^20 in early versions) and the number of messages per repetition (Sendrecv two,
Exchange four).
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from octant.foreign import ImportedRow, ImportedValue, Line, Lines, Output, Table
from octant.foreign._imb_head import TITLE, Run, versions
from octant.foreign._rates import Solution, StatedRate, common_megabyte, solve
from octant.foreign._rows import looks_like_row
from octant.foreign._text import Rounded, count_of, number_of, ranks_of, word_of

_START = re.compile(r"#-?\s*Benchmarking\s+(?:Multi-)?(\S+)(?:\s+\(([0-9]+(?: x [0-9]+)+)\))?\s*(\S.*)?")
_END = re.compile(r"#\s*All processes entering MPI_Finalize")
_PROCESSES = re.compile(
    r"#-?\s*(?:\(\s*)?#processes\s*=\s*([0-9]+)\s*\)?(?:\s*\(threads:\s*([0-9]+)\))?(;\s*rank order \(rowwise\):)?"
)
_GROUPS = re.compile(r"#\s*\(\s*([0-9]+)\s+groups? of\s+([0-9]+)\s+processes each running simultaneous\s*\)")
_MEMBERS = re.compile(r"#\s*Group\s+([0-9]+):((?:\s+[0-9]+)+)")
_CHUNK = re.compile(r"(?<!^)\[[0-9]{1,7}\] ?")
"""Rank that Intel's launcher writes before each part of a line that the program flushes; IMB prints no such text. At
the begin of a line it is a prefix, which is removed where the file as a whole has it."""
_MORE_RANKS = re.compile(r"#((?:\s+[0-9]+)+)")
_MODE = re.compile(r"#\s*MODE:\s*(\S+)")
_WINDOW = re.compile(r"#\s*window_size = ([0-9]+)")
_PER_UNIT = {"usec": 1e6, "msec": 1e3, "sec": 1.0, "%": 100.0}
"""How many of a column's unit are a second, or a whole."""
_TIMED = re.compile(r"([A-Za-z_]+)\[(usec|msec|sec|%)\]")
_OURS = {"t": "time", "overlap": "overlap_imb"}  # its overlap is over the longer of both times
_RATE = re.compile(r"M[Bb](?:ytes?)?/s(?:ec)?")
_MESSAGES = re.compile(r"M(?:e?s?sa?ge?s?|sg)/s(?:ec)?")
_OTHERS = ("Group", "#bytes", "#repetitions", "defects")
_FACTORS = (1.0, 2.0, 4.0, 0.5)
_FAILURES = {"time-out": "timed out", "out-of-mem": "out of memory", "int-overflow": "message too long for an int"}
MAX_RANKS_LISTED = 100_000


@dataclass
class _Section:
    """State of a table while its lines are read."""

    run: Run
    benchmark: str
    line: int
    begin: int  # first line after the table before it: what is between them may be of this one
    ranks: int | None = None
    threads: int = 1
    group_size: int = 0
    members: dict[int, list[int]] = field(default_factory=dict)
    order: list[int] | None = None  # of the ranks, where it is printed
    knobs: dict[str, str] = field(default_factory=dict)
    columns: tuple[str, ...] = ()
    closed: bool = False  # below a second header are no rows of this table
    refused: bool = False
    rows: list["_Found"] = field(default_factory=list)


@dataclass(frozen=True)
class _Found:
    """One line of a table."""

    line: int
    numbers: dict[str, Rounded]  # by column
    failed: str = ""


def read(lines: Lines) -> Output:
    """Parse the output.

    Raises:
        Refusal: rates that are consistent with no unit and factor.
    """
    runs, every = _sections(lines)
    sections = [section for section in every if section.rows]
    megabytes, remarks = _megabytes(sections)
    remarks += [one for one in [versions(runs)] if one]
    first = runs[0] if runs else Run()
    return Output(
        first.tool,
        first.version,
        first.title,
        tuple(_table(section, megabytes.get(_series(section.run))) for section in sections),
        first.started if len({run.started for run in runs}) == 1 else "",  # the output has only one start time
        word_of(first.facts["machine"]) if "machine" in first.facts else "",
        tuple(remarks),
    )


def _series(run: Run) -> tuple[str, str]:
    """Return tool and version; runs of one version use the same megabyte."""
    return run.tool, run.version


def _megabytes(sections: Sequence[_Section]) -> tuple[dict[tuple[str, str], float], list[str]]:
    """Return the megabyte of each version in the file, and a remark on rates for which it cannot be solved."""
    found, remarks = {}, []
    for series in dict.fromkeys(_series(section.run) for section in sections):
        own = [section for section in sections if _series(section.run) == series]
        megabyte = common_megabyte((one for one in map(_solution, own) if one), "the file")
        if megabyte is not None:
            found[series] = megabyte
        elif any(map(_states_rates, own)):
            remarks.append("rates are not imported, since their unit (10^6 or 2^20 bytes) cannot be determined")
    return found, list(dict.fromkeys(remarks))


def _sections(lines: Lines) -> tuple[list[Run], list[_Section]]:
    """Return the runs with a head, and all tables except those of runs with unknown options."""
    runs: list[Run] = []
    sections: list[_Section] = []
    orphans: list[Line] = []
    run, section, before, ended = Run(), None, 0, 0
    for one in lines:
        line = Line(one.number, _CHUNK.sub("", one.text).strip()) if "[" in one.text else one
        if not line.text:
            continue
        if title := TITLE.fullmatch(line.text):
            run.close(lines)
            run, section = Run.of(line, title), None
            runs.append(run)
            lines.use(line)
        elif begun := _START.fullmatch(line.text):
            run.close(lines)
            if run.begin and not any(one.run is run for one in sections[-1:]):
                run.end = line.number - 1
            section = _start(run, line, begun, before, lines)
            sections.append(section)
        elif _END.fullmatch(line.text):
            run.close(lines)
            run, section, ended = Run(), None, line.number
        elif section:
            _take(section, line, lines)
        elif looks_like_row(line.text):
            orphans.append(line)
        else:  # without a title the head is that of a run too: the title may be unreadable
            run.begin = run.begin or ended + 1
            run.take(line, lines)
        if not section or (section.rows and section.rows[-1].line == line.number):
            before = line.number
    run.close(lines)
    for line in orphans if sections else ():
        lines.refuse(line, "a row without a benchmark above it is not imported")
    return runs, [section for section in sections if not section.run.refused]


def _start(run: Run, line: Line, begun: re.Match[str], before: int, lines: Lines) -> _Section:
    section = _Section(run, begun[1][:60], line.number, max(before + 1, run.end + 1))
    if begun[2]:
        section.knobs["grid"] = begun[2].replace(" ", "")
    if begun[3]:
        section.refused = True
        lines.refuse(line, f"{section.benchmark} (line {line.number}) is not imported")
    else:
        lines.use(line)
    return section


def _take(section: _Section, line: Line, lines: Lines) -> None:
    """Read one line below `# Benchmarking`."""
    text = line.text
    words = text.split()
    if section.refused:
        return
    if "#repetitions" in words and all(not number_of(word) for word in words):
        _take_header(section, line, words, lines)
        return
    if not words[0].startswith("#"):
        if section.columns and not section.closed and _take_row(section, line, words):
            lines.use(line)
        elif looks_like_row(text) or any(name in text for name in _FAILURES):
            lines.refuse(line, f"a row of {section.benchmark} (line {section.line}) is not imported")
        return
    if not section.rows and _take_fact(section, text):  # below rows it may belong to a table with an unreadable name
        lines.use(line)


def _take_fact(section: _Section, text: str) -> bool:
    """Read a line above the rows; return whether it is known."""
    if found := _PROCESSES.fullmatch(text):
        section.ranks, section.threads = ranks_of(found[1]), ranks_of(found[2] or "1") or 1
        section.order = [] if found[3] else None
    elif found := _GROUPS.fullmatch(text):
        number, size = ranks_of(found[1]) or 1, ranks_of(found[2]) or 1
        section.ranks, section.group_size = number * size, size
    elif found := _MEMBERS.fullmatch(text):
        section.members[int(found[1][:6])] = _ranks(found[2])
    elif (found := _MORE_RANKS.fullmatch(text)) and (section.members or section.order is not None):
        into = section.order if section.order is not None else section.members[list(section.members)[-1]]
        into += _ranks(found[1])
        del into[MAX_RANKS_LISTED:]
    elif found := _MODE.fullmatch(text):
        section.knobs["aggregate"] = "yes" if found[1].lower() == "aggregate" else "no"
    elif found := _WINDOW.fullmatch(text):
        section.knobs["window"] = word_of(found[1])
    else:
        return False
    return True


def _ranks(text: str) -> list[int]:
    ranks = [count_of(word) for word in text.split()[:MAX_RANKS_LISTED]]
    return [rank for rank in ranks if rank is not None]


def _take_header(section: _Section, line: Line, words: list[str], lines: Lines) -> None:
    """Read the names of the columns. Rows below a second header are not read, since they belong to another table."""
    where = f"{section.benchmark} (line {section.line})"
    kinds = (_TIMED, _RATE, _MESSAGES)
    unknown = [word for word in words if word not in _OTHERS and not any(kind.fullmatch(word) for kind in kinds)]
    if section.rows:
        section.closed = True
        lines.refuse(line, f"the rows below this second header of {where} are not imported")
    elif unknown or len(set(words)) < len(words):
        section.columns, section.refused = (), True
        why = f'the column "{unknown[0][:60]}" is unknown' if unknown else "two columns have the same name"
        lines.refuse(line, f"{where} is not imported, since {why}")
    else:
        section.columns = tuple(words)
        if "defects" in words:
            section.knobs["check"] = "yes"
        lines.use(line)


def _take_row(section: _Section, line: Line, words: list[str]) -> bool:
    read = list(map(number_of, words))
    numbers = [number for number in read if number]
    leading = read.index(None) if None in read else len(words)
    if len(words) == len(numbers) and len(words) <= len(section.columns) and _counts(section.columns, words):
        failed = "" if len(words) == len(section.columns) else "incomplete row"
        section.rows.append(_Found(line.number, dict(zip(section.columns, numbers, strict=False)), failed))
        return True
    if 0 < leading < len(words) and _counts(section.columns, words[:leading]):
        failed = next((ours for name, ours in _FAILURES.items() if name in words[leading]), "")
        if failed:
            section.rows.append(
                _Found(line.number, dict(zip(section.columns, numbers[:leading], strict=False)), failed)
            )
        return bool(failed)
    return False


def _counts(columns: Sequence[str], words: Sequence[str]) -> bool:
    """Return whether columns of integers contain integers."""
    whole = [word for name, word in zip(columns, words, strict=False) if name in ("Group", "#bytes", "#repetitions")]
    return bool(words) and all(count_of(word) is not None for word in whole)


def _slowest(columns: Sequence[str]) -> str:
    """Return the column of times from which the tool computes rates: that of the slowest rank."""
    names = {found[1]: name for name in columns if (found := _TIMED.fullmatch(name))}
    return next((names[name] for name in ("t", "t_max", "t_pure") if name in names), "")


def _states_rates(section: _Section) -> bool:
    rows = (row for row in section.rows if not row.failed and "#bytes" in row.numbers)
    return any(map(_RATE.fullmatch, section.columns)) and any(row.numbers["#bytes"].value for row in rows)


def _solution(section: _Section) -> Solution | None:
    """Solve unit and factor of the rates of a table; `None` if it has no rates or no times."""
    rate = next((name for name in section.columns if _RATE.fullmatch(name)), "")
    messages = next((name for name in section.columns if _MESSAGES.fullmatch(name)), "")
    slowest = _slowest(section.columns)
    if not rate or not (slowest or messages) or slowest.startswith("t_pure"):  # the time of the rate is not stated
        return None
    if messages and not slowest and any(map(_TIMED.fullmatch, section.columns)):
        return None  # IMB-MT takes the two from different times
    stated = []
    for row in section.rows:
        numbers = row.numbers
        size = numbers.get("#bytes")
        if row.failed or not size or not size.value or not math.isfinite(numbers[rate].value):
            continue
        if not messages:  # where they are counted (IMB-P2P), the time is of another rank than the rate
            per = numbers[slowest].times(1 / _PER_UNIT[slowest.partition("[")[2].rstrip("]")])
        else:
            a, b = numbers[messages].low, numbers[messages].high
            per = Rounded((1 / b + 1 / a) / 2, (1 / a - 1 / b) / 2) if a > 0 else Rounded(math.nan, 0.0)
        if math.isfinite(per.value):
            stated.append(StatedRate(size.value, per, numbers[rate]))
    ranks = section.group_size or section.ranks or 1
    factors = (
        *_FACTORS,
        *(float(n) for n in (ranks - 1, section.threads, 2 * section.threads, 4 * section.threads) if n),
    )
    return solve(stated, factors, f"the rates of {section.benchmark} at line {section.line}") if stated else None


def _table(section: _Section, megabyte: float | None) -> Table:
    knobs = {**section.run.knobs(section.benchmark), **section.knobs}
    groups: tuple[tuple[int, ...], ...] = ()
    if section.group_size and section.ranks:
        knobs["groups"] = str(section.group_size)
        size = section.group_size
        number = min(section.ranks // size, MAX_RANKS_LISTED // size + 1)
        groups = tuple(
            tuple(section.members[i]) if i in section.members else tuple(range(i * size, (i + 1) * size))
            for i in range(number)
        )
        if sorted(rank for group in groups for rank in group) != list(range(section.ranks)):
            groups = ()
    if section.order and section.order != list(range(len(section.order))) and "map" not in knobs:
        knobs["map"] = word_of("order_" + ".".join(map(str, section.order)))
    cells: dict[str, list[ImportedRow]] = {}
    for found in section.rows:
        row = _row(section, found, megabyte)
        cell = row.knobs.get("bytes", "")
        other_group = cell in cells and "Group" in section.columns
        cells.setdefault(cell if cell not in cells or other_group else f"{cell} at {row.line}", []).append(row)
    rows = tuple(replace(every[0], values=tuple(v for row in every for v in row.values)) for every in cells.values())
    head = [(section.run.begin, section.run.end)] if section.run.begin else []
    return Table(
        section.benchmark,
        section.line,
        rows,
        knobs,
        section.ranks,
        section.threads,
        groups,
        scope=(*head, (section.begin, section.rows[-1].line)),
    )


def _row(section: _Section, found: _Found, megabyte: float | None) -> ImportedRow:
    size = found.numbers.get("#bytes")
    knobs = {"bytes": str(round(size.value))} if size else {}
    if found.failed:
        return ImportedRow(found.line, knobs, failed=f"{found.failed} in {section.benchmark}")
    group = round(found.numbers["Group"].value) if "Group" in found.numbers else 0
    values: list[tuple[str, float, str, float | None]] = []
    for name, number in found.numbers.items():
        if timed := _TIMED.fullmatch(name):
            ours = _OURS.get(timed[1], timed[1].lower())
            unit = "1" if timed[2] == "%" else "s"
            value = number.value / _PER_UNIT[timed[2]]
            values.append((ours, value, unit, None))
            if name == _slowest(section.columns) and ours != "time":
                values.insert(0, ("time", value, unit, None))
        elif _RATE.fullmatch(name) and megabyte and size and size.value:
            values.append(("bandwidth", number.value * megabyte, "B/s", None))
        elif _MESSAGES.fullmatch(name):
            values.append(("message rate", number.value, "1/s", None))
        elif name == "defects":
            values.append(("defects", number.value, "1", 0.0))
    return ImportedRow(
        found.line, knobs, tuple(ImportedValue(n, v, u, found.line, bound, group) for n, v, u, bound in values)
    )
