"""MPICH's Hydra: `-bind-to` and `-map-by`. It binds nothing unless requested, and silently wraps around."""

import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from octant.launchers import (
    MAX_RANKS,
    JobSize,
    LaunchCommand,
    LauncherReading,
    Syntax,
    _command,
    _hydra,
    _line,
    _reading,
    _tables,
    _words,
    _writing,
    hydra_hosts,
)
from octant.machine import CpuSet, Topology
from octant.placement import Placement, numbers_text, set_text
from octant.placement.request import Memory, PlacementRequest

TITLE = "MPICH (Hydra mpiexec)"
VERSION = ("HYDRA", "MPICH")
PMI = "pmi2"
SPINS = True
COMMANDS = ("mpiexec", "mpirun", "mpiexec.hydra", "mpirun.mpich", "mpiexec.mpich")
UNBIND = "-bind-to none"
ANSWER = "HYDRA|MPICH"
MARK = r"(?<!-)-bind-to[ =]|\bHYDRA_[A-Z_]+[ =]"  # Hydra takes two dashes as well, but they are Open MPI's
ONLY = r"--?(bind-to|binding)[ =]([a-z0-9]+:\d|rr\b|numanode\b|machine\b|user:)|--?map-by[ =](rr|numanode|machine)\b"
DECIDES = "-bind-to core"
_OUTPUT = "it concerns what is printed"
_START = "it concerns the start of processes on other hosts"
OPTIONS = _tables.table(
    _tables.interpreted("n|np bind-to|binding map-by membind ppn rankmap order-nodes topolib", 1),
    _tables.interpreted("hosts|host|hostlist|machine|machines|machinelist f|hostfile|machinefile", 1),
    _tables.interpreted("genvnone envnone"),
    _tables.interpreted("genvlist envlist", 1),
    _tables.assigning("genv env", 2, ranks_only=True),
    _tables.irrelevant("all variables are exported to the ranks by default", "genvall envall"),
    _tables.irrelevant(_OUTPUT, "prepend-rank|l print-all-exitcodes v|verbose|debug profile"),
    _tables.irrelevant(_OUTPUT, "prepend-pattern outfile-pattern|outfile errfile-pattern|errfile output-from", 1),
    _tables.irrelevant("it concerns what happens when a rank fails", "disable-auto-cleanup enable-auto-cleanup"),
    _tables.irrelevant(
        _START, "disable-hostname-propagation enable-hostname-propagation disable-x enable-x hybrid-hosts"
    ),
    _tables.irrelevant(_START, "launcher|bootstrap launcher-exec|bootstrap-exec localhost", 1),
    _tables.irrelevant("it concerns the folder of the ranks", "wdir", 1),
    _tables.irrelevant("it concerns the network", "iface nameserver", 1),
    _tables.irrelevant("it concerns how the launcher and its ranks communicate", "pmi-port"),
    _tables.irrelevant("it concerns how the launcher and its ranks communicate", "demux", 1),
    _tables.irrelevant("it concerns ranks that the program starts", "usize", 1),
    _tables.irrelevant("it selects accelerators", "gpus-per-proc|g gpu-subdevs-per-proc", 1),
    _tables.irrelevant("the MPI library reads it", "memory-alloc-kinds", 1),
    _tables.irrelevant("it selects the host list of the batch system; with -n, one host is assumed", "rmk", 1),
    _tables.not_read("it removes a host from the list", "skip-launch-node"),
    _tables.refused(_words.NO_PROGRAM, "help|h info|version"),
    _tables.refused(_words.PROGRAMS_IN_A_FILE, "configfile", 1),
    _tables.refused("it continues a program that runs already", "pmi_args", 4),
)
"""Options of Hydra 4.0 to 5.0: `mpiexec --help`, and the other names in `HYD_mpiexec_match_table` of its source."""
VARIABLES = _tables.table(
    _tables.interpreted("HYDRA_BINDING HYDRA_MAPPING HYDRA_MEMBIND HYDRA_TOPOLIB HYDRA_HOST_FILE HYDRA_ENV"),
    _tables.not_read("it names a file with further options", "HYDRA_CONFIG_FILE"),
    _tables.irrelevant(
        _OUTPUT, "HYDRA_DEBUG HYDRA_TOPO_DEBUG HYDRA_USE_DDD HYDRA_USE_VALGRIND HYDRA_USE_STRACE PMI_USE_LOGFILE"
    ),
    _tables.irrelevant(_START, "HYDRA_LAUNCHER HYDRA_LAUNCHER_* HYDRA_BOOTSTRAP HYDRA_BOOTSTRAP_* "
                       "HYDRA_PROXY_RETRY_COUNT"),
    _tables.irrelevant("it selects the host list of the batch system; with -n, one host is assumed", "HYDRA_RMK"),
    _tables.irrelevant("it concerns the network", "HYDRA_IFACE HYDRA_HOSTNAME_PROPAGATION MPIEXEC_PORT_RANGE "
                       "MPIEXEC_PORTRANGE MPICH_PORT_RANGE MPICH_PORTRANGE MPICH_CH3_PORT_RANGE"),
    _tables.irrelevant("it limits the time of the run", "MPIEXEC_TIMEOUT"),
    _tables.irrelevant("it is a parameter of the MPI library, which does not bind", "MPIR_CVAR_* MPIR_PARAM_* MPICH_*"),
    _tables.not_read("it may change where Hydra starts ranks", "HYDRA_* MPIEXEC_*"),
)  # fmt: skip
"""Variables that Hydra 5.0 reads, by the names in its program."""
_ONCE = ("n", "bind-to", "map-by", "membind", "ppn", "topolib")
_OBJECTS_ONLY = ("none", "rr", "user:")
"""Bindings with which Hydra ignores a memory policy: the last one is the beginning of one."""


def to_syntax(placement: Placement, request: PlacementRequest, topology: Topology) -> Syntax:
    """Return the shortest options that give the masks, or a `user:` list if there are none."""
    sets = _writing.rank_sets(placement)
    option = next((words for words in _options(sets, topology, request.unit) if _same(words, sets, topology)), None)
    if option is None:
        option = "-bind-to user:" + ",".join(set_text(held).replace(",", "+") for held in sets)
    lines = (
        *_writing.openmp_line(request),
        *_writing.heap_line(request),
        f"mpiexec -n {len(sets)} {option} {_writing.PROGRAM}",
    )
    cannot = [
        *_writing.thread_remarks(placement, "MPICH"),
        *_writing.memory_remarks(request, "MPICH (-membind accepts only the nodes of the mask)"),
        *_writing.page_remarks(request),
    ]
    return Syntax(lines, True, tuple(cannot))


def _options(sets: Sequence[CpuSet], topology: Topology, unit: str) -> list[str]:
    cores = {sum(1 for core in topology.groups("core") if core & held) for held in sets}
    sizes = {len(held) for held in sets}
    binds = [f"core:{n}" if n > 1 else "core" for n in cores] + [f"hwthread:{n}" for n in sizes]
    binds += [unit for unit in ("l2cache", "l3cache", "numa", "socket") if _hydra.has_unit(topology, unit)]
    binds.sort(key=lambda bind: bind != {"package": "socket", "l2": "l2cache", "l3": "l3cache"}.get(unit, unit))
    maps = [""] + [unit for unit in ("l3cache", "numa", "socket", "core") if _hydra.has_unit(topology, unit)]
    return [f"-bind-to {b}" + (f" -map-by {m}" if m else "") for m, b in itertools.product(maps, binds)]


def _same(option: str, sets: Sequence[CpuSet], topology: Topology) -> bool:
    binding, _, mapping = option.removeprefix("-bind-to ").partition(" -map-by ")
    try:
        masks = _hydra.object_masks(topology, binding, mapping or binding)
    except ValueError:
        return False
    return len(masks) >= len(sets) and masks[: len(sets)] == sets


def from_syntax(command: _command.Command, topology: Topology) -> LauncherReading:
    """Return what `mpiexec -n N -bind-to … -map-by …` (or HYDRA_BINDING, HYDRA_MAPPING) would do on the first host."""
    for name in _ONCE:
        if sum(name == given for given, _ in command.given.all_values) > 1:
            raise ValueError(f"cannot read -{name} twice: {_hydra.UNSUPPORTED}; give it once")
    variables = command.outside
    binding = command.last("bind-to") or variables.get("HYDRA_BINDING") or "none"
    mapping = command.last("map-by") or variables.get("HYDRA_MAPPING") or ""
    ranks, notes = _ranks(command)
    _check_inherited(command)
    library = command.last("topolib") or variables.get("HYDRA_TOPOLIB") or "hwloc"
    if library != "hwloc" and binding != "none":
        raise ValueError(f"cannot bind with -topolib {library}: Hydra supports hwloc only")
    sets, more = _hydra.rank_masks(binding, mapping, ranks, topology)
    notes += more
    count = command.threads()
    unbound = [held for held in sets if held == topology.allowed and binding == "none"]
    if count and not unbound and any(count > len(held) for held in sets):
        notes.append(
            f"OMP_NUM_THREADS={count} exceeds the number of hardware threads in a rank's mask: threads share "
            "hardware threads"
        )
    reading = _reading.reading_of_masks(sets, topology, count or (1 if unbound else None), notes)
    return _with_policy(reading, command.last("membind") or variables.get("HYDRA_MEMBIND") or "", binding, topology)


def _ranks(command: _command.Command) -> tuple[int, list[str]]:
    """Return how many ranks the first host gets, and remarks.

    Raises:
        ValueError: values that Hydra refuses, or a number that depends on a file.
    """
    several = command.has("hosts", "f", "ppn") or "HYDRA_HOST_FILE" in command.outside
    ranks, each = command.number("n", most=MAX_RANKS if several else _line.MAX_RANKS), command.number("ppn")
    lists = [values[0] for name, values in command.given.all_values if name in ("hosts", "f")]
    if len(lists) > 1:
        raise ValueError(f"cannot read two lists of hosts: {_hydra.UNSUPPORTED}; give one list")
    file = command.last("f") or ("" if lists else command.outside.get("HYDRA_HOST_FILE", ""))
    rankmap, order = command.last("rankmap") or "", command.last("order-nodes") or ""
    if file and file != "HYDRA_USE_LOCALHOST":
        if each is None or rankmap or ranks is None:
            raise ValueError(
                f"cannot determine the number of ranks per host (the list of hosts is in {file[:60]}); give -n "
                "and -ppn, or the list as -hosts a:4,b:4"
            )
        hosts = (
            f"the placement on the host of rank 0 is shown, provided that {file} lists at least {-(-ranks // each)} "
            "hosts without bindings"
        )
        return min(ranks, each), [hosts]
    count, here, total = _hydra.first_host(ranks, each, command.last("hosts") or "", rankmap, order)
    listed = numbers_text(here)
    return len(here), [
        f"the placement on one of {count} hosts is shown: ranks {listed} of {total}"
    ] if count > 1 else []


def _check_inherited(command: _command.Command) -> None:
    """Refuse a command line that keeps OpenMP's variables from its ranks.

    Raises:
        ValueError: it does.
    """
    lists = [values[0].split(",") for name, values in command.given.all_values if name in ("genvlist", "envlist")]
    by = next((name for name in ("genvnone", "envnone", "genvlist", "envlist") if command.has(name)), "")
    if not by and command.outside.get("HYDRA_ENV", "all") != "all":
        by = "HYDRA_ENV"
    passed = {name for names in lists for name in names} | _command.assigned(command).keys()
    lost = [name for name in command.variables if re.match("OMP_|GOMP_|KMP_", name) and name not in passed]
    if by and lost:
        raise ValueError(
            f"cannot interpret this line: {by} does not export {lost[0]} to the ranks; use -genv {lost[0]} VALUE"
        )


def _with_policy(reading: LauncherReading, policy: str, binding: str, topology: Topology) -> LauncherReading:
    """Return the reading with the memory policy that Hydra sets.

    Raises:
        ValueError: a policy that Hydra or the system refuses.
    """
    if not policy:
        return reading
    kind, colon, _ = policy.partition(":")
    if binding.startswith(_OBJECTS_ONLY):
        note = f"Hydra ignores the memory policy {policy} with -bind-to {binding.partition(':')[0]}"
        return replace(reading, remarks=(note, *reading.remarks))
    every = [node for node in topology.numa if node.cpus]
    if kind == "firsttouch" and all(node.cpus & place.cpus for node in every for place in reading.placement.ranks):
        return reading
    if kind in ("firsttouch", "nexttouch"):
        raise ValueError(f"cannot use -membind {kind} with these masks (Linux refuses it); {_hydra.UNSUPPORTED}")
    if kind not in ("bind", "interleave") or not colon:
        raise ValueError(f"cannot read -membind {policy[:60]}; use bind:numa or interleave:numa")
    note = f"-membind {policy}: Hydra ignores the text after the colon and uses the NUMA nodes of each rank's mask"
    if kind == "bind":
        note += "; other nodes are used when they are full"
        return replace(reading, remarks=(note, *reading.remarks))
    own = [Memory("interleave", place.memory) for place in reading.placement.ranks]
    return replace(_reading.add_memory(reading, own, topology), remarks=(note, *reading.remarks))


def unbound(size: JobSize, root: bool) -> list[str]:
    """Return the options with which Hydra does not bind."""
    return ["-n", str(size.ranks), *hydra_hosts(size), "-bind-to", "none"]


def parse(words: Sequence[str]) -> _words.ParsedOptions:
    """Read options with any number of dashes, in any case, whose value is the next word or follows `=`.

    Raises:
        ValueError: an option that Hydra does not have, or a missing value.
    """
    return _words.scan(words, OPTIONS, _split, ("env", "genv"))


def recognise(words: Sequence[str], environment: Mapping[str, str]) -> LaunchCommand:
    """Take a command line apart; see `parse`.

    Without -n Hydra starts one rank for each host, or as many as the batch system allocated.

    Raises:
        ValueError: an option that Hydra does not have, a missing value, or several programs.
    """
    given = parse(words)
    at = _words.program_index(words, given)
    number = given.last("n")
    ranks = None if number is None else _line.read_integer("-n", number, MAX_RANKS)
    binding = given.last("bind-to")
    bound_by = given.spelt.get("bind-to", "HYDRA_BINDING").partition("=")[0]
    binds = (environment.get("HYDRA_BINDING", "none") if binding is None else binding) != "none"
    return LaunchCommand(ranks, tuple(words[1:at]), at, binds, bound_by if binds else "")


def _split(word: str) -> tuple[str, str | None]:
    name, equals, value = word.lstrip("-").partition("=")
    return name.lower(), value if equals else None
