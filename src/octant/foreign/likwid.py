"""likwid-bench: `Test: NAME`, then a block of `Key:<tabs>value`; rates are checked against the volume and the time."""

import re
from collections.abc import Sequence

from octant.foreign import Output, Row, Table, Value
from octant.foreign._rates import Stated, common_megabyte, solve
from octant.foreign._text import Line, Rounded, count_of, number_of, ranks_of

_TEST = re.compile(r"Test:\s*(\S{1,60})\s*")
_PAIR = re.compile(r"([A-Z][A-Za-z/ ().]{2,40}):\s+(\S+)(?: sec)?\s*")
_RULE = re.compile(r"-{20,}\s*")
_THREADS = re.compile(r"Using\s+([0-9]+)\s+threads\s*")
_WANTED = {
    "MByte/s": ("bandwidth", "B/s", 1e6),
    "MFlops/s": ("rate", "flop/s", 1e6),
    "Time": ("time", "s", 1.0),
}


def read(lines: Sequence[Line]) -> Output:
    """What the output says; a block counts once its end is there.

    Raises:
        Refusal: rates that fit no unit.
    """
    tables = []
    test, threads, version = "", 1, ""
    pairs: dict[str, tuple[int, Rounded]] = {}
    for line in lines:
        if found := _TEST.fullmatch(line.text):
            test, threads, pairs = found[1], 1, {}
        elif found := _THREADS.fullmatch(line.text):
            threads = ranks_of(found[1]) or 1
        elif found := re.fullmatch(
            r"(?:LIKWID MICRO BENCHMARK|likwid-bench)\s+(?:--\s+)?(?:Version\s+)?v?([0-9][\w.]*)", line.text
        ):
            version = version or found[1]
        elif (found := _PAIR.fullmatch(line.text)) and test and (number := number_of(found[2])):
            pairs.setdefault(found[1].strip(), (line.number, number))
        elif _RULE.fullmatch(line.text) and "MByte/s" in pairs:
            if table := _table(test, threads, pairs):
                tables.append(table)
            test, pairs = "", {}
    return Output("likwid-bench", version, "", tuple(tables))


def _table(test: str, threads: int, pairs: dict[str, tuple[int, Rounded]]) -> Table | None:
    if not {"Time", "Size (Byte)", "Data volume (Byte)"} <= pairs.keys():
        return None
    line, rate = pairs["MByte/s"]
    volume, time = pairs["Data volume (Byte)"][1].value, pairs["Time"][1]
    megabyte: float | None = 1e6
    if volume > 0 and time.value > 0:
        solution = solve([Stated(volume, time, rate)], (1.0,), f"the rate of {test} at line {line}")
        megabyte = common_megabyte([solution], "the file")
    values = []
    for key, (name, unit, scale) in _WANTED.items():
        if key in pairs and (key != "MByte/s" or megabyte) and (key == "Time" or pairs[key][1].value):
            values.append(Value(name, pairs[key][1].value * scale, unit, pairs[key][0]))
    size = round(pairs["Size (Byte)"][1].value)
    first = min(number for number, _ in pairs.values())
    knobs = {"bytes": str(size)} if count_of(str(size)) is not None else {}
    return Table(test, first, (Row(first, knobs, tuple(values)),), {}, 1, threads)
