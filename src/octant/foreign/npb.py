"""NAS Parallel Benchmarks: a block of ` KEY = value` below `XX Benchmark Completed`, in all versions and languages."""

import re
from collections.abc import Sequence

from octant.foreign import Output, Row, Table, Value
from octant.foreign._text import Line, number_of, ranks_of, word_of

_START = re.compile(r"\s*([A-Z]{2}(?:-MZ)?) Benchmark Completed\.?\s*")
_PAIR = re.compile(r"\s*([A-Za-z][A-Za-z/ ]{2,30}?)\s*=\s*(\S.*)")
_NEEDED = frozenset({"Class", "Time in seconds", "Verification", "Version"})


def read(lines: Sequence[Line]) -> Output:
    """What the output says; a block counts once its version, which comes last, is there."""
    tables, version, version_line = [], "", ""
    name, pairs = "", dict[str, tuple[int, str]]()
    for line in lines:
        if begun := _START.fullmatch(line.text):
            name, pairs = begun[1], {}
        elif name and (pair := _PAIR.fullmatch(line.text)):
            pairs.setdefault(pair[1], (line.number, pair[2].rstrip()))
            if pairs.keys() >= _NEEDED:
                if table := _table(name, pairs):
                    tables.append(table)
                    version, version_line = version or word_of(pairs["Version"][1]), version_line or line.text.strip()
                name = ""
    return Output("NPB", version, version_line, tuple(tables))


def _count(pairs: dict[str, tuple[int, str]], *keys: str) -> int | None:
    return next((count for key in keys if key in pairs and (count := ranks_of(pairs[key][1]))), None)


def _table(name: str, pairs: dict[str, tuple[int, str]]) -> Table | None:
    line, seconds = pairs["Time in seconds"][0], number_of(pairs["Time in seconds"][1])
    rate_key = next((key for key in pairs if key.startswith("Mop/s") and "total" in key), "")
    rate = number_of(pairs[rate_key][1]) if rate_key else None
    if seconds is None:
        return None
    values = [Value("rate", rate.value * 1e6, "op/s", pairs[rate_key][0])] if rate else []
    values.append(Value("time", seconds.value, "s", line))
    at, verdict = pairs["Verification"]
    performed = "NOT" not in verdict.upper().split()
    if performed:
        values.append(Value("verification", float(verdict.upper() != "SUCCESSFUL"), "1", at, 0.0))
    knobs = {
        key.lower(): word_of("".join(pairs[key][1].split())) for key in ("Class", "Size", "Iterations") if key in pairs
    }
    ranks = _count(pairs, "Total processes", "Number of processes", "Active processes") or 1
    threads = _count(pairs, "Total threads", "Number of threads", "Threads") or 1
    row = Row(line, {}, tuple(values))
    return Table(name, line, (row,), knobs, ranks, threads if ranks == 1 else 1, verified=performed)
