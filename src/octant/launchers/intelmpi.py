"""Intel MPI: I_MPI_PIN_DOMAIN as masks, one per rank, each with the prefix 0x; masks use the system's numbers."""

import re
from collections.abc import Mapping, Sequence

from octant.launchers import (
    MOST_RANKS,
    JobSize,
    LaunchCommand,
    Reading,
    Syntax,
    _command,
    _shared,
    _tables,
    _words,
    hydra_hosts,
)
from octant.machine import CpuSet, Topology
from octant.machine.synthetic import parse_cpus, parse_mask
from octant.placement import Placement, mask_text
from octant.placement.expressions import objects
from octant.placement.request import Request

TITLE = "Intel MPI"
VERSION = ("Intel(R) MPI",)
PMI = "pmi2"
SPINS = True
COMMANDS = ("mpiexec", "mpirun", "mpiexec.hydra")
UNBIND = "-genv I_MPI_PIN off"
ANSWER = r"Intel\(R\) MPI"
MARK = r"I_MPI_PIN"
DECIDES = "I_MPI_PIN=1 in front"
_UNITS = {"core": "core", "numa": "numa", "node": "machine", "socket": "package", "sock": "package",
          "cache": "l4", "cache2": "l2", "cache3": "l3"}  # fmt: skip
_NAMES = {"numa": "numa", "package": "socket", "l2": "cache2", "l3": "cache3"}


def to_syntax(placement: Placement, request: Request, topology: Topology) -> Syntax:
    """Masks always; named options for the plain cases follow as a comment."""
    sets = _shared.rank_sets(placement)
    asked = _shared.plain(placement, request, topology)
    masks = ",".join(mask_text(held) for held in sets)
    lines = [*_shared.openmp_line(request), *_shared.heap_line(request)]
    lines.append(f"export I_MPI_PIN=1 I_MPI_PIN_DOMAIN=[{masks}]")
    named = _named_options(asked)
    if named:
        lines.append(f"# with named options, by the manual: export {named}")
    cannot = [*_shared.no_threads(placement, "Intel MPI"), *_shared.no_pages(request)]
    if request.memory.policy in ("bind", "interleave", "preferred"):
        nodes = ",".join(str(n) for n in placement.ranks[0].memory)
        policy = "bind_only" if request.memory.policy == "bind" else request.memory.policy
        cannot.append(
            f"I_MPI_HBW_POLICY and I_MPI_BIND_NUMA ({policy}, nodes {nodes}) set memory for all ranks alike: use "
            "numactl for a policy of each rank"
        )
    lines.append(f"mpiexec -n {len(sets)} {_shared.PROGRAM}")
    return Syntax(tuple(lines), True, tuple(cannot))


def _named_options(asked: Request) -> str:
    if asked.cpus:
        return ""
    if asked.unit in _NAMES:
        return f"I_MPI_PIN_DOMAIN={_NAMES[asked.unit]}"
    if asked.unit == "hwthread" and asked.smt != 1:
        return f"I_MPI_PIN_DOMAIN={asked.threads}:compact I_MPI_PIN_CELL=unit"
    order = {"compact": "compact", "scatter": "scatter", "scatter:package": "scatter"}.get(asked.order)
    if order is None:
        return ""
    return f"I_MPI_PIN_DOMAIN=omp:{order} I_MPI_PIN_CELL=core" + (
        " I_MPI_PIN_ORDER=scatter" if order == "scatter" else ""
    )


def from_syntax(command: _command.Command, topology: Topology) -> Reading:
    """Masks, unit names, `omp` and numbers with compact order."""
    text = command.text
    line = _shared.read_line(text)
    ranks = line.number("-n", "-np") or 1
    count = line.threads()
    domain = line.variables.get("I_MPI_PIN_DOMAIN", "auto")
    notes: list[str] = []
    if line.variables.get("I_MPI_PIN", "1") in ("0", "off", "no", "disable"):
        notes.append("I_MPI_PIN=off: every rank may run anywhere")
        return _shared.reading_of_masks([topology.allowed] * ranks, topology, count or 1, notes)
    listed = line.variables.get("I_MPI_PIN_PROCESSOR_LIST")
    if listed is not None and "I_MPI_PIN_DOMAIN" not in line.variables:  # the domain takes precedence
        cpus = [n for part in listed.split(",") for n in sorted(parse_cpus(part))]
        if ranks > len(cpus):
            notes.append(f"Intel MPI wraps around in the list: {ranks} ranks on {len(cpus)} hardware threads")
        return _shared.reading_of_masks(
            [frozenset({cpus[r % len(cpus)]}) for r in range(ranks)], topology, count, notes
        )
    if domain.startswith("[") and "0x" not in domain.lower():
        notes.append("Intel MPI 2021.18 reports masks without 0x as invalid, then pins by default: write each as 0x…")
    domains = _domains(domain, line.variables, topology, count)
    if ranks > len(domains):
        notes.append(f"Intel MPI silently overlaps domains: {ranks} ranks on {len(domains)} domains")
    return _shared.reading_of_masks([domains[rank % len(domains)] for rank in range(ranks)], topology, count, notes)


def _domains(domain: str, variables: dict[str, str], topology: Topology, threads: int | None) -> list[CpuSet]:
    masks = re.fullmatch(r"\[([0-9a-fA-Fx,]+)\]", domain)
    if masks:
        return [parse_mask(mask) for mask in masks[1].split(",")]
    if domain in _UNITS:
        return list(objects(topology, _UNITS[domain]))
    size, _, order = domain.partition(":")
    if (size not in ("omp", "auto") and not size.isdigit()) or order not in ("", "compact"):
        raise ValueError(
            f"cannot read I_MPI_PIN_DOMAIN={domain}; read are masks, {', '.join(_UNITS)}, omp and N:compact"
        )
    units = objects(topology, "core" if variables.get("I_MPI_PIN_CELL", "unit") == "core" else "thread")
    width = _shared.whole("I_MPI_PIN_DOMAIN", size) if size.isdigit() else threads or 1
    if width > len(units):
        raise ValueError(f"cannot use I_MPI_PIN_DOMAIN={domain}: there are {len(units)} units on this topology")
    return [frozenset().union(*units[i : i + width]) for i in range(0, len(units) - width + 1, width)]


def unbound(size: JobSize, root: bool) -> list[str]:
    """Hydra's options, with the library's own variable for binding."""
    return ["-n", str(size.ranks), *hydra_hosts(size), "-genv", "I_MPI_PIN", "off"]


_COUNTS = {
    **dict.fromkeys((
        "aps", "check", "check-mpi", "check_mpi", "cleanup", "dac", "debug", "disable-auto-cleanup", "disable-x",
        "enable-auto-cleanup", "enable-x", "envall", "envnone", "gdb", "gdb-ia", "genvall", "genvnone", "idb", "ilp64",
        "l", "mps", "noconf", "nolocal", "ordered-output", "pmi-aggregate", "pmi-noaggregate", "prefork",
        "prepend-rank", "prepend-timestamp", "print-all-exitcodes", "print-rank-map", "profile", "prot", "rr",
        "silent-abort", "trace", "trace-collectives", "trace-imbalance", "trace-pt2pt", "trace_imbalance", "tv", "tva",
        "v", "v6", "verbose",
    ), 0),
    **dict.fromkeys((
        "bind-to", "binding", "bootstrap", "bootstrap-exec", "bootstrap-exec-args", "branch-count", "cpu-bind", "demux",
        "envexcl", "envlist", "errfile", "errfile-pattern", "f", "file", "gdb-args", "genvexcl", "genvlist", "gpath",
        "grr", "gtool", "gtoolfile", "gwdir", "host", "hostfile", "hostlist", "hosts", "hosts-group", "iface",
        "launcher", "launcher-exec", "localhost", "machine", "machinefile", "machinelist", "machines", "map-by",
        "membind", "n", "nameserver", "np", "outfile", "outfile-pattern", "path", "perhost", "pmi-connect", "ppn",
        "prepend-pattern", "rmk", "rsh", "s", "tmpdir", "tree-width", "tune", "use-app-topology", "usize", "wdir",
    ), 1),
    "env": 2, "genv": 2,
}  # fmt: skip
"""How many values follow each option of Intel MPI 2021.18: `mpiexec -help` and the names in its `match_table`."""
_REFUSED = {
    **dict.fromkeys(("V", "h", "help", "info", "version"), _words.NO_PROGRAM),
    "configfile": _words.PROGRAMS_IN_A_FILE,
    **dict.fromkeys(("gdba", "pmi_args"), "it continues a program that runs already"),
}
_OFF = ("0", "off", "no", "disable")


def recognise(words: Sequence[str], environment: Mapping[str, str]) -> LaunchCommand:
    """Options have any number of dashes, and their value as the next word or after `=`; their case counts.

    Without -n Intel MPI starts as many ranks as the node has cores, or as the batch system allocated. It pins ranks by
    default: I_MPI_PIN=off prevents it; `-bind-to` is accepted and has no effect.

    Raises:
        ValueError: an option that Intel MPI does not have, a missing value, or several programs.
    """
    given = _words.scan(words, _tables.unclassified(_COUNTS, _REFUSED), _split, ("env", "genv"))
    at = _words.program_index(words, given)
    number = given.last("n", "np")
    ranks = None if number is None else _shared.whole("-n", number, MOST_RANKS)
    passed = (values for name, values in given.all_values if name in ("env", "genv"))
    variables = {**environment, **dict("=".join(values).split("=", 1) for values in passed)}
    if variables.get("I_MPI_PIN", "1") in _OFF:
        return LaunchCommand(ranks, tuple(words[1:at]), at, binds=False)
    named = [name for name in ("I_MPI_PIN_DOMAIN", "I_MPI_PIN_PROCESSOR_LIST", "I_MPI_PIN") if name in variables]
    return LaunchCommand(ranks, tuple(words[1:at]), at, binds=True, bound_by=named[0] if named else "by default")


def _split(word: str) -> tuple[str, str | None]:
    name, equals, value = word.lstrip("-").partition("=")
    return name, value if equals else None
