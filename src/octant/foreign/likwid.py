"""likwid-bench: `Test: NAME`, then a block of `Key:<tabs>value`; rates are compared with volume and time.

The lines before a block state hardware threads, domains and initialisation, which are knobs.
"""

import re
import zlib
from collections.abc import Iterable
from dataclasses import dataclass, field

from octant.foreign import ImportedRow, ImportedValue, Line, Lines, Output, Table
from octant.foreign._rates import StatedRate, common_megabyte, solve
from octant.foreign._text import LONGEST_WORD, Rounded, count_of, number_of, ranks_of, word_of

_TEST = re.compile(r"Test:\s*(\S{1,60})")
_PAIR = re.compile(r"([A-Z][A-Za-z/ ().]{2,40}):\s+(\S+)(?: sec)?")
_RULE = re.compile(r"-{20,}")
_THREADS = re.compile(r"Using\s+([0-9]+)\s+threads")
_GROUPS = re.compile(r"Using\s+([0-9]+)\s+work groups")
_THREAD = re.compile(r"Group: [0-9]+ Thread [0-9]+ Global Thread [0-9]+ running on \w+ ([0-9]{1,7}) - Vector length .*")
_STREAM = re.compile(r"Allocate: Process running on .{1,60}\(Domain (\w{1,20})\) - .* Offset ([0-9]{1,18}) .*")
_FIRST_TOUCH = re.compile(r"Initialization: (First|Each) thread in domain .*")
_VERSION = re.compile(
    r"(?:LIKWID MICRO BENCHMARK|likwid-bench)\s+(?:--\s+)?(?:Version\s+)?v?([0-9][\w.]*)(?:\s+\(.{0,80}\))?"
)
_WANTED = {
    "MByte/s": ("bandwidth", "B/s", 1e6),
    "MFlops/s": ("rate", "flop/s", 1e6),
    "Time": ("time", "s", 1.0),
}
_NEEDED = frozenset({"Time", "Size (Byte)", "Data volume (Byte)", "MByte/s"})
_USED = _NEEDED | {"MFlops/s", "Number of Flops"}


@dataclass
class _Block:
    """State of a run while its lines are read."""

    begin: int
    test: str = ""
    opened: bool = False  # whether a line of it was read
    groups: int = 1
    threads: int | None = None
    cpus: set[int] = field(default_factory=set)
    domains: set[str] = field(default_factory=set)
    offsets: set[str] = field(default_factory=set)
    first_touch: str = ""
    pairs: dict[str, tuple[int, Rounded]] = field(default_factory=dict)
    torn: bool = False  # a key is there twice

    @property
    def knobs(self) -> dict[str, str]:
        """Hardware threads, domains and offsets; numbers are joined by `+`, since a comma separates values."""
        found = {"cpus": _ranges(self.cpus)} if self.cpus else {}
        found |= {"domain": word_of("+".join(sorted(self.domains)))} if self.domains else {}
        found |= {"offset": word_of("+".join(sorted(self.offsets)))} if self.offsets - {"0"} else {}
        found |= {"init": self.first_touch} if self.first_touch else {}
        return found | ({"workgroups": str(self.groups)} if self.groups > 1 else {})


def _ranges(numbers: Iterable[int]) -> str:
    """Return numbers as `0-3+8`; if this is too long for the value of a knob, its begin and a checksum."""
    parts: list[list[int]] = []
    for number in sorted(numbers):
        if parts and number == parts[-1][1] + 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    text = "+".join(str(low) if low == high else f"{low}-{high}" for low, high in parts)
    return text if len(text) <= LONGEST_WORD else f"{text[:40]}_{zlib.crc32(text.encode()):08x}"


def read(lines: Lines) -> Output:
    """Parse the output; incomplete blocks are not imported.

    Raises:
        Refusal: rates that are consistent with no unit.
    """
    tables, remarks, version = [], [], ""
    block = _Block(0)
    for line in lines:
        if found := _VERSION.fullmatch(line.text):
            version = version or word_of(found[1])
            lines.use(line)
        elif _RULE.fullmatch(line.text) and "MByte/s" in block.pairs:
            if table := _table(block, line.number):
                tables.append(table)
            else:
                remarks.append(f"the block that ends at line {line.number} is incomplete and not imported")
            block = _Block(line.number + 1)
        elif (found := _TEST.fullmatch(line.text)) and block.pairs:
            remarks.append(f"the block that begins at line {block.begin} is incomplete and not imported")
            block = _Block(line.number, found[1])
            lines.use(line)
        elif _take(block, line, lines):
            if not block.opened:
                block.begin, block.opened = line.number, True  # what is above it was printed by other programs
            lines.use(line)
    if block.pairs:
        remarks.append(f"the block of {block.test or 'an unknown test'} is incomplete and not imported")
    return Output("likwid-bench", version, "", tuple(tables), remarks=tuple(remarks[:3]))


def _take(block: _Block, line: Line, lines: Lines) -> bool:
    """Read a line of a block; return whether it was understood."""
    text = line.text
    if found := _TEST.fullmatch(text):
        block.test = found[1]
    elif found := _THREADS.fullmatch(text):
        block.threads = ranks_of(found[1])
    elif found := _GROUPS.fullmatch(text):
        block.groups = ranks_of(found[1]) or 1
    elif found := _THREAD.fullmatch(text):
        block.cpus.add(int(found[1]))
    elif found := _STREAM.fullmatch(text):
        block.domains.add(found[1])
        block.offsets.add(found[2])
    elif found := _FIRST_TOUCH.fullmatch(text):
        block.first_touch = found[1].lower()
    elif (found := _PAIR.fullmatch(text)) and block.test and found[1].strip() in _USED:
        return _pair(block, line, lines, found[1].strip(), number_of(found[2]))
    else:
        return False
    return True


def _pair(block: _Block, line: Line, lines: Lines, key: str, number: Rounded | None) -> bool:
    if number is None or key in block.pairs:
        what = "occurs twice" if number else "is not a number"
        lines.refuse(line, f"{key} {what}; the block is not imported")
        block.torn = True
        return False
    block.pairs[key] = line.number, number
    return True


def _table(block: _Block, end: int) -> Table | None:
    pairs = block.pairs
    if block.torn or not block.test or not pairs.keys() >= _NEEDED:
        return None
    line, rate = pairs["MByte/s"]
    volume, time = pairs["Data volume (Byte)"][1].value, pairs["Time"][1]
    megabyte: float | None = 1e6
    if volume > 0 and time.value > 0:
        solution = solve([StatedRate(volume, time, rate)], (1.0,), f"the rate of {block.test} at line {line}")
        megabyte = common_megabyte([solution], "the file")
    flops = pairs.get("Number of Flops", (0, Rounded(1.0, 0.0)))[1].value
    values = []
    for key, (name, unit, scale) in _WANTED.items():
        if key in pairs and (key != "MByte/s" or megabyte) and (key != "MFlops/s" or flops):
            printed = f"{key}: {pairs[key][1].value:.6g}"
            values.append(ImportedValue(name, pairs[key][1].value * scale, unit, pairs[key][0], printed=printed))
    size = str(round(pairs["Size (Byte)"][1].value))
    first = min(number for number, _ in pairs.values())
    sizes = {"bytes": size} if count_of(size) is not None else {}
    scope = ((block.begin, end),)
    return Table(
        block.test, first, (ImportedRow(first, sizes, tuple(values)),), block.knobs, 1, block.threads, scope=scope
    )
