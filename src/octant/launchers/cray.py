"""Cray: PALS mpiexec and ALPS aprun take one list of hardware threads per rank."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from octant.launchers import MOST_RANKS, JobSize, LaunchCommand, Syntax, _shared, _words
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


_PALS = {
    **dict.fromkeys(("envall", "envnone", "exclusive", "label", "no-label", "no-transfer", "transfer"), 0),
    **dict.fromkeys((
        "cpu-bind", "depth", "env", "envlist", "exclude-tasks", "hostfile", "hosts", "include-tasks", "mem-bind", "np",
        "ppn",
    ), 1),
}  # fmt: skip
"""How many values options of PALS mpiexec take: from incomplete documentation, not verified against the launcher."""
_APRUN = {
    **dict.fromkeys(("B", "C", "T", "b", "q", "ss"), 0),
    **dict.fromkeys((
        "D", "F", "L", "N", "R", "S", "a", "cc", "cp", "d", "e", "j", "m", "n", "p", "r", "sl", "sn", "t",
    ), 1),
}  # fmt: skip
"""How many values options of aprun take: from incomplete documentation, not verified against the launcher."""


def recognise(words: Sequence[str], environment: Mapping[str, str]) -> LaunchCommand:
    """Read `aprun` or PALS `mpiexec`: options from incomplete documentation, not verified against the launcher.

    By the same documentation, each starts one rank without -n, aprun binds each rank to a CPU by default, and PALS
    binds as its configuration says.

    Raises:
        ValueError: an option that is not in the table, a missing value, several programs, or none.
    """
    if Path(words[0]).name == "aprun":
        given = _words.scan(words, _APRUN, lambda word: (word.removeprefix("-"), None), {})
        option, default = "cc", True
    else:
        refused = {"configfile": _words.PROGRAMS_IN_A_FILE, "help": _words.NO_PROGRAM, "version": _words.NO_PROGRAM}
        given = _words.getopt(words, {**_PALS, **dict.fromkeys(refused, 0)}, {"d": "depth", "n": "np"}, refused)
        option, default = "cpu-bind", None
    at = _words.program_index(words, given)
    number, binding = given.last("n", "np"), given.last(option)
    ranks = None if number is None else _shared.whole("-n", number, MOST_RANKS)
    if binding is None:
        return LaunchCommand(ranks, tuple(words[1:at]), at, default, "by default" if default else "")
    bound_by = "" if binding == "none" else given.spelt[option].partition("=")[0]
    return LaunchCommand(ranks, tuple(words[1:at]), at, binding != "none", bound_by)
