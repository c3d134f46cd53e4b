"""taskset: one affinity mask for one process and all its threads."""

import re
from collections.abc import Sequence

from octant.launchers import LauncherReading, Syntax, _command, _reading, _tables, _words, _writing
from octant.machine import Topology
from octant.machine.cpusets import parse_cpus, parse_mask
from octant.placement import Placement, set_text
from octant.placement.request import PlacementRequest

TITLE = "taskset (util-linux)"
MARK = r"^[ \t]*(\w+=\S+[ \t]+)*taskset\s"
BINDS = "process"
READS = ("taskset",)
OPTIONS = _tables.table(
    _tables.interpreted("cpu-list|c"),
    _tables.irrelevant("it concerns running processes", "all-tasks|a"),
    _tables.refused("it acts on a running process and starts no program", "pid|p"),
    _tables.refused(_words.NO_PROGRAM, "help|h version|V"),
)
"""Options of taskset in util-linux 2.38: `taskset --help`."""
VARIABLES: _tables.Table = {}


def parse(words: Sequence[str]) -> _words.ParsedOptions:
    """Read options as getopt_long does; the mask or list is the first word behind them."""
    given = _words.getopt(words, OPTIONS)
    if given.end >= len(words):
        raise ValueError("no mask or list given")
    given.add(words[given.end], _tables.OptionFacts("mask", "interpreted"), [words[given.end]])
    given.end += 1
    return given


def to_syntax(placement: Placement, request: PlacementRequest, topology: Topology) -> Syntax:
    """Return one command per rank; a wrapper script selects its line by the local rank."""
    lines = [f"taskset -c {set_text(place.cpus)} {_writing.PROGRAM}" for place in placement.ranks]
    cannot = [
        *_writing.thread_remarks(placement, "taskset"),
        *_writing.memory_remarks(request, "taskset", "numactl"),
        *_writing.page_remarks(request),
    ]
    if len(lines) > 1:
        cannot.append("taskset starts no ranks: use one line per local rank, selected in a wrapper script")
    return Syntax((*_writing.openmp_line(request), *_writing.heap_line(request), *lines), True, tuple(cannot))


def from_syntax(command: _command.Command, topology: Topology) -> LauncherReading:
    """Read one rank per line, with `-c LIST` or hexadecimal masks."""
    sets = []
    for row in command.rows:
        listed = row.last("mask") or ""
        if row.has("cpu-list"):
            sets.append(parse_cpus(listed))
        elif re.fullmatch(r"(0x)?[0-9a-fA-F]+(,[0-9a-fA-F]+)*", listed):
            sets.append(parse_mask(listed))
        else:
            raise ValueError(f"cannot find a list or mask in {' '.join(row.words)!r}; use 'taskset -c 0-3 PROGRAM'")
    return _reading.reading_of_masks(sets, topology, command.threads())
