"""OSU Micro-Benchmarks: `# OSU MPI … Test vX`, facts, `# Size …` with the names of the columns, rows; MB = 10^6.

Before version 7 the columns of point-to-point tests have other names and begin at size 0; `-f` adds minimum and maximum
times, `-c` validation, `-z` percentiles. Only some outputs state the number of processes. A fact between rows, such as
the next data type, begins another table of the same benchmark.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from octant.foreign import ImportedRow, ImportedValue, Line, Lines, Output, Table
from octant.foreign._account import quote
from octant.foreign._names import find_octant_name
from octant.foreign._rows import looks_like_row
from octant.foreign._text import count_of, number_of, ranks_of, slug_of, word_of

_TITLE = re.compile(
    r"#\s*(?:OSU|OMB)\s+(?:One Sided\s+)?(?:(.{1,80}?)\s+(?:v|\(Version\s+)([0-9][\w.-]*)\)?|(.{1,80}\sTest))"
)
EXAMPLE = "# OSU MPI Latency Test v7.5"
_ACCELERATOR = re.compile(r"(?<!\S)(\w{1,40})-(CUDA MANAGED|CUDA|MANAGED|ROCM|OPENACC|SYCL|CXL)\b")
"""Below the name of a library or, of one-sided tests, of a function: MPI-CUDA, NCCL-CUDA, MPI_Put-ROCM."""
_COLUMN = re.compile(
    r"Size(?: \(B\))?|Transmit Size|Iterations|Validation|Messages/s"
    r"|(?:P[0-9]{1,2} Tail |Bi-)?(?:(?:Bandwidth|BW) ?\()?MB/s\)?"
    r"|(?<![A-Za-z0-9_.])(?P<time>(?:[A-Za-z0-9_.]++ ){0,3}[A-Za-z0-9_.]++) ?\(us\)|Overlap ?\(%\)"
)
_INIT = re.compile(r"\s*nprocs:\s*([0-9]+),\s*min:\s*([0-9.,]+) ms,\s*max:\s*([0-9.,]+) ms,\s*avg:\s*([0-9.,]+) ms\s*")
_PAIRS = re.compile(r"#\s*\[\s*pairs:\s*([0-9]+)\s*\](?:\s*\[\s*window size:\s*([0-9]+|varied)\s*\])?")
_BUFFERS = re.compile(
    r"#\s*(?:Send Buffer|Rank 0 Memory) on ([A-Z]+)(?: [A-Z]+)?(?: \(([A-Z]+)\))?"
    r" and (?:Receive Buffer|Rank 1 Memory) on ([A-Z]+)(?: [A-Z]+)?(?: \(([A-Z]+)\))?"
)
_SIDES = re.compile(
    r"#\s*Number of (?:(Sender|Receiver) (threads|processes)|forked (processes) in (sender|receiver))\s*:\s*([0-9]+)"
)
_FACTS = {
    "type": re.compile(r"#\s*Datatype:\s*MPI_(\w+?)\.?\s*"),
    "window": re.compile(r"#\s*Window creation:\s*MPI_Win_(\w+)\s*"),
    "sync": re.compile(r"#\s*Synchronization:\s*MPI_Win_(\w[\w/]*)\s*"),
}
_VARIED = {"# Uni-directional Bandwidth (MB/sec)": "bandwidth", "# Message Rate Profile": "message rate"}
_LIKE_ROW = re.compile(r"[0-9][0-9.,]*\s+[0-9][0-9.,]*\S*(?:\s.*)?")
"""A size and a number, also with separators of thousands, or with text of another program behind it."""
_WINDOWS = re.compile(r"#((?:\s+[0-9]{1,6})+)")
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
    """State of a table while its lines are read."""

    benchmark: str
    line: int
    ranks: int | None
    one_time: bool  # a definition with one timed role: its only time is the time
    accelerator: str = ""
    knobs: dict[str, str] = field(default_factory=dict)
    sides: dict[str, int] = field(default_factory=dict)  # threads or processes of the sender and the receiver
    columns: tuple[str, ...] = ()
    varied: str = ""  # what the columns of a table over window sizes hold
    windows: tuple[str, ...] = ()
    refused: bool = False
    begin: int = 0  # first line that may change its figures; 0: `line`
    head: tuple[tuple[int, int], ...] = ()  # of the first table of the title
    rows: list[ImportedRow] = field(default_factory=list)

    def again(self, line: Line) -> "_Section":
        """Return another table of the same benchmark, with the same facts so far."""
        head = self.head or ((self.begin or self.line, self.rows[0].line),)
        begin = self.rows[-1].line + 1  # a title that cannot be read may be above the fact
        knobs, sides = dict(self.knobs), dict(self.sides)
        return replace(self, line=line.number, begin=begin, head=head, rows=[], knobs=knobs, sides=sides)


def read(lines: Lines) -> Output:
    """Parse the output."""
    versions: dict[str, int] = {}
    version_line = ""
    sections: list[_Section] = []
    orphans: list[Line] = []
    sides: dict[str, int] = {}  # some versions print them above the title
    for line in lines:
        if title := _TITLE.fullmatch(line.text):
            lines.use(line)
            versions.setdefault(word_of(title[2]) if title[2] else "", line.number)
            version_line = version_line or line.text.strip("# ")
            before = sections[-1].rows[-1].line if sections and sections[-1].rows else 0
            sections.append(_begun(title[1] or title[3], line, sides, before))
            sides = {}
        elif found := _SIDES.fullmatch(line.text):
            lines.use(line)
            into = sections[-1].sides if sections and not sections[-1].rows else sides
            into[f"{found[2] or found[3]}_{(found[1] or found[4]).lower()}"] = ranks_of(found[5]) or 1
        elif sections and not sections[-1].refused:
            _take(sections, line, lines)
        elif _may_be_row(line.text) and not sections:
            orphans.append(line)
    for line in orphans if sections else ():
        lines.refuse(line, "a row without a title above it is not imported")
    remarks = _without_rows(sections)
    if orphans and not sections:
        remarks = [f'{quote(orphans[0])} has no title such as "{EXAMPLE}" above it']
    sections = [section for section in sections if section.rows and not section.refused]
    remarks += [*_keep_apart(sections), *_other_versions(versions)]
    return Output(
        "OSU",
        next(iter(versions), ""),
        version_line,
        tuple(map(_table, sections)),
        remarks=tuple(remarks),
    )


def _without_rows(sections: Sequence[_Section]) -> list[str]:
    """Return a remark on tables that have a title alone; osu_hello measures nothing."""
    empty = [
        f"{section.benchmark} (line {section.line})"
        for section in sections
        if not (section.rows or section.refused or "Hello" in section.benchmark)
    ]
    return (
        [f"no figures read below the title of {', '.join(empty[:5])}{', …' if len(empty) > 5 else ''}"] if empty else []
    )


def _may_be_row(text: str) -> bool:
    return looks_like_row(text) or "nprocs:" in text or bool(_LIKE_ROW.fullmatch(text))


def _begun(title: str, line: Line, sides: dict[str, int], before: int) -> _Section:
    title = title.removesuffix(" Test") if title.endswith(" Test Test") else title
    found = _ACCELERATOR.search(title)
    plain = title if found is None else title.replace(found[0], found[1])
    plain = re.sub(r"^[A-Za-z]CCL\b", "NCCL", plain.removeprefix("Python "))  # RCCL, XCCL: the same tests
    ranks = find_octant_name("osu", plain).ranks
    section = _Section(title, line.number, ranks, ranks is not None, found[2] if found else "")
    if found:
        section.knobs["accelerator"] = word_of(found[2].lower())
        if ranks is None and not re.search("Multi|Put|Get|Bandwidth", title):  # collective: all buffers are of one kind
            section.knobs["memory"] = "M" if "MANAGED" in found[2] else "D"
    if "Multi-" in title:
        section.sides.update(sides)
        section.begin = before + 1  # they may be above the title
    return section


def _keep_apart(sections: Sequence[_Section]) -> list[str]:
    """Keep tables of one benchmark apart if their buffers may differ, and return a remark on them."""
    seen: dict[str, int] = {}
    unstated = [section for section in sections if section.accelerator and "memory" not in section.knobs]
    for section in unstated:
        seen[section.benchmark] = seen.get(section.benchmark, 0) + 1
        number = seen[section.benchmark]
        section.knobs["memory"] = "not-stated" if number == 1 else f"not-stated-{number}"
    return [
        f"{section.benchmark} (line {section.line}) does not state whether its buffers are on the host or the device: "
        "its tables in a file remain separate"
        for section in unstated[:1]
    ]


def _other_versions(versions: dict[str, int]) -> list[str]:
    others = [f"OSU {version or 'without a version'} from line {line} on" for version, line in versions.items()][1:]
    return [f"the file also has tables of {', '.join(others[:5])}"] if others else []


def _take(sections: list[_Section], line: Line, lines: Lines) -> None:
    text = line.text
    if found := _INIT.fullmatch(text):
        lines.use(line)
        sections[-1].ranks = ranks_of(found[1])
        numbers = zip(("t_min", "t_max", "t_avg"), map(number_of, found.groups()[1:]), strict=True)
        values = (ImportedValue(name, n.value / 1e3, "s", line.number) for name, n in numbers if n)
        sections[-1].rows.append(ImportedRow(line.number, {}, tuple(values)))
    elif not text.startswith("#"):
        section = sections[-1]
        if rows := (_varied_row if section.windows else _row)(section, line):
            if section.windows or _increases(section, rows[0]):
                lines.use(line)
                section.rows += rows
            else:
                section.refused = True
                why = "since the size does not increase (rows of different runs may be mixed)"
                lines.refuse(line, f"{section.benchmark} (line {section.line}) is not imported, {why}")
        elif _may_be_row(text):
            lines.refuse(line, f"a row of {section.benchmark} (line {section.line}) is not imported")
    elif facts := _facts(text):
        lines.use(line)
        if sections[-1].rows:
            sections.append(sections[-1].again(line))
        sections[-1].ranks = ranks_of(facts.pop("ranks", "")) or sections[-1].ranks
        sections[-1].knobs.update(facts)
    elif text in _VARIED:
        lines.use(line)
        sections[-1].varied, sections[-1].windows = _VARIED[text], ()
    elif sections[-1].varied and (found := _WINDOWS.fullmatch(text)):
        lines.use(line)
        sections[-1].windows = tuple(found[1].split())
    elif columns := _columns(text):
        _take_header(sections[-1], line, columns, lines)


def _increases(section: _Section, row: ImportedRow) -> bool:
    """Return whether the size of a row is above that of the row before it, as in every table that OSU prints."""
    return not section.rows or int(section.rows[-1].knobs.get("bytes", -1)) < int(row.knobs.get("bytes", -1))


def _facts(text: str) -> dict[str, str]:
    """Return the facts in a line of the head; "ranks" is not a knob."""
    if found := _PAIRS.fullmatch(text):
        pairs = ranks_of(found[1])
        window = {} if found[2] in (None, "varied") else {"window": word_of(found[2])}
        return {"ranks": str(2 * pairs) if pairs else "", **window}
    if found := _BUFFERS.fullmatch(text):
        return {"memory": f"{found[2] or found[1][0]}-{found[4] or found[3][0]}"}
    for name, how in _FACTS.items():
        if found := how.fullmatch(text):
            return {name: word_of(found[1].lower())}
    return {}


def _take_header(section: _Section, line: Line, columns: tuple[str, ...], lines: Lines) -> None:
    where = f"{section.benchmark} (line {section.line})"
    unknown = next((name for name in columns if not _COLUMN.fullmatch(name)), "")
    if section.rows:
        section.columns, section.windows = (), ()
        lines.refuse(line, f"the rows below this second header of {where} are not imported")
    elif unknown:
        section.refused = True
        lines.refuse(line, f'{where} is not imported, since the column "{unknown[:60]}" is unknown')
    else:
        section.columns = columns
        if "Validation" in columns:
            section.knobs["validation"] = "yes"
        lines.use(line)


def _columns(text: str) -> tuple[str, ...]:
    """Return the names of the columns of a header line, also unknown ones; () for other lines."""
    rest = text.strip("# ")
    cells = [cell for cell in re.split(r"\s{2,}|\t", rest) if cell]
    known = [cell for cell in cells if _COLUMN.fullmatch(cell)]
    if known != cells or not known:
        found = [one[0].strip() for one in _COLUMN.finditer(rest)]
        if found and re.sub(r"\s", "", "".join(found)) == re.sub(r"\s", "", rest):
            cells = known = found
    if len(known) < min(2, len(cells)) or len(cells) > len(set(cells)) or cells == ["Size"]:
        return ()
    return tuple(cells)


def _row(section: _Section, line: Line) -> list[ImportedRow]:
    words = line.text.split()
    if len(words) != len(section.columns):
        return []
    knobs, values = {}, []
    for name, word in zip(section.columns, words, strict=True):
        number = number_of(word)
        if name.startswith("Size") or name == "Transmit Size":
            if count_of(word) is None:
                return []
            knobs["bytes" if name.startswith("Size") else "transmitted"] = str(int(word))
        elif name == "Validation":
            if word.lower() not in ("pass", "fail"):
                return []
            values.append(ImportedValue("validation", float(word.lower() == "fail"), "1", line.number, 0.0))
        elif number is None or (word.isdecimal() and name != "Iterations"):  # OSU prints times and rates with decimals
            return []
        elif name != "Iterations":
            values += _values(section, name, number.value, line.number)
    return [ImportedRow(line.number, knobs, tuple(values))]


def _varied_row(section: _Section, line: Line) -> list[ImportedRow]:
    """Return the rates of one length with each window."""
    size, *rates = line.text.split()
    numbers = [number for number in map(number_of, rates) if number]
    if count_of(size) is None or not len(numbers) == len(rates) == len(section.windows):
        return []
    scale, unit = (1e6, "B/s") if section.varied == "bandwidth" else (1.0, "1/s")
    return [
        ImportedRow(
            line.number,
            {"bytes": str(int(size)), "window": window},
            (ImportedValue(section.varied, number.value * scale, unit, line.number),),
        )
        for window, number in zip(section.windows, numbers, strict=True)
    ]


def _values(section: _Section, name: str, value: float, line: int) -> Iterable[ImportedValue]:
    if "MB/s" in name:
        percentile = re.match(r"P[0-9]+", name)
        return [
            ImportedValue(f"bandwidth_{percentile[0].lower()}" if percentile else "bandwidth", value * 1e6, "B/s", line)
        ]
    if name == "Messages/s":
        return [ImportedValue("message rate", value, "1/s", line)]
    if name.startswith("Overlap"):
        return [ImportedValue("overlap_osu", value / 100, "1", line)]
    found = _COLUMN.fullmatch(name)
    plain = slug_of((found and found["time"]) or "time")
    short = plain.removesuffix("_latency").removesuffix("_lat").removesuffix("_tail")
    ours = "time" if plain == "latency" else _OUR_TIMES.get(short, f"t_{short}")
    if ours in ("time", "t_avg"):
        ours = "time" if section.one_time else "t_avg"
    every = ["time", ours] if ours in ("t_max", "t_pure") and not section.one_time else [ours]
    return [ImportedValue(one, value / 1e6, "s", line) for one in every]


def _table(section: _Section) -> Table:
    threads = {count for side, count in section.sides.items() if side.startswith("threads")}
    differ = len(set(section.sides.values())) > 1 or not threads
    rows: dict[tuple[tuple[str, str], ...], ImportedRow] = {}
    for number, row in enumerate(section.rows):
        key = tuple(row.knobs.items()) if section.varied else (("", str(number)),)
        before = rows.get(key)
        rows[key] = replace(before, values=(*before.values, *row.values)) if before else row
    return Table(
        section.benchmark,
        section.line,
        tuple(rows.values()),
        {**section.knobs, **({side: str(count) for side, count in section.sides.items()} if differ else {})},
        section.ranks,
        1 if not threads else next(iter(threads)) if len(threads) == 1 else None,
        scope=(*section.head, (section.begin or section.line, section.rows[-1].line)),
    )
