"""Intel MPI Benchmarks, and Pallas' before them: `# Benchmarking NAME`, `# #processes = N`, a header line, rows.

Rates are checked against the times beside them, which tells the megabyte (10^6 today, 2^20 of Pallas and of early
versions) and how many messages a repetition counts as (Sendrecv two, Exchange four).
"""

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from octant.foreign import Output, Row, Table, Value
from octant.foreign._rates import Solution, Stated, common_megabyte, solve
from octant.foreign._text import Line, Rounded, count_of, date_of, first, number_of, ranks_of, word_of
from octant.units import counted

_TITLE = re.compile(r"(?i)#\s*((?:Intel\s*\(R\)|Pallas)\s+MPI Benchmarks?(?: Suite)?\s+V?([0-9][\w.]*).*)")
_START = re.compile(r"#\s*Benchmarking\s+(?:Multi-)?(\S+)")
_PROCESSES = re.compile(r"#\s*(?:\(\s*)?#processes\s*=\s*([0-9]+)(?:.*\(threads:\s*([0-9]+)\))?")
_GROUPS = re.compile(r"#\s*\(\s*([0-9]+)\s+groups? of\s+([0-9]+)\s+processes")
_MEMBERS = re.compile(r"#\s*Group\s+([0-9]+):((?:\s+[0-9]+)+)\s*")
_MODE = re.compile(r"#\s*MODE:\s*(\S+)")
_PER_UNIT = {"usec": 1e6, "msec": 1e3, "sec": 1.0, "%": 100.0}
"""How many of a column's unit are a second, or a whole."""
_TIMED = re.compile(r"([A-Za-z_]+)\[(usec|msec|sec|%)\]")
_OURS = {"t": "time", "overlap": "overlap_imb"}  # its overlap is over the longer of both times
_RATE = re.compile(r"M[Bb](?:ytes?)?/s(?:ec)?")
_MESSAGES = re.compile(r"M(?:e?s?sa?ge?s?|sg)/s(?:ec)?")
_FACTORS = (1.0, 2.0, 4.0, 0.5)
MOST_RANKS_LISTED = 100_000


@dataclass
class _Section:
    """A table that is being read: what its lines say so far."""

    benchmark: str
    line: int
    ranks: int | None = None
    threads: int = 1
    group_size: int = 0
    members: dict[int, tuple[int, ...]] = field(default_factory=dict)
    mode: str = ""
    columns: tuple[str, ...] = ()
    rows: list["_Found"] = field(default_factory=list)
    strange: list[int] = field(default_factory=list)  # lines between the rows that are none


@dataclass(frozen=True)
class _Found:
    """One line of a table."""

    line: int
    numbers: dict[str, Rounded]  # by column
    timed_out: bool = False


def read(lines: Sequence[Line]) -> Output:
    """What the output says.

    Raises:
        Refusal: rates that fit no unit and factor.
    """
    title = first(lines, _TITLE.pattern)
    sections = [section for section in _sections(lines) if section.rows]
    solutions = [_solution(section) for section in sections]
    megabyte = common_megabyte((one for one in solutions if one), "the file")
    operation, kind = (
        first(lines, rf"#\s*{name}\s*:\s*MPI_(\S+)") for name in ("MPI_Op", "MPI_Datatype for reductions")
    )
    reduced = {name: word_of(found[1].lower()) for name, found in (("op", operation), ("type", kind)) if found}
    remarks = []
    if megabyte is None and any(map(_states_rates, sections)):
        remarks.append("nothing tells whether rates are of 10^6 or of 2^20 bytes: they are not imported")
    remarks += [
        f"{counted(len(one.strange), 'line')} from line {one.strange[0]} on are no rows of {one.benchmark}"
        for one in sections
        if one.strange
    ]
    date = first(lines, r"#\s*Date\s*:\s*(.+)")
    machine = first(lines, r"#\s*Machine\s*:\s*(\S+)")
    return Output(
        "PMB" if title and "pallas" in title[0].lower() else "IMB",
        word_of(title[2]) if title and title[2] else "",
        title[0].strip("# ") if title else "",
        tuple(_table(section, megabyte, reduced) for section in sections),
        date_of(date[1]) if date else "",
        word_of(machine[1]) if machine else "",
        tuple(remarks),
    )


def _sections(lines: Iterable[Line]) -> Iterable[_Section]:
    section: _Section | None = None
    for line in lines:
        if begun := _START.match(line.text):
            if section:
                yield section
            section = _Section(begun[1][:60], line.number)
        elif section:
            _take(section, line)
    if section:
        yield section


def _take(section: _Section, line: Line) -> None:
    """What one line below `# Benchmarking` adds."""
    text = line.text
    words = text.split()
    if "#repetitions" in words and all(not number_of(word) for word in words):
        section.columns = tuple(words) if not section.rows else ()  # a second header belongs to nothing we know
    elif found := _PROCESSES.match(text):
        section.ranks, section.threads = ranks_of(found[1]), ranks_of(found[2] or "1") or 1
    elif found := _GROUPS.match(text):
        number, size = ranks_of(found[1]) or 1, ranks_of(found[2]) or 1
        section.ranks, section.group_size = number * size, size
    elif found := _MEMBERS.match(text):
        ranks = [count_of(word) for word in found[2].split()[:MOST_RANKS_LISTED]]
        section.members[int(found[1][:6])] = tuple(rank for rank in ranks if rank is not None)
    elif found := _MODE.match(text):
        section.mode = found[1].lower()
    elif section.columns and words and not text.lstrip().startswith("#"):
        _take_row(section, line, words)


def _take_row(section: _Section, line: Line, words: list[str]) -> None:
    numbers = [number for word in words if (number := number_of(word))]
    leading = next((i for i, word in enumerate(words) if not number_of(word)), len(words))
    if len(words) == len(numbers) and len(words) <= len(section.columns) and _counts(section.columns, words):
        whole = len(words) == len(section.columns)
        section.rows.append(_Found(line.number, dict(zip(section.columns, numbers, strict=False)), not whole))
    elif 0 < leading < len(words) and "time-out" in words[leading] and _counts(section.columns, words[:leading]):
        section.rows.append(_Found(line.number, dict(zip(section.columns, numbers[:leading], strict=False)), True))
    else:
        section.strange.append(line.number)


def _counts(columns: Sequence[str], words: Sequence[str]) -> bool:
    """Whether what stands under whole numbers are such."""
    whole = [word for name, word in zip(columns, words, strict=False) if name in ("Group", "#bytes", "#repetitions")]
    return bool(words) and all(count_of(word) is not None for word in whole)


def _slowest(columns: Sequence[str]) -> str:
    """The column of times that rates are made of: of the slowest rank."""
    names = {found[1]: name for name in columns if (found := _TIMED.fullmatch(name))}
    return next((names[name] for name in ("t", "t_max", "t_pure") if name in names), "")


def _states_rates(section: _Section) -> bool:
    rows = (row for row in section.rows if not row.timed_out and "#bytes" in row.numbers)
    return any(map(_RATE.fullmatch, section.columns)) and any(row.numbers["#bytes"].value for row in rows)


def _solution(section: _Section) -> Solution | None:
    """What the rates of a table count, solved over its rows; `None` where it has none, or nothing to compare with."""
    rate = next((name for name in section.columns if _RATE.fullmatch(name)), "")
    messages = next((name for name in section.columns if _MESSAGES.fullmatch(name)), "")
    slowest = _slowest(section.columns)
    if not rate or not (slowest or messages) or slowest.startswith("t_pure"):  # of which time it is, nothing says
        return None
    stated = []
    for row in section.rows:
        numbers = row.numbers
        size = numbers.get("#bytes")
        if row.timed_out or not size or not size.value or not math.isfinite(numbers[rate].value):
            continue
        if slowest:
            per = numbers[slowest].times(1 / _PER_UNIT[slowest.partition("[")[2].rstrip("]")])
        else:
            a, b = numbers[messages].low, numbers[messages].high
            per = Rounded((1 / b + 1 / a) / 2, (1 / a - 1 / b) / 2) if a > 0 else Rounded(math.nan, 0.0)
        if math.isfinite(per.value):
            stated.append(Stated(size.value, per, numbers[rate]))
    ranks = section.group_size or section.ranks or 1
    factors = (
        *_FACTORS,
        *(float(n) for n in (ranks - 1, section.threads, 2 * section.threads, 4 * section.threads) if n),
    )
    return solve(stated, factors, f"the rates of {section.benchmark} at line {section.line}") if stated else None


def _table(section: _Section, megabyte: float | None, reduced: dict[str, str]) -> Table:
    knobs = {"aggregate": "yes" if section.mode == "aggregate" else "no"} if section.mode else {}
    groups: tuple[tuple[int, ...], ...] = ()
    if section.group_size and section.ranks:
        knobs["groups"] = str(section.group_size)
        size = section.group_size
        number = min(section.ranks // size, MOST_RANKS_LISTED // size + 1)
        groups = tuple(section.members.get(i, tuple(range(i * size, (i + 1) * size))) for i in range(number))
        if sorted(rank for group in groups for rank in group) != list(range(section.ranks)):
            groups = ()
    if "reduce" in section.benchmark.lower():
        knobs |= reduced
    cells: dict[str, list[Row]] = {}
    for found in section.rows:
        row = _row(section, found, megabyte)
        cell = row.knobs.get("bytes", "")
        other_group = cell in cells and "Group" in section.columns
        cells.setdefault(cell if cell not in cells or other_group else f"{cell} at {row.line}", []).append(row)
    rows = tuple(replace(every[0], values=tuple(v for row in every for v in row.values)) for every in cells.values())
    return Table(section.benchmark, section.line, rows, knobs, section.ranks, section.threads, groups)


def _row(section: _Section, found: _Found, megabyte: float | None) -> Row:
    size = found.numbers.get("#bytes")
    knobs = {"bytes": str(round(size.value))} if size else {}
    if found.timed_out:
        return Row(found.line, knobs, failed=f"timed out in {section.benchmark}")
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
    return Row(found.line, knobs, tuple(Value(n, v, u, found.line, bound, group) for n, v, u, bound in values))
