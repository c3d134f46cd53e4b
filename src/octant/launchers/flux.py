"""Flux: `flux run` inside an instance, with an explicit map of one set per rank; `flux batch`."""

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from octant.failure import Exit, Refusal
from octant.launchers import (
    MAX_RANKS,
    Job,
    JobSize,
    LaunchCommand,
    LauncherReading,
    Submission,
    Syntax,
    _command,
    _line,
    _reading,
    _tables,
    _words,
    _writing,
    render_job_script,
)
from octant.machine import Topology
from octant.machine.cpusets import parse_cpus, parse_mask
from octant.placement import Placement, set_text
from octant.placement.request import PlacementRequest

TITLE = "Flux"
MARK = r"cpu-affinity="
LAUNCHER = "flux"
COMMANDS = ("flux",)
UNBIND = "-o cpu-affinity=off -o mpibind=off"


def to_syntax(placement: Placement, request: PlacementRequest, topology: Topology) -> Syntax:
    """Return a map of the masks, and named options for the plain case."""
    plain = _writing.simplify_request(placement, request, topology)
    sets = _writing.rank_sets(placement)
    listed = ";".join(set_text(held) for held in sets)
    cores = max(_writing.count_cores(place, topology) for place in placement.ranks)
    head = f"flux run -N1 --exclusive -n {len(sets)} -c {cores}"
    lines = [*_writing.openmp_line(request), *_writing.heap_line(request)]
    lines.append(f"{head} -o cpu-affinity='map:{listed}' {_writing.PROGRAM}")
    if not plain.cpus and plain.order == "compact" and plain.smt == 1:
        lines.append(
            f"# with named options, according to the manual: {head} -o cpu-affinity=per-task {_writing.PROGRAM}"
        )
    cannot = [
        *_writing.thread_remarks(placement, "Flux"),
        *_writing.memory_remarks(request, "Flux without the mpibind plugin"),
        *_writing.page_remarks(request),
    ]
    return Syntax(tuple(lines), True, tuple(cannot))


def from_syntax(command: _command.Command, topology: Topology) -> LauncherReading:
    """Read an explicit map or unbound ranks; refuse lines for which Flux selects the cores. From documentation.

    Raises:
        ValueError: the scheduler of Flux chooses the cores.
    """
    chosen = dict(values[0].partition("=")[::2] for name, values in command.given.all_values if name == "setopt")
    ignored = [f"-o {name}" for name in chosen if name not in ("cpu-affinity", "mpibind")]
    notes = [_reading.DOCUMENTED]
    if ignored:
        notes.append(f"not used for the placement: {', '.join(ignored)} (a shell option that does not bind)")
    kind, _, listed = chosen.get("cpu-affinity", "on").partition(":")
    if chosen.get("mpibind", "off") != "off" or kind not in ("map", "off"):
        raise ValueError(
            "cannot interpret this line: the scheduler of Flux selects the cores of each rank; use -o "
            "cpu-affinity=map:… or -o cpu-affinity=off"
        )
    ranks, nodes = _rank_count(command.given) or 1, command.number("nodes", most=MAX_RANKS) or 1
    if nodes > 1:
        notes.append(f"the placement on one of {nodes} nodes is shown")
        ranks = -(-ranks // nodes)
    if kind == "off":
        return _reading.reading_of_masks([topology.allowed] * ranks, topology, command.threads(), notes)
    sets = [parse_mask(part) if part.startswith("0x") else parse_cpus(part) for part in listed.split(";")]
    if len(sets) < ranks:
        raise ValueError(f"cannot place {ranks} ranks with a map of {len(sets)} sets; give one set per rank")
    return _reading.reading_of_masks(sets[:ranks], topology, command.threads(), notes)


def at_hand(environment: Mapping[str, str]) -> bool:
    """Return whether this process is in a Flux instance."""
    return "FLUX_URI" in environment


def command(program: Sequence[str], size: JobSize) -> list[str]:
    """Return the command line of a job in the current instance.

    Raises:
        Refusal: no flux here, or hosts by name, which Flux chooses itself.
    """
    flux = shutil.which("flux")
    if flux is None:
        raise Refusal("cannot launch with flux (it is not on PATH); use --launcher mpiexec")
    if size.hosts:
        raise Refusal("cannot use --hosts with flux (it selects the hosts); remove --hosts", Exit.WRONG_WORD)
    return [flux, *options(size), *program]


def options(size: JobSize) -> list[str]:
    """Return the options for ranks that Flux does not bind."""
    nodes = [f"--nodes={size.nodes}"] if size.nodes else []
    return [
        "run",
        f"--ntasks={size.ranks}",
        f"--cores-per-task={size.cpus_per_rank}",
        *nodes,
        "--setopt=cpu-affinity=off",
        "--setopt=mpibind=off",
        "--setopt=exit-on-error",
    ]


def script(job: Job) -> str:
    """Return the script of a new instance on exclusive nodes; the ranks are started inside it."""
    directives = [
        f"--job-name={job.name}",
        f"--nodes={job.nodes}",
        f"--nslots={job.nodes * job.ranks_per_node}",
        f"--cores-per-slot={job.cpus_per_rank}",
        f"--time-limit={job.minutes}m",
        "--exclusive",
    ]
    return render_job_script("#flux:", directives, job, LAUNCHER)


def submission(path: Path) -> Submission:
    """Return the command that submits the script."""
    return Submission(("flux", "batch", str(path)))


OPTIONS = _tables.table(
    _tables.interpreted("ntasks|n nodes|N setopt|o tasks-per-node", 1),
    _tables.irrelevant("it selects the cores of the job, not the placement of ranks in them", "cores-per-task|c", 1),
    _tables.irrelevant("it selects the cores of the job, not the placement of ranks in them", "exclusive|x"),
    _tables.assigning("env", 1),
    _tables.irrelevant("it concerns output or the interface", "label-io|l quiet unbuffered|u verbose|v"),
    _tables.irrelevant("it concerns output or files", "add-file cwd error input output", 1),
    _tables.irrelevant("it concerns the environment of the ranks", "env-file env-remove", 1),
    _tables.irrelevant(
        "it concerns the job, not the placement of ranks on a node",
        "begin-time dependency flags job-name queue|q requires rlimit setattr signal time-limit|t urgency wait-event",
        1,
    ),
    _tables.irrelevant("it selects accelerators", "gpus-per-node gpus-per-task|g", 1),
    _tables.not_read("it changes the number or the order of ranks", "cores tasks-per-core taskmap", 1),
    _tables.not_read("it changes the resources of an emulated job", "debug-emulate"),
    _tables.refused(_words.NO_PROGRAM, "help|h"),
    _tables.refused("it starts no program", "dry-run"),
)
"""Options of `flux run`, from the source of flux-core (`flux/cli/base.py`, `run.py`), not from runs."""
VARIABLES = _tables.table(
    _tables.irrelevant("it selects the instance", "FLUX_URI"), _tables.not_read("it may change binding", "FLUX_*")
)
_NOT_RUN = {
    **dict.fromkeys(("submit", "bulksubmit"), "it returns before the program starts; use flux run"),
    **dict.fromkeys(("batch", "alloc"), "it starts a script or a shell in a new instance; use flux run"),
}


def parse(words: Sequence[str]) -> _words.ParsedOptions:
    """Read the options of `flux run` as Python's argparse does, which accepts unambiguous beginnings of names.

    Raises:
        ValueError: another subcommand, an unknown option, or a missing value.
    """
    begin = 3 if tuple(words[1:3]) == ("mini", "run") else 2
    subcommand = words[begin - 1] if len(words) >= begin else ""
    if subcommand != "run":
        reason = _NOT_RUN.get(subcommand, "it does not start a program")
        raise ValueError(f"{' '.join(['flux', *words[1:2]])}: {reason}")
    given = _words.getopt(words, OPTIONS, begin)
    for word in words[begin : given.end]:
        if word == "--":
            raise _words.unknown(word)
    for name, values in given.all_values:
        if values and values[0].startswith("-") and given.spelt[name].partition("=")[2] != values[0]:
            raise ValueError(f"{given.spelt[name]} has no value")
        values[:] = [value.removeprefix("=") for value in values]  # `-n=4`, in which argparse drops the sign
    return given


def recognise(words: Sequence[str], environment: Mapping[str, str]) -> LaunchCommand:
    """Read `flux run` and, of older versions, `flux mini run`, whose options Python's argparse reads.

    Without -n Flux starts one rank, or with -N one on each node. It binds the ranks of a node to the cores of the job
    by default; the shell option cpu-affinity, and the plugin mpibind where it is installed, decide the rest.

    Raises:
        ValueError: another subcommand, an unknown option, a missing value, or no program.
    """
    given = parse(words)
    at = _words.program_index(words, given)
    binds, bound_by = _binding(given)
    return LaunchCommand(_rank_count(given), tuple(words[1:at]), at, binds, bound_by)


def _rank_count(given: _words.ParsedOptions) -> int | None:
    """Return the number of ranks that the words state; `None`: Flux decides.

    Raises:
        ValueError: it is no number.
    """
    number, nodes, each = given.last("ntasks"), given.last("nodes"), given.last("tasks-per-node")
    if number is not None:
        return _line.read_integer("--ntasks", number, MAX_RANKS)
    if nodes is None or each is None:
        return None
    found = _line.read_integer("--nodes", nodes, MAX_RANKS)
    return found * _line.read_integer("--tasks-per-node", each, MAX_RANKS)


def _binding(given: _words.ParsedOptions) -> tuple[bool | None, str]:
    """Return whether shell options bind ranks (`None`: neither says so), and the option that does."""
    chosen = dict((values[0].partition("=")[::2]) for name, values in given.all_values if name == "setopt")
    for option in ("cpu-affinity", "mpibind"):
        if chosen.get(option, "off") not in ("off", "on", "1", ""):
            return True, f"--setopt={option}"
    return (False if chosen.get("cpu-affinity") == "off" and chosen.get("mpibind") == "off" else None), ""
