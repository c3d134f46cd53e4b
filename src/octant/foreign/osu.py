"""OSU Micro-Benchmarks: `# OSU MPI … Test vX`, `# Size …` with the names of the columns, rows; MB = 10^6.

Before version 7 the columns of point-to-point tests are called otherwise and begin at size 0; `-f` adds least and
greatest times, `-c` whether the data was right. Only some outputs say how many processes there were.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from octant.foreign import Output, Row, Table, Value
from octant.foreign._names import named
from octant.foreign._text import Line, count_of, number_of, ranks_of, slug_of, word_of

_TITLE = re.compile(r"#\s*OSU\s+(?:One Sided\s+)?(.{1,80}?)\s+(?:v|\(Version\s+)([0-9][\w.]*)\)?\s*")
_COLUMN = re.compile(
    r"Size|Iterations|Validation|Messages/s|(?:Bandwidth\s*\()?MB/s\)?"
    r"|(?<![A-Za-z0-9_.])(?P<time>(?:[A-Za-z0-9_.]++ ){0,3}[A-Za-z0-9_.]++) ?\(us\)|Overlap ?\(%\)"
)
_INIT = re.compile(r"\s*nprocs:\s*([0-9]+),\s*min:\s*([0-9.,]+) ms,\s*max:\s*([0-9.,]+) ms,\s*avg:\s*([0-9.,]+) ms\s*")
_PAIRS = re.compile(r"#\s*\[\s*pairs:\s*([0-9]+)\s*\]\s*\[\s*window size:\s*([0-9]+)\s*\]")
_FACTS = {
    "type": re.compile(r"#\s*Datatype:\s*MPI_(\w+?)\.?\s*"),
    "window": re.compile(r"#\s*Window creation:\s*MPI_Win_(\w+)\s*"),
    "sync": re.compile(r"#\s*Synchronization:\s*MPI_Win_(\w[\w/]*)\s*"),
}
_OUR_TIMES = {
    "min": "t_min",
    "max": "t_max",
    "avg": "t_avg",
    "overall": "t_ovrl",
    "pure_comm": "t_pure",
    "compute": "t_cpu",
}


@dataclass
class _Section:
    """A table that is being read."""

    benchmark: str
    line: int
    ranks: int | None
    one_time: bool  # a definition with one timed role: its only time is the time
    knobs: dict[str, str] = field(default_factory=dict)
    columns: tuple[str, ...] = ()
    rows: list[Row] = field(default_factory=list)


def read(lines: Sequence[Line]) -> Output:
    """What the output says."""
    version = version_line = ""
    sections: list[_Section] = []
    for line in lines:
        if title := _TITLE.fullmatch(line.text):
            version, version_line = version or title[2], version_line or line.text.strip("# ")
            fixed = named("osu", title[1]).ranks
            sections.append(_Section(title[1], line.number, fixed, fixed is not None))
        elif sections:
            _take(sections[-1], line)
    return Output(
        "OSU", word_of(version) if version else "", version_line,
        tuple(Table(s.benchmark, s.line, tuple(s.rows), s.knobs, s.ranks) for s in sections if s.rows),
    )  # fmt: skip


def _take(section: _Section, line: Line) -> None:
    text = line.text
    if found := _PAIRS.fullmatch(text.rstrip()):
        pairs = ranks_of(found[1])
        section.ranks = 2 * pairs if pairs else section.ranks
        section.knobs["window"] = word_of(found[2])
    elif found := _INIT.fullmatch(text):
        section.ranks = ranks_of(found[1])
        numbers = zip(("t_min", "t_max", "t_avg"), map(number_of, found.groups()[1:]), strict=True)
        values = (Value(name, n.value / 1e3, "s", line.number) for name, n in numbers if n)
        section.rows.append(Row(line.number, {}, tuple(values)))
    elif fact := next(((name, found) for name, how in _FACTS.items() if (found := how.fullmatch(text))), None):
        section.knobs[fact[0]] = word_of(fact[1][1].lower())
    elif text.lstrip().startswith("#") and (columns := _columns(text)):
        section.columns = columns
    elif section.columns and (row := _row(section, line)):
        section.rows.append(row)


def _columns(text: str) -> tuple[str, ...]:
    """The names of the columns, where the line is nothing but such."""
    rest = text.strip("# ")
    cells = [cell for cell in re.split(r"\s{2,}|\t", rest) if cell]
    if not cells or not all(_COLUMN.fullmatch(cell) for cell in cells):
        cells = [found[0].strip() for found in _COLUMN.finditer(rest)]
        if not cells or re.sub(r"\s", "", "".join(cells)) != re.sub(r"\s", "", rest):
            return ()
    return tuple(cells) if len(cells) == len(set(cells)) and cells != ["Size"] else ()


def _row(section: _Section, line: Line) -> Row | None:
    words = line.text.split()
    if len(words) != len(section.columns):
        return None
    knobs, values = {}, []
    for name, word in zip(section.columns, words, strict=True):
        number = number_of(word)
        if name == "Size":
            if count_of(word) is None:
                return None
            knobs["bytes"] = str(int(word))
        elif name == "Validation":
            if word.lower() not in ("pass", "fail"):
                return None
            values.append(Value("validation", float(word.lower() == "fail"), "1", line.number, 0.0))
        elif number is None:
            return None
        elif name != "Iterations":
            values += _values(section, name, number.value, line.number)
    return Row(line.number, knobs, tuple(values))


def _values(section: _Section, name: str, value: float, line: int) -> Iterable[Value]:
    if "MB/s" in name:
        return [Value("bandwidth", value * 1e6, "B/s", line)]
    if name == "Messages/s":
        return [Value("message rate", value, "1/s", line)]
    if name.startswith("Overlap"):
        return [Value("overlap_osu", value / 100, "1", line)]
    found = _COLUMN.fullmatch(name)
    plain = slug_of((found and found["time"]) or "time")
    short = plain.removesuffix("_latency").removesuffix("_lat").removesuffix("_tail")
    ours = "time" if plain == "latency" else _OUR_TIMES.get(short, f"t_{short}")
    if ours in ("time", "t_avg"):
        ours = "time" if section.one_time else "t_avg"
    every = ["time", ours] if ours in ("t_max", "t_pure") and not section.one_time else [ours]
    return [Value(one, value / 1e6, "s", line) for one in every]
