"""Slurm: `srun` with masks, which need exclusive use of the node, and named options for plain cases; `sbatch`."""

import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from octant.build import mpiexec
from octant.failure import Refusal
from octant.launchers import (
    MOST_RANKS,
    Job,
    JobSize,
    LaunchCommand,
    Reading,
    Submission,
    Syntax,
    _command,
    _shared,
    _tables,
    _words,
    headed,
    implementation,
    mpi_launcher,
)
from octant.machine import CpuSet, Topology
from octant.machine.synthetic import parse_cpus, parse_mask
from octant.placement import Placement, mask_text
from octant.placement.expressions import objects
from octant.placement.request import MOST_OF_TORUS, Request

TITLE = "Slurm (srun)"
NAMES = {"start": "srun", "job": "sbatch"}
LAUNCHER = "srun"
COMMANDS = ("srun",)
UNBIND = "--cpu-bind=none"
MARK = r"\bsrun\b|#SBATCH|SLURM_CPU_BIND"


def to_syntax(placement: Placement, request: Request, topology: Topology) -> Syntax:
    """Masks always; named options for the plain cases follow as a comment."""
    sets = _shared.rank_sets(placement)
    asked = _shared.plain(placement, request, topology)
    masks = ",".join(mask_text(held) for held in sets)
    memory, cannot = _memory(request, placement)
    named = _named_options(asked, len(sets), topology)
    lines = [
        *_shared.openmp_line(request),
        *_shared.heap_line(request),
        "#SBATCH --nodes=1 --exclusive",
        f"srun --whole -n {len(sets)} --cpu-bind=mask_cpu:{masks}{memory} {_shared.PROGRAM}",
    ]
    if named:
        lines.append(f"# with named options, by the manual: srun {named}{memory} {_shared.PROGRAM}")
    cannot += [*_shared.no_threads(placement, "srun"), *_shared.no_pages(request)]
    cannot.append(
        "masks are valid only where the job has the whole node; Slurm 22.05 confines a step with -c or --exclusive"
    )
    return Syntax(tuple(lines), True, tuple(cannot))


def _memory(request: Request, placement: Placement) -> tuple[str, list[str]]:
    nodes = [place.memory for place in placement.ranks]
    if request.memory.policy == "local":
        return " --mem-bind=local", []
    if request.memory.policy in ("bind", "preferred"):
        prefer = "prefer," if request.memory.policy == "preferred" else ""
        masks = ",".join(mask_text(frozenset(held)) for held in nodes)
        return f" --mem-bind={prefer}mask_mem:{masks}", []
    return "", _shared.no_memory(request, "srun")


def _named_options(asked: Request, ranks: int, topology: Topology) -> str:
    head = f"-n {ranks} -c {asked.threads}"
    if asked.cpus:
        return ""
    if asked.unit == "numa":
        return f"-n {ranks} --cpu-bind=ldoms"
    if asked.unit in ("hwthread", "core") and asked.smt in (0, topology.smt()) and topology.smt() > 1:
        return f"{head} --cpu-bind=threads -m block:block" if asked.order == "compact" else ""
    if asked.unit in ("hwthread", "core") and asked.smt == 1:
        order = {"compact": "block:block", "scatter:package": "block:cyclic"}.get(asked.order)
        if order:
            return f"{head} --threads-per-core=1 --cpu-bind=cores -m {order}"
    return ""


def from_syntax(command: _command.Command, topology: Topology) -> Reading:
    """`srun` options, with `#SBATCH` lines before them, for a job that has the whole node."""
    text = command.text
    batch = _shared.read_line(" ".join(re.findall(r"^#SBATCH\s+(.*)$", text, re.MULTILINE)))
    line = _shared.read_line("\n".join(row for row in text.splitlines() if not row.startswith("#")))
    notes: list[str] = []
    ranks = _ranks(line, batch, notes)
    width = line.number("-c", "--cpus-per-task")
    asked = batch.number("-c", "--cpus-per-task")
    if asked and not width and "SRUN_CPUS_PER_TASK" not in line.variables:
        notes.append(
            f"srun does not inherit --cpus-per-task={asked} from the batch job in Slurm 22.05 (23.11 does again): each "
            f"rank gets one CPU, and its threads share it; add -c {asked} to srun"
        )
    count = line.threads() or width or asked or 1
    bind = line.option("--cpu-bind", "--cpu_bind") or line.variables.get("SLURM_CPU_BIND", "")
    bind = bind.removeprefix("verbose,").removeprefix("v,").removeprefix("quiet,")
    sets = _masks(bind, ranks, topology)
    if sets is not None:
        return _shared.reading_of_masks(sets, topology, count, notes)
    one = (line.option("--threads-per-core", "--ntasks-per-core") or batch.option("--threads-per-core")) == "1"
    one = one or "nomultithread" in (line.option("--hint"), batch.option("--hint"))
    request = Request(ranks, width or 1, "core" if one else "hwthread", _order(line), 1 if one else 0)
    if topology.smt() == 1 or bind == "cores":
        request = replace(request, unit="core")
    if not one and topology.smt() > 1:
        notes.append(
            "-c counts hardware threads, not cores: add --threads-per-core=1 (or --hint=nomultithread) for a core each"
        )
    if "fcyclic" in (line.option("-m", "--distribution") or ""):
        notes.append("fcyclic spreads the CPUs of each rank over the packages, too: drawn as cyclic")
    if {"-O", "--overcommit"} & {*line.arguments, *batch.arguments}:
        request = replace(request, oversubscribe=True)
        notes.append("with --overcommit srun was observed to put four ranks on core 0: drawn as assigned in turn")
    read = _shared.reading_of_request(request, topology, notes)
    if bind == "sockets":
        packages = objects(topology, "package")
        held = [frozenset().union(*(p for p in packages if p & place.cpus)) for place in read.placement.ranks]
        return _shared.reading_of_masks(held, topology, count, notes)
    if count > (width or 1) * 1:
        return _shared.reading_of_masks([p.cpus for p in read.placement.ranks], topology, count, notes)
    return read


def _ranks(line: _shared.Line, batch: _shared.Line, notes: list[str]) -> int:
    """Ranks of one node: those of the job distributed over its nodes."""
    each = line.number("--ntasks-per-node") or batch.number("--ntasks-per-node")
    every = line.number("-n", "--ntasks", most=MOST_OF_TORUS) or batch.number("-n", "--ntasks", most=MOST_OF_TORUS)
    nodes = line.number("-N", "--nodes", most=MOST_OF_TORUS) or batch.number("-N", "--nodes", most=MOST_OF_TORUS) or 1
    if nodes > 1:
        notes.append(f"one of {nodes} nodes is drawn")
    ranks = min(each or every or 1, -(-every // nodes)) if every else each or 1
    return _shared.whole("-n", str(ranks))


def _order(line: _shared.Line) -> str:
    words = (line.option("-m", "--distribution") or "").split(":")
    return "scatter:package" if len(words) < 2 or words[1] in ("cyclic", "fcyclic", "*", "") else "compact"


def _masks(bind: str, ranks: int, topology: Topology) -> list[CpuSet] | None:
    kind, _, value = bind.partition(":")
    if kind == "none":
        return [topology.allowed] * ranks
    if kind in ("mask_cpu", "map_cpu", "map_ldom", "rank_ldom", "ldoms"):
        domains = objects(topology, "numa")
        if kind == "mask_cpu":
            if not re.fullmatch(r"(0x)?[0-9a-fA-F]+(,(0x)?[0-9a-fA-F]+)*", value):
                raise ValueError(f"cannot read {value!r} as masks; try mask_cpu:0x3,0xc")
            sets = [parse_mask(mask) for mask in value.split(",")]
        elif kind == "map_cpu":
            sets = [parse_cpus(cpu) for cpu in value.split(",")]
        else:
            places = [n for part in value.split(",") for n in parse_cpus(part)] if value else list(range(len(domains)))
            if max(places) >= len(domains):
                raise ValueError(f"cannot use --cpu-bind={bind}: there are {len(domains)} memory domains")
            sets = [domains[place] for place in places]
        return [sets[rank % len(sets)] for rank in range(ranks)]
    if kind == "rank":
        cpus = sorted(topology.allowed)
        return [frozenset({cpus[rank % len(cpus)]}) for rank in range(ranks)]
    if kind not in ("", "cores", "threads", "sockets"):
        raise ValueError(f"cannot read --cpu-bind={bind}; read are cores, threads, mask_cpu:, map_cpu:, ldoms, none")
    return None


def at_hand(environment: Mapping[str, str]) -> bool:
    """Inside a Slurm allocation."""
    return "SLURM_JOB_ID" in environment


def command(program: Sequence[str], size: JobSize) -> list[str]:
    """A step (inside an allocation) or a job of its own (outside).

    Raises:
        Refusal: no srun here.
    """
    srun = shutil.which("srun")
    if srun is None:
        raise Refusal("cannot launch with srun (it is not on PATH); try --launcher mpiexec, or a login node of Slurm")
    try:
        pmi = mpi_launcher(implementation(mpiexec.find())).PMI
    except Refusal:
        pmi = ""  # no mpiexec beside us to tell the MPI by: Slurm's own default it is
    return [srun, *options(size, pmi), *program]


def options(size: JobSize, pmi: str = "") -> list[str]:
    """The words for unbound ranks.

    `--cpus-per-task` is always restated: since 22.05 a step no longer takes it over from the allocation. The first rank
    that fails ends the step, as with every other launcher.
    """
    words = [f"--ntasks={size.ranks}", f"--cpus-per-task={size.cpus_per_rank}", "--cpu-bind=none"]
    if size.hosts:
        words += [f"--nodelist={','.join(size.hosts)}"]
    if size.nodes:
        words += [f"--nodes={size.nodes}", f"--ntasks-per-node={-(-size.ranks // size.nodes)}"]
    words += ["--distribution=block", "--kill-on-bad-exit=1", "--export=ALL", "--job-name=octant"]
    return words + ([f"--mpi={pmi}"] if pmi else [])


def script(job: Job) -> str:
    """Whole nodes, so that nobody else's job is measured along with ours."""
    asked = [
        f"--job-name={job.name}",
        f"--nodes={job.nodes}",
        f"--ntasks-per-node={job.ranks_per_node}",
        f"--cpus-per-task={job.cpus_per_rank}",
        f"--time={job.minutes}",
        "--exclusive",
    ]
    return headed("#SBATCH", asked, job, LAUNCHER)


def submission(path: Path) -> Submission:
    """`--parsable` answers with the job's number alone."""
    return Submission(("sbatch", "--parsable", str(path)))


_COUNTS = {
    **dict.fromkeys((
        "contiguous", "debugger-test", "disable-status", "exact", "hold", "interactive", "label", "multi-prog",
        "no-allocate", "overcommit", "oversubscribe", "preserve-env", "pty", "quiet", "quit-on-interrupt", "reboot",
        "spread-job", "test-only", "unbuffered", "use-min-nodes", "verbose", "whole",
    ), 0),
    **dict.fromkeys((
        "accel-bind", "account", "acctg-freq", "bb", "bbf", "bcast-exclude", "begin", "chdir", "cluster",
        "cluster-constraint", "clusters", "comment", "constraint", "container", "context", "core-spec",
        "cores-per-socket", "cpu-bind", "cpu-freq", "cpu_bind", "cpus-per-gpu", "cpus-per-task", "deadline",
        "delay-boot", "dependency", "distribution", "epilog", "error", "exclude", "export", "extra-node-info", "gid",
        "gpu-bind", "gpu-freq", "gpus", "gpus-per-node", "gpus-per-socket", "gpus-per-task", "gres", "gres-flags",
        "het-group", "hint", "input", "job-name", "jobid", "licenses", "mail-type", "mail-user", "mcs-label", "mem",
        "mem-bind", "mem-per-cpu", "mem-per-gpu", "mincpus", "mpi", "msg-timeout", "network", "nodefile",
        "nodelist", "nodes", "ntasks", "ntasks-per-core", "ntasks-per-gpu", "ntasks-per-node", "ntasks-per-socket",
        "ntasks-per-tres", "open-mode", "output", "pack-group", "partition", "power", "prefer", "priority", "profile",
        "prolog", "qos", "relative", "reservation", "signal", "slurmd-debug", "sockets-per-node", "switches",
        "task-epilog", "task-prolog", "tasks-per-node", "thread-spec", "threads", "threads-per-core", "time",
        "time-min", "tmp", "uid", "wait", "wckey",
    ), 1),
    **dict.fromkeys((
        "bcast", "compress", "exclusive", "immediate", "kill-on-bad-exit", "nice", "no-kill", "overlap", "propagate",
        "resv-ports", "send-libs", "x11",
    ), _tables.OPTIONAL),
    **dict.fromkeys(("help", "usage", "version"), 0),
}  # fmt: skip
"""Values of each option of srun in Slurm 22.05.8: `srun --help`, and the table of its `libslurmfull`."""
_SHORT = {
    "A": "account", "B": "extra-node-info", "b": "begin", "C": "constraint", "c": "cpus-per-task", "D": "chdir",
    "d": "dependency", "E": "preserve-env", "e": "error", "F": "nodefile", "G": "gpus", "H": "hold", "h": "help",
    "I": "immediate", "i": "input", "J": "job-name", "K": "kill-on-bad-exit", "k": "no-kill", "L": "licenses",
    "l": "label", "M": "clusters", "m": "distribution", "N": "nodes", "n": "ntasks", "O": "overcommit", "o": "output",
    "p": "partition", "Q": "quiet", "q": "qos", "r": "relative", "S": "core-spec", "s": "oversubscribe",
    "T": "threads", "t": "time", "u": "unbuffered", "V": "version", "v": "verbose", "W": "wait", "w": "nodelist",
    "X": "disable-status", "x": "exclude", "Z": "no-allocate",
}  # fmt: skip
_REFUSED = {
    **dict.fromkeys(("help", "usage", "version"), _words.NO_PROGRAM),
    "test-only": "it starts no program",
    "multi-prog": _words.PROGRAMS_IN_A_FILE,
    **dict.fromkeys(("het-group", "pack-group"), "it starts several programs"),
}


def recognise(words: Sequence[str], environment: Mapping[str, str]) -> LaunchCommand:
    """Read options as srun does, with getopt_long; abbreviated names are refused.

    The number of ranks is that of -n, else of SLURM_NTASKS, else -N times --ntasks-per-node; otherwise srun starts one
    rank on each node. --cpu-bind or SLURM_CPU_BIND decides about binding, else the task plugin and its configuration:
    unknown here. A step is confined to the CPUs that it was allocated, bound or not.

    Raises:
        ValueError: an option that srun does not have, a missing value, or several programs.
    """
    given = _words.getopt(words, _tables.unclassified(_COUNTS, _REFUSED, _SHORT))
    at = _words.program_index(words, given)
    binds, bound_by = None, ""
    stated = [(name, given.last(name)) for name in ("cpu-bind", "cpu_bind")]
    stated += [(name, environment.get(name)) for name in ("SLURM_CPU_BIND",)]
    for name, value in stated:
        kinds = [kind for kind in (value or "").lower().split(",") if kind not in ("", "q", "quiet", "v", "verbose")]
        if kinds and binds is None:
            binds = kinds[0] not in ("none", "no")
            bound_by = given.spelt.get(name, name).partition("=")[0] if binds else ""
    return LaunchCommand(_rank_count(given, environment), tuple(words[1:at]), at, binds, bound_by)


def _rank_count(given: _words.Given, environment: Mapping[str, str]) -> int | None:
    """Return the number of ranks that words and variables state; `None`: none.

    Raises:
        ValueError: it is no number.
    """
    number = given.last("ntasks") or environment.get("SLURM_NTASKS") or environment.get("SLURM_NPROCS")
    if number is not None:
        return _shared.whole("-n", number, MOST_RANKS)
    nodes, each = given.last("nodes"), given.last("ntasks-per-node", "tasks-per-node")
    if nodes is None or each is None or not re.fullmatch("[0-9]+", nodes):
        return None
    return _shared.whole("-N", nodes, MOST_RANKS) * _shared.whole("--ntasks-per-node", each, MOST_RANKS)
