"""Intel MPI: I_MPI_PIN_DOMAIN as masks, one per rank, each with the prefix 0x; masks use the system's numbers."""

from collections.abc import Mapping, Sequence

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
    hydra_hosts,
)
from octant.launchers.intelmpi import pinning
from octant.machine import CpuSet, Topology
from octant.placement import Placement, mask_text
from octant.placement.request import PlacementRequest

TITLE = "Intel MPI"
VERSION = ("Intel(R) MPI",)
PMI = "pmi2"
SPINS = True
COMMANDS = ("mpiexec", "mpirun", "mpiexec.hydra")
UNBIND = "-genv I_MPI_PIN off"
ANSWER = r"Intel\(R\) MPI"
MARK = r"I_MPI_PIN"
DECIDES = "I_MPI_PIN=1 in front"
SOURCE = (
    "the rules are from Intel's reference, with details of version 2021.18.1. Other versions may differ. An "
    "InfiniBand or Omni-Path adapter may change the order (I_MPI_PIN_RESPECT_HCA)"
)
_OUTPUT = "it concerns what is printed"
_START = "it concerns the start of processes on other hosts"
_WITHOUT_EFFECT = "Intel MPI accepts it, and it has no effect"
_TOOLS = "it starts a tool with the ranks"
OPTIONS = _tables.table(
    _tables.interpreted("n|np ppn|perhost|grr hosts|host|hostlist|machine|machines|machinelist", 1),
    _tables.interpreted("f|file|hostfile|machinefile hosts-group", 1),
    _tables.interpreted("rr"),
    _tables.assigning("genv env", 2),
    _tables.irrelevant("all variables are exported to the ranks by default", "genvall envall"),
    _tables.not_read("it restricts the exported variables", "genvnone envnone"),
    _tables.not_read("it restricts the exported variables", "genvlist envlist genvexcl envexcl", 1),
    _tables.irrelevant(_WITHOUT_EFFECT, "bind-to map-by membind", 1),
    _tables.not_read("it binds ranks", "cpu-bind", 1),
    _tables.not_read("older versions use it to pin ranks", "binding", 1),
    _tables.not_read("it changes the order of ranks", "use-app-topology", 1),
    _tables.not_read("it removes a host from the list", "nolocal"),
    _tables.irrelevant(
        _OUTPUT,
        "prepend-rank|l prepend-timestamp print-all-exitcodes print-rank-map prot ordered-output silent-abort v "
        "verbose debug profile",
    ),
    _tables.irrelevant(
        _OUTPUT, "prepend-pattern outfile-pattern|outfile errfile-pattern|errfile", 1
    ),
    _tables.irrelevant("it concerns standard input", "s", 1),
    _tables.irrelevant(_TOOLS, "aps mps gdb gdb-ia idb tv tva trace check check-mpi check_mpi trace-collectives "
                       "trace-imbalance trace_imbalance trace-pt2pt ilp64"),
    _tables.irrelevant(_TOOLS, "gdb-args gtool gtoolfile", 1),
    _tables.irrelevant(_START, "disable-x enable-x pmi-aggregate pmi-noaggregate prefork v6 dac"),
    _tables.irrelevant(_START, "launcher|bootstrap launcher-exec|bootstrap-exec bootstrap-exec-args rsh localhost "
                       "branch-count tree-width pmi-connect demux", 1),
    _tables.irrelevant("it concerns ranks that fail", "cleanup disable-auto-cleanup enable-auto-cleanup"),
    _tables.irrelevant("it concerns the folders of the ranks", "wdir gwdir path gpath tmpdir", 1),
    _tables.irrelevant("it concerns the network", "iface nameserver", 1),
    _tables.irrelevant("it concerns ranks that the program starts", "usize", 1),
    _tables.irrelevant("it tunes the library's algorithms", "tune", 1),
    _tables.irrelevant("it skips configuration files", "noconf"),
    _tables.irrelevant("it selects the host list of the batch system; with -n, one host is assumed", "rmk", 1),
    _tables.refused(_words.NO_PROGRAM, "V h|help info version"),
    _tables.refused(_words.PROGRAMS_IN_A_FILE, "configfile", 1),
    _tables.refused("it continues a program that runs already", "gdba pmi_args", 1),
)  # fmt: skip
"""Options of Intel MPI 2021.18: `mpiexec.hydra -help`, and the other names in its `match_table`."""
VARIABLES = _tables.table(
    _tables.interpreted("I_MPI_PIN I_MPI_PIN_DOMAIN I_MPI_PIN_ORDER I_MPI_PIN_CELL I_MPI_PIN_PROCESSOR_LIST "
                        "I_MPI_PIN_PROCS I_MPI_PERHOST I_MPI_PIN_RESPECT_CPUSET I_MPI_HYDRA_HOST_FILE"),
    _tables.not_read("it excludes hardware threads", "I_MPI_PIN_PROCESSOR_EXCLUDE_LIST"),
    _tables.not_read("it changes where ranks are pinned", "I_MPI_PIN_* I_MPI_HYDRA_TOPOLIB"),
    _tables.irrelevant("it has an effect only with a network adapter, and adapters are unknown here",
                       "I_MPI_PIN_RESPECT_HCA"),
    _tables.irrelevant("it concerns Windows", "I_MPI_PIN_RESPECT_INHERITANCE"),
    _tables.irrelevant(_OUTPUT, "I_MPI_PIN_SHOW_REAL_MASK I_MPI_PIN_UNFOLD_MASK I_MPI_PIN_INFO I_MPI_DEBUG"),
    _tables.irrelevant("it selects accelerators", "I_MPI_OFFLOAD*"),
    _tables.irrelevant("it sets a memory policy, which is not shown", "I_MPI_HBW_* I_MPI_HBM_* I_MPI_BIND_*"),
    _tables.irrelevant("it concerns threads of the library", "I_MPI_ASYNC_PROGRESS*"),
    _tables.irrelevant(_START, "I_MPI_HYDRA_* I_MPI_JOB_*"),
    _tables.irrelevant("it is a parameter of the library that does not pin", "I_MPI_*"),
)  # fmt: skip
"""Variables of Intel MPI 2021.18: `impi_info -all -expert`, and the names in mpiexec.hydra."""


def to_syntax(placement: Placement, request: PlacementRequest, topology: Topology) -> Syntax:
    """Return masks, and named options for the plain cases as a comment."""
    sets = _writing.rank_sets(placement)
    masks = ",".join(mask_text(held) for held in sets)
    lines = [*_writing.openmp_line(request), *_writing.heap_line(request)]
    lines.append(f"export I_MPI_PIN=1 I_MPI_PIN_DOMAIN=[{masks}]")
    named = _named_options(sets, topology)
    if named:
        lines.append(f"# or with named options, according to the manual: export {named}")
    cannot = [*_writing.thread_remarks(placement, "Intel MPI"), *_writing.page_remarks(request)]
    if request.memory.policy in ("bind", "interleave", "preferred"):
        nodes = ",".join(str(n) for n in placement.ranks[0].memory)
        policy = "bind_only" if request.memory.policy == "bind" else request.memory.policy
        cannot.append(
            f"I_MPI_HBW_POLICY and I_MPI_BIND_NUMA ({policy}, nodes {nodes}) set one memory policy for all "
            "ranks; use numactl for a policy per rank"
        )
    lines.append(f"mpiexec -n {len(sets)} {_writing.PROGRAM}")
    return Syntax(tuple(lines), True, tuple(cannot))


def _named_options(sets: Sequence[CpuSet], topology: Topology) -> str:
    """Return variables without masks that give the same masks; "": there are none."""
    sizes = sorted({len(held) for held in sets} | {_writing.count_siblings([held], topology) for held in sets})
    domains = ["auto", "socket", "numa", "cache3", "cache2", "core", *map(str, sizes)]
    cores = sorted({sum(1 for core in topology.groups("core") if core & held) for held in sets})
    options = [{"I_MPI_PIN_DOMAIN": domain, "I_MPI_PIN_ORDER": order}
               for domain in domains for order in ("bunch", "compact")]  # fmt: skip
    options += [{"I_MPI_PIN_DOMAIN": str(count), "I_MPI_PIN_ORDER": order, "I_MPI_PIN_CELL": "core"}
                for count in cores for order in ("bunch", "compact")]  # fmt: skip
    for chosen in options:
        try:
            masks, notes = pinning.rank_masks(chosen, len(sets), None, topology)
        except ValueError:
            continue
        if masks == sets and not notes:
            return " ".join(f"{name}={value}" for name, value in chosen.items())
    return ""


def from_syntax(command: _command.Command, topology: Topology) -> LauncherReading:
    """Return what Intel MPI would do with I_MPI_PIN and its family on the first host."""
    for name in ("n", "ppn"):
        if sum(name == given for given, _ in command.given.all_values) > 1:
            raise ValueError(f"cannot read -{name} twice: Intel MPI exits with an error; give it once")
    variables = {name: value for name, value in command.variables.items() if name.startswith("I_MPI_PIN")}
    if variables.get("I_MPI_PIN_RESPECT_CPUSET", "1") in pinning.OFF and len(topology.allowed) < len(topology.cpus):
        raise ValueError(
            "cannot interpret I_MPI_PIN_RESPECT_CPUSET=off in a job that may not use all hardware threads; remove it"
        )
    ranks, notes = _ranks(command)
    count = command.threads()
    masks, more = pinning.rank_masks(variables, ranks, count, topology)
    unpinned = variables.get("I_MPI_PIN", "1").lower() in pinning.OFF
    return _reading.reading_of_masks(masks, topology, count or (1 if unpinned else None), [*notes, *more, SOURCE])


def _ranks(command: _command.Command) -> tuple[int, list[str]]:
    """Return how many ranks the first host gets, and remarks.

    Raises:
        ValueError: a number that depends on the hosts.
    """
    several = command.has("hosts", "f", "hosts-group", "ppn", "rr") or "I_MPI_HYDRA_HOST_FILE" in command.variables
    ranks = command.number("n", most=MAX_RANKS if several else _line.MAX_RANKS)
    each = 1 if command.has("rr") else command.number("ppn")
    stated = command.variables.get("I_MPI_PERHOST", "")
    if each is None and stated.isdigit():
        each = _line.read_integer("I_MPI_PERHOST", stated)
    hosts = command.last("hosts")
    listed = command.has("f", "hosts-group") or "I_MPI_HYDRA_HOST_FILE" in command.variables
    if not listed and (hosts is None or "," not in hosts):
        if ranks is None and each is None:
            return 1, [
                "no -n: Intel MPI starts one rank per core, or as many as the batch system allocated; one rank is shown"
            ]
        notes = [] if ranks is None or each is None or each >= ranks else [
            f"all {ranks} ranks are placed on one host here; in a batch job with more hosts, each host has {each} ranks"
        ]  # fmt: skip
        return ranks or each or 1, notes
    if each is None or ranks is None:
        raise ValueError("cannot determine the number of ranks per host (several hosts are given); give -n and -ppn")
    count = len(hosts.split(",")) if hosts and not listed else -(-ranks // each)
    if count * each < ranks:
        raise ValueError(
            f"cannot place {ranks} ranks on {count} hosts with -ppn {each} (more ranks than that allows); increase -ppn"
        )
    return min(ranks, each), [f"the placement on one host is shown, with {min(ranks, each)} of {ranks} ranks"]


def unbound(size: JobSize, root: bool) -> list[str]:
    """Return the options of Hydra, with the variable of Intel MPI that switches binding off."""
    return ["-n", str(size.ranks), *hydra_hosts(size), "-genv", "I_MPI_PIN", "off"]


def parse(words: Sequence[str]) -> _words.ParsedOptions:
    """Read options with any number of dashes, whose value is the next word or follows `=`; their case counts.

    Raises:
        ValueError: an option that Intel MPI does not have, or a missing value.
    """
    return _words.scan(words, OPTIONS, _split, ("env", "genv"))


def recognise(words: Sequence[str], environment: Mapping[str, str]) -> LaunchCommand:
    """Take a command line apart; see `parse`.

    Without -n Intel MPI starts as many ranks as the node has cores, or as the batch system allocated. It pins ranks by
    default: I_MPI_PIN=off prevents it; `-bind-to` is accepted and has no effect.

    Raises:
        ValueError: an option that Intel MPI does not have, a missing value, or several programs.
    """
    given = parse(words)
    at = _words.program_index(words, given)
    number = given.last("n")
    ranks = None if number is None else _line.read_integer("-n", number, MAX_RANKS)
    passed = (values for name, values in given.all_values if name in ("env", "genv"))
    variables = {**environment, **dict("=".join(values).split("=", 1) for values in passed)}
    if variables.get("I_MPI_PIN", "1") in pinning.OFF:
        return LaunchCommand(ranks, tuple(words[1:at]), at, binds=False)
    named = [name for name in ("I_MPI_PIN_DOMAIN", "I_MPI_PIN_PROCESSOR_LIST", "I_MPI_PIN") if name in variables]
    return LaunchCommand(ranks, tuple(words[1:at]), at, binds=True, bound_by=named[0] if named else "by default")


def _split(word: str) -> tuple[str, str | None]:
    name, equals, value = word.lstrip("-").partition("=")
    return name, value if equals else None
