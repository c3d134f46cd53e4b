"""Open MPI 5 (PRRTE 3): `--map-by`, `--rank-by`, `--bind-to`, rank files."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from octant.launchers import (
    JobSize,
    LaunchCommand,
    LauncherReading,
    Syntax,
    _command,
    _openmpi,
    _words,
    _writing,
)
from octant.launchers._openmpi import prrte, prrte_policy, rankfile, tables
from octant.machine import CpuSet, Topology
from octant.placement import Placement
from octant.placement.request import PlacementRequest

TITLE = "Open MPI 5"
VERSION = ("Open MPI", "OpenRTE", "prte")
PMI = "pmix"
SPINS = False
COMMANDS = ("mpiexec", "mpirun", "mpiexec.openmpi", "mpirun.openmpi", "orterun", "prterun")
UNBIND = "--bind-to none"
ANSWER = r"\(Open MPI\) [5-9]|\(PRRTE\)"
YIELD = "OMPI_MCA_mpi_yield_when_idle"
YIELDING = {YIELD: "1"}
MARK = (
    rf"\A(?![\s\S]*(?:{_openmpi.OF_41}))[\s\S]*?(?:"
    r"--map-by[ =]|--bind-to[ =]|--rank-by[ =]|--?mapby[ =]|--?bindto[ =]|PRTE_MCA_|--?rankfile |--?nper(node|socket) "
    r"|--?cpu-(set|list)[ =]|--?cpus-per-(proc|rank)[ =]|--?(no)?oversubscribe |--?use-hwthread-cpus |--?prtemca |"
    + rankfile.MARK
    + ")"
)
FILE = r"rankfile:file=([^\s:]+)|--?rankfile[ =](\S+)"
FILE_LINES = rankfile.MARK
DECIDES = "--map-by core"
OPTIONS, VARIABLES = tables.OPTIONS5, tables.VARIABLES5


def to_syntax(placement: Placement, request: PlacementRequest, topology: Topology) -> Syntax:
    """Return the shortest options that give the masks, or a rank file if there are none."""
    sets = _writing.rank_sets(placement)
    files: tuple[tuple[str, str], ...] = ()
    option = next((o for o in _options(sets, topology, request.unit) if _same(o, sets, topology)), None)
    if option is None:
        option = "--map-by rankfile:file=octant.rankfile:HWTCPUS"
        if sum(map(len, sets)) > len(frozenset().union(*sets)):
            option += " --bind-to hwthread:overload-allowed"  # ranks that share threads are refused otherwise
        files = (("octant.rankfile", rankfile.write(sets, topology)),)
    lines = (
        *_writing.openmp_line(request),
        *_writing.heap_line(request),
        f"mpiexec -n {len(sets)} {option} {_writing.PROGRAM}",
    )
    cannot = [
        *_writing.thread_remarks(placement, "Open MPI"),
        *_writing.memory_remarks(request, "Open MPI 5"),
        *_writing.page_remarks(request),
    ]
    if files:
        cannot.append("no option of Open MPI 5 gives these masks; a rank file does (with logical numbers)")
    return Syntax(lines, True, tuple(cannot), files)


def _options(sets: Sequence[CpuSet], topology: Topology, unit: str) -> list[str]:
    cores = max(sum(1 for core in topology.groups("core") if core & held) for held in sets)
    threads = max(len(held) for held in sets)
    wide = [u for u in ("l3cache", "numa", "package") if prrte.has_objects(topology, u)]
    found = [f"--map-by slot:PE={cores} --bind-to core" if cores > 1 else "--map-by core --bind-to core"]
    found += [f"--map-by {u}:PE={cores}" for u in wide]
    found += [f"--map-by {u}:PE={cores} --rank-by span" for u in wide]
    whole = [f"--map-by {u} --bind-to {u}" for u in wide]
    whole += [f"--map-by {u} --rank-by span --bind-to {u}" for u in wide]
    found = whole + found if unit in ("l3", "numa", "package") else found + whole
    found += ["--map-by core:HWTCPUS --bind-to core", f"--map-by slot:PE={threads}:HWTCPUS --bind-to hwthread"]
    found += [f"--map-by {u}:PE={threads}:HWTCPUS --bind-to hwthread" for u in wide]
    return found + [f"--map-by {u}:PE={threads}:HWTCPUS --rank-by span --bind-to hwthread" for u in wide]


def _same(option: str, sets: Sequence[CpuSet], topology: Topology) -> bool:
    given = parse(["mpiexec", "-n", str(len(sets)), *option.split()])
    try:
        options = prrte_policy.read(given.all_values, {}, topology)
        return prrte.place(topology, options.policy, options.ranks) == sets
    except ValueError:
        return False


def from_syntax(command: _command.Command, topology: Topology) -> LauncherReading:
    """Read options of Open MPI 5; the lines of a rank file may follow the command."""
    masks, notes = rank_masks(command, topology)
    notes += _openmpi.find_ineffective_options(command, masks, lambda rest: rank_masks(rest, topology)[0])
    return _openmpi.reading(command, topology, masks, notes)


def rank_masks(command: _command.Command, topology: Topology) -> tuple[list[CpuSet | None], list[str]]:
    """Return the mask of each rank, `None`: unbound, and remarks.

    Raises:
        ValueError: Open MPI 5 refuses the line, or Octant does not read it.
    """
    if not command.words and not command.file:
        raise ValueError("cannot find the command line of mpirun; start it with mpirun or mpiexec")
    _check_runtime_options(command)
    options = prrte_policy.read(command.given.all_values, _openmpi.mpirun_variables(command), topology)
    notes = list(options.notes)
    if command.file or options.policy.mapper == "rankfile":
        masks = _from_file(command, options, topology, notes)
    elif options.policy.mapper == "seq":
        raise ValueError("cannot interpret --map-by seq, which needs a file of hosts; use --map-by rankfile:file=FILE")
    else:
        masks = prrte.place(topology, options.policy, options.ranks)
        notes += _remarks(command, options, masks)
    unbound = sum(mask is None for mask in masks)
    if unbound:
        allowed = options.policy.oversubscribe and not options.policy.binder
        why = "oversubscribing is allowed" if allowed else _WHY_UNBOUND.get(options.policy.binder, "by default")
        if command.file and not allowed and options.policy.binder != "none":
            notes.append("ranks without slot= in the rank file run unbound")
        else:
            some = "every rank" if unbound == len(masks) else "some ranks"
            notes.append(f"Open MPI 5 leaves {some} unbound here without a warning ({why})")
    return masks, notes


_RUNTIME_OPTIONS = (
    "abort-nonzero-status", "aggregate-help", "autorestart", "continuous", "default-exec-agent", "donotlaunch",
    "exec-agent", "forward-environment", "fwd-environment", "get-stack-traces", "max-restarts", "notifyerrors",
    "output-proctable", "recoverable", "report-child-jobs-separately", "report-state-on-timeout", "show-progress",
    "spawn-timeout", "stop-in-app", "stop-in-init", "stop-on-exec", "timeout",
)  # fmt: skip


def _check_runtime_options(command: _command.Command) -> None:
    """Refuse unknown directives of --runtime-options; the known ones do not move ranks.

    Raises:
        ValueError: such a directive, which may be abbreviated.
    """
    for name, values in command.given.all_values:
        for word in values[0].lower().split(",") if name == "rtos" else ():
            if not any(known.startswith(word.partition("=")[0]) for known in _RUNTIME_OPTIONS):
                raise ValueError(f"cannot read --runtime-options {word[:60]}; supported: {', '.join(_RUNTIME_OPTIONS)}")


_WHY_UNBOUND = {"none": "binding is switched off"}


def _remarks(command: _command.Command, options: prrte_policy.PolicyOptions, masks: list[CpuSet | None]) -> list[str]:
    notes = []
    mapping = command.last("map-by") or ""
    if command.has("bind-to") and ":" not in mapping and not mapping.startswith("pe-list"):
        notes.append(
            "interpreted as options of Open MPI; MPICH accepts them too, with other masks (use -bind-to for MPICH)"
        )
    if options.ranks is None:
        notes.append(f"no number of ranks given: Open MPI 5 starts {len(masks)}")
    if options.policy.mapper == "pe-list" and not options.policy.ordered:
        notes.append(
            "without :ordered, every rank is bound to the whole pe-list (--cpu-set and --cpu-list are converted to it)"
        )
    return notes


def _from_file(
    command: _command.Command, options: prrte_policy.PolicyOptions, topology: Topology, notes: list[str]
) -> list[CpuSet | None]:
    if not command.file:
        raise ValueError(
            "cannot interpret a rank file without its lines; append them after the command: rank 0=localhost slot=0"
        )
    policy, ranks = options.policy, options.ranks
    sets = rankfile.read(command.file, topology, policy.hwthreads, policy.overload or policy.oversubscribe)
    if ranks is not None and ranks > len(sets):
        raise ValueError(f"Open MPI 5 refuses {ranks} ranks with a rank file of {len(sets)} lines")
    if not command.words and topology.smt() > 1:
        notes.append(
            "numbers are interpreted as cores; with --map-by rankfile:file=FILE:HWTCPUS they are hardware threads"
        )
    if policy.binder == "none" or (policy.oversubscribe and not policy.binder):
        return [None] * len(sets[:ranks])
    return sets[:ranks]


def unbound(size: JobSize, root: bool) -> list[str]:
    """Return options that allow more ranks than slots and root, and that export variables to other hosts."""
    where = ["--host", ",".join(f"{host}:{size.ranks_per_host}" for host in size.hosts)] if size.hosts else []
    for name in size.exported if size.hosts else ():
        where += ["-x", name]
    allow = ["--allow-run-as-root"] if root else []
    return [*allow, "-n", str(size.ranks), *where, "--bind-to", "none", "--map-by", ":OVERSUBSCRIBE"]


_HYPHENATED = frozenset({"bind-to", "map-by", "rank-by", "runtime-options"})
"""Accepted with two dashes and the value as the next word only: Open MPI replaces them by names without a hyphen."""
_LETTERS = {"H": "host", "p": "parseable", "s": "preload-binary", "v": "verbose"}
_BINDING = {"PRTE_MCA_": ("hwloc_default_binding_policy", "bind_to")}
_MAPPING = "PRTE_MCA_rmaps_default_mapping_policy"


def parse(words: Sequence[str]) -> _words.ParsedOptions:
    """Read options up to the program; prterun does not have all of them.

    Raises:
        ValueError: an option that Open MPI 5 does not have, a missing value, or no program would start.
    """
    prterun = Path(words[0]).name == "prterun"
    own = {name: one for name, one in OPTIONS.items() if not prterun or name not in tables.OMPI_ONLY}
    given = _words.scan(words, own, _split)
    directives = [values[0].lower() for name, values in given.all_values if name == "rtos"]
    if any("donotlaunch".startswith(word) for one in directives for word in re.split("[,:]", one) if word):
        raise ValueError("donotlaunch: it starts no program")
    return given


def recognise(words: Sequence[str], environment: Mapping[str, str]) -> LaunchCommand:
    """Take a command line apart: long names have one dash or two, and their value is the next word or follows `=`.

    Without -n Open MPI 5 starts as many ranks as there are slots: cores of the node, or what the batch system, --host
    or a host file state; -N and `ppr` multiply with the number of nodes. It binds to cores by default, except if
    oversubscription is allowed. Files of MCA parameters (`prte-mca-params.conf`, --tune, --am) are not read here.
    Abbreviated names, which Open MPI 5 accepts where they are unambiguous, are refused.

    Raises:
        ValueError: an option that Open MPI 5 does not have, a missing value, or several programs.
    """
    given = parse(words)
    at = _words.program_index(words, given)
    found = _openmpi.binding_option(given, _BINDING, environment) or _default_binding(given, environment)
    return LaunchCommand(_openmpi.read_rank_count(given), tuple(words[1:at]), at, *found)


def _split(word: str) -> tuple[str, str | None]:
    name, equals, value = word[2 if word.startswith("--") else 1 :].partition("=")
    if len(name) == 1 and not word.startswith("--"):
        if equals and name not in "Nnx":
            raise _words.unknown(word)
        return _LETTERS.get(name, name), value if equals else None
    single = len(name) == 1 and name not in "Nnx"
    if single or (name in _HYPHENATED and (equals or not word.startswith("--"))):
        raise _words.unknown(word)
    return name, value if equals else None


def _default_binding(given: _words.ParsedOptions, environment: Mapping[str, str]) -> tuple[bool, str]:
    """Return whether Open MPI 5 binds if no binding option is given, and the name of the reason.

    `pe-list=` binds to the listed cores, also if oversubscription is allowed. Open MPI 5 refuses `--bind-to none` with
    it and with the qualifier PE=, so that the option has to be replaced; the variable gives way. Tried with 5.0.11.
    """
    option = next((name for name, _ in reversed(given.all_values) if name in ("map-by", "mapby", "ppr")), "")
    text = given.values[option][0] if option else environment.get(_MAPPING, "")
    mapping, *qualifiers = text.lower().split(":")
    listed = mapping.startswith("pe-list=")
    if not listed and ("oversubscribe" in given.spelt or any(word.startswith("oversub") for word in qualifiers)):
        return False, ""
    if option and (listed or any(word.startswith("pe=") for word in qualifiers)):
        return True, given.spelt[option].partition("=")[0]
    return True, _openmpi.BY_DEFAULT


def temporary(folder: str) -> dict[str, str]:
    """Return the variable that moves the session folder `ompi.PID` of mpiexec, which SIGKILL leaves behind.

    Other hosts keep their own place, and the program's TMPDIR stays as it is. Tried with 5.0.11.
    """
    return {"PRTE_MCA_prte_local_tmpdir_base": folder}
