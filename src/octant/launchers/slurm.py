"""Slurm: `srun` with masks, which need exclusive use of the node, and named options for plain cases; `sbatch`."""

import contextlib
import itertools
import re
import shutil
from collections.abc import Mapping, Sequence
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
    _shared,
    _words,
    headed,
    implementation,
    mpi_launcher,
)
from octant.launchers._slurm_line import Asked, memory_of, step_of
from octant.launchers._slurm_masks import Node, Step, memory_nodes, node_of
from octant.launchers._slurm_masks import masks as step_masks
from octant.machine import CpuSet, Topology
from octant.placement import Placement, mask_text
from octant.placement.request import Memory, Policy, Request

TITLE = "Slurm (srun)"
NAMES = {"start": "srun", "job": "sbatch"}
LAUNCHER = "srun"
COMMANDS = ("srun",)
UNBIND = "--cpu-bind=none"
MARK = r"\bsrun\b|#SBATCH|SLURM_CPU_BIND"


def to_syntax(placement: Placement, request: Request, topology: Topology) -> Syntax:
    """Masks always; named options that give the same masks follow as a comment."""
    sets = _shared.rank_sets(placement)
    masks = ",".join(mask_text(held) for held in sets)
    memory, cannot = _memory(request, placement)
    named = _named_options(sets, request, topology)
    lines = [
        *_shared.openmp_line(request),
        *_shared.heap_line(request),
        "#SBATCH --nodes=1 --exclusive",
        f"srun --whole -n {len(sets)} --cpu-bind=mask_cpu:{masks}{memory} {_shared.PROGRAM}",
    ]
    if named:
        lines.append(f"# the same with named options: srun {named}{memory} {_shared.PROGRAM}")
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


_NAMED = (
    "--threads-per-core=1 --cpu-bind=cores", "--cpu-bind=threads", "--cpu-bind=cores", "--hint=nomultithread",
    "--cpu-bind=ldoms", "--cpu-bind=sockets",
)  # fmt: skip


def _named_options(sets: Sequence[CpuSet], request: Request, topology: Topology) -> str:
    """Return the first line of named options with which Slurm gives these masks, "": none was found."""
    try:
        node = node_of(topology)
    except ValueError:
        return ""
    cores = max(sum(1 for core in topology.groups("core") if core & held) for held in sets)
    width = max(map(len, sets))
    first = {"numa": "--cpu-bind=ldoms", "package": "--cpu-bind=sockets"}.get(request.unit)
    counts = dict.fromkeys([width] if first else [request.threads, cores, width])
    options = dict.fromkeys([first, *_NAMED] if first else _NAMED)
    for count, option, order in itertools.product(counts, options, ("block:block", "block:cyclic")):
        words = f"-n {len(sets)} -c {count} {option} -m {order}"
        with contextlib.suppress(ValueError):
            if step_masks(node, step_of(_asked(["srun", *words.split()]), node)) == list(sets):
                return words
    return ""


def _asked(words: Sequence[str]) -> Asked:
    return Asked(_words.getopt(words, _COUNTS, _SHORT, {}), {}, _words.Given(0))


def from_syntax(text: str, topology: Topology) -> Reading:
    """`srun` options, with `#SBATCH` lines before them, for a job that has the whole node."""
    batch = _shared.read_line(" ".join(re.findall(r"^#SBATCH\s+(.*)$", text, re.MULTILINE)))
    line = _shared.read_line("\n".join(row for row in text.splitlines() if not row.startswith("#")))
    at = next((i for i, word in enumerate(line.arguments) if Path(word).name == "srun"), len(line.arguments))
    asked = Asked(
        _words.getopt(line.arguments[at:], _COUNTS, _SHORT, {}),
        line.variables,
        _words.getopt(["sbatch", *batch.arguments], _COUNTS, _SHORT, {}),
    )
    return read_srun(asked, line.threads(), topology)


def read_srun(asked: Asked, threads: int | None, topology: Topology) -> Reading:
    """Return what srun does on the first node of a job that has whole nodes.

    Raises:
        ValueError: srun refuses the line, or its answer cannot be told.
    """
    node, step = _step(asked, topology)
    sets = [topology.allowed if held is None else held for held in step_masks(node, step)]
    notes = [*_notes(asked, step, node), *asked.notes]
    read = _shared.reading_of_masks(sets, topology, threads or step.cpus_per_task or 1, notes)
    kind, listed, prefer = memory_of(asked)
    if not kind:
        return read
    policy: Policy = "preferred" if prefer else "local" if kind == "local" else "bind"
    nodes = [()] * len(sets) if kind == "local" else memory_nodes(node, kind, listed, len(sets))
    return _shared.with_memory(read, [Memory(policy, some) for some in nodes], topology)


def _step(asked: Asked, topology: Topology) -> tuple[Node, Step]:
    """Return the node and the step; explicit lists need no numbering of Slurm's."""
    try:
        node = node_of(topology)
    except ValueError:
        cpus = tuple(cpu.os for cpu in topology.cpus)
        node = Node(1, len(cpus), 1, cpus, (), frozenset(cpus))
        step = step_of(asked, node)
        if step.bind.mode in ("map_cpu", "mask_cpu", "none") and not step.exact:
            return node, step
        raise
    return node, step_of(asked, node)


def _notes(asked: Asked, step: Step, node: Node) -> list[str]:
    """Return what may be unexpected about this step."""
    notes = []
    width = asked.batch.last("cpus-per-task") or asked.variables.get("SLURM_CPUS_PER_TASK")
    if width and step.cpus_per_task is None:
        notes.append(
            f"srun does not inherit --cpus-per-task={width} from the batch job in Slurm 22.05 (23.11 does again): each "
            f"rank gets one CPU, and its threads share it; add -c {width} to srun"
        )
    if step.nodes > 1:
        notes.append(f"one of {step.nodes} nodes is drawn")
    if step.cpus_per_task and node.threads > 1 and not step.bind.mode and 1 not in (
        step.threads_per_core, step.job_threads_per_core, int(step.bind.one_thread)
    ):  # fmt: skip
        notes.append(
            "-c counts hardware threads, not cores: add --threads-per-core=1 (or --hint=nomultithread) for a core each"
        )
    if not step.bind.mode and not step.bind.units:
        notes.append(
            "no --cpu-bind: Slurm binds only where the tasks use exactly the sockets, cores or hardware threads of the "
            "step; TaskPluginParam=autobind=... in slurm.conf changes that"
        )
    domains = sum(1 for domain in node.domains if domain)
    if ("ldoms" in step.bind.units or step.bind.mode == "rank_ldom") and step.tasks < domains * step.nodes:
        notes.append(f"{step.tasks} tasks on {domains * step.nodes} NUMA domains: some domains stay without a task")
    return notes


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
    ), _words.OPTIONAL),
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
    given = _words.getopt(words, _COUNTS, _SHORT, _REFUSED)
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
