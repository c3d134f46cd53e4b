"""McCalpin's STREAM: `Function … Rate …` with the names of the columns, four rows, and a line on the arrays' contents.

Its rate is that of the shortest time, bytes counted as the source names them; it is checked against that time.
"""

import re
from collections.abc import Sequence

from octant.foreign import Output, Row, Table, Value
from octant.foreign._rates import Stated, common_megabyte, solve
from octant.foreign._text import Line, Rounded, count_of, first, number_of, ranks_of, word_of

_HEADER = re.compile(
    r"\s*Function\s+(?P<rate>Best Rate MB/s|Rate \(MB/s\))\s+(?P<mean>(?:Avg|RMS) time)\s+Min time\s+Max time\s*"
)
_ROW = re.compile(r"\s*(Copy|Scale|Add|Triad):?\s+(\S+)\s+(\S+)\s+(\S+)\s+(\S+)\s*")
_RIGHT, _WRONG = re.compile(r"\s*Solution Validates"), re.compile(r"\s*Failed Validation on array", re.IGNORECASE)
_ARRAYS = {"Copy": 2, "Scale": 2, "Add": 3, "Triad": 3}
_TIMES = ("t_avg", "t_min", "t_max")


def read(lines: Sequence[Line]) -> Output:
    """What the output says; rows count once a line says that their results are right or wrong.

    Raises:
        Refusal: rates that fit no unit.
    """
    version = first(lines, r"STREAM version \$?Revision:\s*([0-9.]+).*")
    element = first(lines, r"uses\s+([0-9]{1,2}) bytes per (?:array element|DOUBLE PRECISION word)")
    tables, remarks = [], []
    elements = threads = None
    rows: list[tuple[int, re.Match[str]]] = []
    columns = False
    for line in lines:
        text = line.text
        if found := re.search(r"Array size\s*=\s*([0-9]+)", text):
            elements = count_of(found[1])
        elif found := re.search(r"Number of Threads (?:counted|requested)\s*=\s*([0-9]+)", text):
            threads = ranks_of(found[1])
        elif _HEADER.fullmatch(text):
            columns, rows = True, []
        elif columns and (found := _ROW.fullmatch(text)) and all(map(number_of, found.groups()[1:])):
            rows.append((line.number, found))
        elif rows and (_RIGHT.match(text) or _WRONG.match(text)):
            size = elements * (int(element[1]) if element else 8) if elements else None
            tables += _tables(rows, size, threads or 1, (line.number, bool(_WRONG.match(text))))
            rows, columns = [], False
    if rows:
        remarks.append(f"no line below line {rows[-1][0]} says whether the results are right; not imported")
    return Output(
        "STREAM", word_of(version[1]) if version else "", version[0].strip() if version else "", tuple(tables),
        remarks=tuple(remarks),
    )  # fmt: skip


def _tables(
    rows: Sequence[tuple[int, re.Match[str]]], array_bytes: int | None, threads: int, verdict: tuple[int, bool]
) -> list[Table]:
    """A table for each loop.

    Args:
        array_bytes: of one array; `None` where the file does not say it.
        verdict: the line of the check, and whether the results are wrong.
    """
    numbers = [(line, row[1], [_sure(word) for word in row.groups()[1:]]) for line, row in rows]
    stated = [
        Stated(_ARRAYS[name] * array_bytes, printed[2], printed[0]) for _, name, printed in numbers if array_bytes
    ]
    megabyte: float | None = 1e6
    if stated:
        solution = solve(stated, (1.0,), f"the rates at line {rows[0][0]}")
        megabyte = common_megabyte([solution], "the file")
    tables = []
    for line, name, (rate, *times) in numbers:
        values = [Value("bandwidth", rate.value * megabyte, "B/s", line)] if megabyte else []
        values += [Value(ours, time.value, "s", line) for ours, time in zip(_TIMES, times, strict=True)]
        values.append(Value("validation", float(verdict[1]), "1", verdict[0], 0.0))
        size = {"bytes": str(_ARRAYS[name] * array_bytes)} if array_bytes else {}
        row = Row(line, size, tuple(values))
        tables.append(Table("stream", line, (row,), {"kernel": name.lower()}, 1, threads))
    return tables


def _sure(word: str) -> Rounded:
    found = number_of(word)
    assert found is not None  # noqa: S101 - rows with other words were left out
    return found
