"""Cray: PALS mpiexec and ALPS aprun take one list of hardware threads per rank."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from octant.launchers import MOST_RANKS, JobSize, LaunchCommand, Syntax, _shared, _tables, _words
from octant.machine import Topology
from octant.placement import Placement, set_text
from octant.placement.request import Request

TITLE = "Cray (PALS mpiexec, ALPS aprun)"
NAMES = {"mpiexec": "pals"}
VERSION = ("PALS",)
COMMANDS = ("mpiexec", "mpirun", "aprun")
UNBIND = {"aprun": "-cc none", "": "--cpu-bind none"}
ANSWER = "PALS|ALPS|aprun"
PMI = ""
SPINS = True


def to_syntax(placement: Placement, request: Request, topology: Topology) -> Syntax:
    """One list per rank, separated by colons."""
    sets = _shared.rank_sets(placement)
    listed = ":".join(set_text(held) for held in sets)
    ranks, depth = len(sets), request.threads
    asked = _shared.plain(placement, request, topology)
    strict = " -ss" if request.memory.policy == "bind" and not request.memory.nodes else ""
    lines = [
        *_shared.openmp_line(request),
        *_shared.heap_line(request),
        f"mpiexec -n {ranks} --ppn {ranks} --cpu-bind list:{listed} {_shared.PROGRAM}",
        f"aprun -n {ranks} -N {ranks} -d {depth} -cc {listed}{strict} {_shared.PROGRAM}",
    ]
    if not asked.cpus and asked.order == "compact" and asked.smt == 1 and asked.unit == "core":
        lines.append(
            f"# with named options, by the manual: mpiexec -n {ranks} -d {depth} --cpu-bind depth {_shared.PROGRAM}"
        )
    cannot = [*_shared.no_threads(placement, "Cray's launcher"), *_shared.no_pages(request)]
    if request.memory.policy in ("interleave", "preferred") or request.memory.nodes:
        cannot.append(
            f"aprun supports strict local memory only: memory={request.memory} needs numactl or PALS --mem-bind"
        )
    return Syntax(tuple(lines), True, tuple(cannot))


def unbound(size: JobSize, root: bool) -> list[str]:
    """PALS binds neither ranks nor memory if it is asked for that."""
    where = ["--hosts", ",".join(size.hosts), "--ppn", size.ranks_per_host] if size.hosts else []
    return ["-n", str(size.ranks), *where, "--cpu-bind", "none", "--mem-bind", "none"]


OPTIONS = _tables.table(
    _tables.interpreted("np|n depth|d ppn cpu-bind", 1),
    _tables.irrelevant("it concerns the environment of the ranks", "envall envnone"),
    _tables.irrelevant("it concerns the environment of the ranks", "envlist", 1),
    _tables.assigning("env", 1, ranks_only=True),
    _tables.irrelevant("it concerns output or files", "label no-label no-transfer transfer"),
    _tables.irrelevant("it concerns memory only", "mem-bind", 1),
    _tables.irrelevant("it names hosts: one of them is drawn", "hosts hostfile", 1),
    _tables.not_read("it shares nodes with other jobs", "exclusive"),
    _tables.not_read("it leaves out tasks", "exclude-tasks include-tasks", 1),
    _tables.refused(_words.PROGRAMS_IN_A_FILE, "configfile"),
    _tables.refused(_words.NO_PROGRAM, "help version"),
)
"""Options of PALS mpiexec: from incomplete documentation, not verified against the launcher."""
_APRUN = _tables.table(
    _tables.interpreted("n N d cc j", 1),
    _tables.irrelevant("it concerns memory only", "ss"),
    _tables.irrelevant("it concerns memory only", "m", 1),
    _tables.irrelevant("it concerns output, accounting or the environment", "C T b q"),
    _tables.irrelevant("it concerns output, accounting or the environment", "D L a e p t", 1),
    _tables.not_read("it takes values from the batch system", "B"),
    _tables.not_read("it specialises or shares cores, or distributes over NUMA domains", "F R S cp r sl sn", 1),
)
"""Options of aprun: from incomplete documentation, not verified against the launcher."""
VARIABLES: _tables.Table = {}


def parse(words: Sequence[str]) -> _words.Given:
    """Read options: aprun compares whole words here, PALS mpiexec uses getopt_long."""
    if Path(words[0]).name == "aprun":
        return _words.scan(words, _APRUN, lambda word: (word.removeprefix("-"), None))
    return _words.getopt(words, OPTIONS, abbreviated=False)


def recognise(words: Sequence[str], environment: Mapping[str, str]) -> LaunchCommand:
    """Read `aprun` or PALS `mpiexec`: options from incomplete documentation, not verified against the launcher.

    By the same documentation, each starts one rank without -n, aprun binds each rank to a CPU by default, and PALS
    binds as its configuration says.

    Raises:
        ValueError: an option that is not in the table, a missing value, several programs, or none.
    """
    given = parse(words)
    option, default = ("cc", True) if Path(words[0]).name == "aprun" else ("cpu-bind", None)
    at = _words.program_index(words, given)
    number, binding = given.last("n", "np"), given.last(option)
    ranks = None if number is None else _shared.whole("-n", number, MOST_RANKS)
    if binding is None:
        return LaunchCommand(ranks, tuple(words[1:at]), at, default, "by default" if default else "")
    bound_by = "" if binding == "none" else given.spelt[option].partition("=")[0]
    return LaunchCommand(ranks, tuple(words[1:at]), at, binding != "none", bound_by)
