"""Cray: PALS mpiexec and ALPS aprun take one list of hardware threads per rank."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from octant.launchers import (
    MAX_RANKS,
    JobSize,
    LaunchCommand,
    LauncherReading,
    Syntax,
    _command,
    _line,
    _reading,
    _tables,
    _words,
    _writing,
)
from octant.machine import CpuSet, Topology
from octant.machine.cpusets import parse_cpus
from octant.placement import Placement, set_text
from octant.placement.request import PlacementRequest

TITLE = "Cray (PALS mpiexec, ALPS aprun)"
NAMES = {"mpiexec": "pals"}
VERSION = ("PALS",)
COMMANDS = ("mpiexec", "mpirun", "aprun")
MARK = r"--cpu-bind[ =]|\baprun\b"
DECIDES = "--cpu-bind depth"
UNBIND = {"aprun": "-cc none", "": "--cpu-bind none"}
ANSWER = "PALS|ALPS|aprun"
PMI = ""
SPINS = True


def to_syntax(placement: Placement, request: PlacementRequest, topology: Topology) -> Syntax:
    """Return one list per rank, separated by colons."""
    sets = _writing.rank_sets(placement)
    listed = ":".join(set_text(held) for held in sets)
    ranks, depth = len(sets), request.threads
    strict = " -ss" if request.memory.policy == "bind" and not request.memory.nodes else ""
    lines = [
        *_writing.openmp_line(request),
        *_writing.heap_line(request),
        f"mpiexec -n {ranks} --ppn {ranks} --cpu-bind list:{listed} {_writing.PROGRAM}",
        f"aprun -n {ranks} -N {ranks} -d {depth} -cc {listed}{strict} {_writing.PROGRAM}",
    ]
    if _is_depth(sets, depth, topology):
        lines.append(
            f"# with named options, according to the manual: mpiexec -n {ranks} -d {depth} --cpu-bind depth "
            f"{_writing.PROGRAM}"
        )
    cannot = [*_writing.thread_remarks(placement, "Cray's launcher"), *_writing.page_remarks(request)]
    if request.memory.policy in ("interleave", "preferred") or request.memory.nodes:
        cannot.append(
            f"aprun supports strict local memory only: memory={request.memory} needs numactl or PALS --mem-bind"
        )
    return Syntax(tuple(lines), True, tuple(cannot))


def _is_depth(sets: Sequence[CpuSet], depth: int, topology: Topology) -> bool:
    """Return whether `--cpu-bind depth` gives these masks."""
    try:
        return _by_depth(len(sets), depth, topology) == list(sets)
    except ValueError:
        return False


def _binding(given: _words.ParsedOptions, aprun: bool) -> str:
    """Return the value of the binding option without words that only print, "": none was given."""
    value = given.last("cc" if aprun else "cpu-bind") or ""
    return value if aprun else re.sub(r"^((v|verbose|q|quiet)(,|$))+", "", value)


def from_syntax(command: _command.Command, topology: Topology) -> LauncherReading:
    """Read lists per rank, `depth` and unbound ranks. From documentation.

    Raises:
        ValueError: another keyword, or none, where the configuration of the site decides.
    """
    aprun = command_is_aprun(command.words)
    ranks, each = command.number("np", "n", most=MAX_RANKS) or 1, command.number("ppn", "N")
    notes = [_reading.DOCUMENTED]
    if each is not None and each < ranks:
        notes.append(f"the placement on one node is shown, which has {each} of {ranks} ranks")
        ranks = each
    depth = command.number("depth", "d") or 1
    binding = _binding(command.given, aprun)
    kind, _, listed = binding.partition(":")
    if aprun and re.match(r"\d", binding):
        kind, listed = "list", binding
    if aprun and command.has("j"):
        raise ValueError(
            "cannot interpret this line: -j selects hardware threads of a core, which is not supported; use a list "
            "with -cc"
        )
    if kind == "none":
        return _reading.reading_of_masks([topology.allowed] * ranks, topology, command.threads() or depth, notes)
    if kind == "depth":
        sets = _by_depth(ranks, depth, topology)
    elif kind == "list" and listed:
        lists = [parse_cpus(part) for part in listed.split(":")]
        if len(lists) < ranks:
            raise ValueError(f"cannot place {ranks} ranks with {len(lists)} lists; give one list per rank of the node")
        sets = lists[:ranks]
    else:
        why = (
            f"no verified rule for {'-cc' if aprun else '--cpu-bind'} {binding[:60]}"
            if binding
            else "the default binding depends on the configuration of the site"
        )
        raise ValueError(
            f"cannot interpret this line: {why}; use "
            + ("-cc LIST:LIST, depth or none" if aprun else "--cpu-bind list:LIST:LIST, depth or none")
        )
    return _reading.reading_of_masks(sets, topology, command.threads() or depth, notes)


def _by_depth(ranks: int, depth: int, topology: Topology) -> list[CpuSet]:
    """Consecutive numbers of the system, `depth` for each rank.

    Raises:
        ValueError: they do not suffice, or the first of them include hardware threads of one core twice.
    """
    cpus = sorted(topology.allowed)[: ranks * depth]
    if len(cpus) < ranks * depth:
        raise ValueError(
            f"cannot place {ranks} ranks of depth {depth}: only {len(cpus)} hardware threads are available"
        )
    cores = [core & frozenset(cpus) for core in topology.groups("core")]
    if any(len(core) > 1 for core in cores) and len(cpus) <= len(cores):
        raise ValueError(
            "cannot interpret depth here, because the hardware threads of one core have consecutive numbers; use lists"
        )
    return [frozenset(cpus[rank * depth : (rank + 1) * depth]) for rank in range(ranks)]


def command_is_aprun(words: Sequence[str]) -> bool:
    """Return whether a command line is one of aprun."""
    return Path(words[0]).name == "aprun"


def unbound(size: JobSize, root: bool) -> list[str]:
    """Return the options with which PALS binds neither ranks nor memory."""
    where = ["--hosts", ",".join(size.hosts), "--ppn", size.ranks_per_host] if size.hosts else []
    return ["-n", str(size.ranks), *where, "--cpu-bind", "none", "--mem-bind", "none"]


OPTIONS = _tables.table(
    _tables.interpreted("np|n depth|d ppn cpu-bind", 1),
    _tables.irrelevant("it concerns the environment of the ranks", "envall envnone genvall genvnone"),
    _tables.irrelevant("it concerns the environment of the ranks", "envlist genvlist", 1),
    _tables.assigning("env", 1, ranks_only=True),
    _tables.irrelevant("it concerns output or files", "label no-label no-transfer transfer line-buffer"),
    _tables.irrelevant("it concerns output or files", "wdir|wd", 1),
    _tables.irrelevant("it concerns the network", "no-vni"),
    _tables.irrelevant("it concerns what happens after a failure", "abort-on-failure no-abort-on-failure"),
    _tables.irrelevant("it concerns memory only", "mem-bind", 1),
    _tables.irrelevant("it selects hosts; the placement on one host is shown", "hosts hostfile", 1),
    _tables.not_read("it shares nodes with other jobs", "exclusive"),
    _tables.not_read("it excludes tasks", "exclude-tasks include-tasks", 1),
    _tables.refused(_words.PROGRAMS_IN_A_FILE, "configfile"),
    _tables.refused(_words.NO_PROGRAM, "help version"),
)
"""Options of PALS mpiexec: from incomplete documentation, not verified against the launcher."""
_APRUN = _tables.table(
    _tables.interpreted("n N d cc j", 1),
    _tables.irrelevant("it concerns memory only", "ss"),
    _tables.irrelevant("it concerns memory only", "m", 1),
    _tables.irrelevant("it concerns output, accounting or the environment", "C T b q"),
    _tables.irrelevant("it concerns output, accounting or the environment", "D L a p t", 1),
    _tables.assigning("e", 1, ranks_only=True),
    _tables.not_read("its values come from the batch system", "B"),
    _tables.not_read("it specialises or shares cores, or distributes over NUMA domains", "F R S cp r sl sn", 1),
)
"""Options of aprun: from incomplete documentation, not verified against the launcher."""
VARIABLES: _tables.Table = {}


def parse(words: Sequence[str]) -> _words.ParsedOptions:
    """Read options: a value may follow a letter in the same word, and PALS reads long names after one dash, too."""
    if command_is_aprun(words):
        return _words.scan(words, _APRUN, _split)
    return _words.getopt(words, OPTIONS, abbreviated=False, one_dash=True)


def _split(word: str) -> tuple[str, str | None]:
    name = word.removeprefix("-")
    attached = name not in _APRUN and name[:1] in _APRUN and _APRUN[name[:1]].values == 1
    return (name[:1], name[1:]) if attached else (name, None)


def recognise(words: Sequence[str], environment: Mapping[str, str]) -> LaunchCommand:
    """Read `aprun` or PALS `mpiexec`: options from incomplete documentation, not verified against the launcher.

    By the same documentation, each starts one rank without -n, aprun binds each rank to a CPU by default, and PALS
    binds as its configuration says.

    Raises:
        ValueError: an option that is not in the table, a missing value, several programs, or none.
    """
    given = parse(words)
    aprun = command_is_aprun(words)
    option, default = ("cc", True) if aprun else ("cpu-bind", None)
    at = _words.program_index(words, given)
    number, binding = given.last("n", "np"), _binding(given, aprun)
    ranks = None if number is None else _line.read_integer("-n", number, MAX_RANKS)
    if not binding:
        return LaunchCommand(ranks, tuple(words[1:at]), at, default, "by default" if default else "")
    bound_by = "" if binding == "none" else given.spelt[option].partition("=")[0]
    return LaunchCommand(ranks, tuple(words[1:at]), at, binding != "none", bound_by)
