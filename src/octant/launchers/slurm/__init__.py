"""Slurm: `srun` with masks, which need exclusive use of the node, and named options for plain cases; `sbatch`."""

import contextlib
import itertools
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from octant.build import mpiexec
from octant.failure import Refusal
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
    identify_mpi_library,
    mpi_launcher,
    render_job_script,
)
from octant.launchers.slurm import option_tables
from octant.launchers.slurm.option_tables import BATCH_OPTIONS, GPU_OPTIONS
from octant.launchers.slurm.srun_line import SrunOptions, memory_of, step_of
from octant.launchers.slurm.step_masks import (
    Node,
    SlurmSettings,
    SrunStep,
    compute_masks,
    has_every_core,
    is_crowded,
    memory_nodes,
    node_of,
)
from octant.machine import CpuSet, Topology
from octant.placement import Placement, mask_text
from octant.placement.request import Memory, PlacementRequest, Policy

TITLE = "Slurm (srun)"
NAMES = {"start": "srun", "job": "sbatch"}
LAUNCHER = "srun"
COMMANDS = ("srun",)
UNBIND = "--cpu-bind=none"
OPTIONS, VARIABLES = option_tables.OPTIONS, option_tables.VARIABLES
MARK = r"\bsrun\b|#SBATCH|SLURM_CPU_BIND"


_UNCOUNTED = "Slurm does not count all CPUs of this machine, and refuses masks that contain the others"


def to_syntax(placement: Placement, request: PlacementRequest, topology: Topology) -> Syntax:
    """Return masks, and named options that give the same masks as a comment."""
    sets = _writing.rank_sets(placement)
    memory, cannot = _memory(request, placement)
    node = node_of(topology)
    masks = f"--whole -n {len(sets)} --cpu-bind=mask_cpu:{','.join(mask_text(held) for held in sets)}"
    try:
        _masks_of(masks, node)
    except ValueError as error:
        why = _UNCOUNTED if len(sets) <= _line.MAX_RANKS else str(error)
        return Syntax((), False, (why, *cannot, *_writing.page_remarks(request)))
    named = _named_options(sets, request, topology, node)
    lines = [
        *_writing.openmp_line(request),
        *_writing.heap_line(request),
        "#SBATCH --nodes=1 --exclusive",
        f"srun {masks}{memory} {_writing.PROGRAM}",
    ]
    if named:
        lines.append(f"# the same with named options: srun {named}{memory} {_writing.PROGRAM}")
    cannot += [*_writing.thread_remarks(placement, "srun"), *_writing.page_remarks(request)]
    cannot.append(
        "the masks are valid only if the job has the whole node; Slurm 22.05 restricts steps with -c or "
        "--exclusive to some cores"
    )
    return Syntax(tuple(lines), True, tuple(cannot))


def _memory(request: PlacementRequest, placement: Placement) -> tuple[str, list[str]]:
    if request.memory.policy == "local":
        return " --mem-bind=local", []
    if request.memory.policy in ("bind", "preferred"):
        prefer = "prefer," if request.memory.policy == "preferred" else ""
        masks = ",".join(mask_text(place.memory_set()) for place in placement.ranks)
        return f" --mem-bind={prefer}mask_mem:{masks}", []
    return "", _writing.memory_remarks(request, "srun")


_NAMED = (
    "--threads-per-core=1 --cpu-bind=cores", "--cpu-bind=threads", "--cpu-bind=cores", "--hint=nomultithread",
    "--cpu-bind=ldoms", "--cpu-bind=sockets",
)  # fmt: skip


def _named_options(sets: Sequence[CpuSet], request: PlacementRequest, topology: Topology, node: Node) -> str:
    """Return the first line of named options with which Slurm gives these masks, "": none was found."""
    cores = max(sum(1 for core in topology.groups("core") if core & held) for held in sets)
    width = max(map(len, sets))
    first = {"numa": "--cpu-bind=ldoms", "package": "--cpu-bind=sockets"}.get(request.unit)
    counts = dict.fromkeys([width] if first else [request.threads, cores, width])
    options = dict.fromkeys([first, *_NAMED] if first else _NAMED)
    for count, option, order in itertools.product(counts, options, ("block:block", "block:cyclic")):
        words = f"-n {len(sets)} -c {count} {option} -m {order}"
        with contextlib.suppress(ValueError):
            if _masks_of(words, node) == list(sets):
                return words
    return ""


def _masks_of(words: str, node: Node) -> list[CpuSet | None]:
    """Return the masks of a line of options, without `srun`.

    Raises:
        ValueError: srun refuses it.
    """
    return compute_masks(node, step_of(SrunOptions(parse(["srun", *words.split()]), {}, _words.ParsedOptions(0)), node))


def from_syntax(command: _command.Command, topology: Topology) -> LauncherReading:
    """Read `srun` options and preceding `#SBATCH` lines, for a job that has the whole node."""
    batch = _line.read_line("\n".join(re.findall(r"^#SBATCH\s+(.*)$", command.text, re.MULTILINE)))
    directives = _words.getopt(["sbatch", *batch.arguments], BATCH_OPTIONS)
    if directives.end <= len(batch.arguments):
        raise ValueError(f"cannot read #SBATCH {batch.arguments[directives.end - 1]}: it is not an option; remove it")
    srun = SrunOptions(command.given, command.variables, directives)
    notes = [
        *_command.account_options(_command.LauncherCommand((), directives)),
        *_without_effect(srun, node_of(topology)),
    ]
    read = read_srun(srun, command.threads(), topology)
    of_job = directives if directives.occurrences else command.given  # srun outside of a batch job creates its job
    if "exclusive" not in of_job.values or of_job.last("exclusive"):
        notes.append(
            "the job is assumed to have the whole node, which only --exclusive "
            f"{'in an #SBATCH line' if directives.occurrences else 'of the job'} or the configuration ensures"
        )
    return replace(read, remarks=(*notes, *read.remarks))


_DRAWN = frozenset({
    "ntasks", "nodes", "cpus-per-task", "cpu-bind", "distribution", "hint", "mem-bind", "ntasks-per-node",
})  # fmt: skip
"""Options of srun that describe the shown placement, even if they equal the default."""
_SHAPES = frozenset({"sockets-per-node", "cores-per-socket", "threads-per-core", "extra-node-info", "nodelist"})
_SHAPE_VARIABLES = frozenset({"SLURM_NSOCKETS_PER_NODE", "SLURM_NCORES_PER_SOCKET", "SLURM_THREADS_PER_CORE"})


def _without_effect(srun: SrunOptions, node: Node) -> list[str]:
    """Return remarks on interpreted options and variables that do not change the placement."""
    found: dict[str, list[str]] = {}
    outcome = _outcome(srun, node)
    for place, given in (("", srun.given), (" of the #SBATCH lines", srun.batch)):
        skipped = {"nodes", "exclusive"} if place else _DRAWN
        for word, option in given.occurrences:
            name = option.name
            if option.effect != "interpreted" or name in skipped:
                continue
            less = given.without(name)
            rest = replace(srun, batch=less) if place else replace(srun, given=less)
            if _outcome(rest, node) == outcome:
                reason = option_tables.NODES if name in _SHAPES else _SAME
                found.setdefault(reason, []).append(word.partition("=")[0] + place)
    for name in srun.variables:
        if getattr(_tables.variable(name, VARIABLES), "effect", "") == "interpreted":
            rest = replace(srun, variables={key: value for key, value in srun.variables.items() if key != name})
            if _outcome(rest, node) == outcome:
                found.setdefault(option_tables.NODES if name in _SHAPE_VARIABLES else _SAME, []).append(name)
    return [f"not used for the placement: {', '.join(dict.fromkeys(names))} ({why})" for why, names in found.items()]


_SAME = "the placement is the same without it"


def _outcome(srun: SrunOptions, node: Node) -> object:
    """Return everything that the placement depends on, or why srun refuses."""
    srun = replace(srun, notes=[])
    try:
        step = step_of(srun, node)
        masks = compute_masks(node, step)
        return masks, _notes(srun, step, node, masks), srun.notes, memory_of(srun), step.cpus_per_task
    except ValueError as error:
        return str(error)


def read_srun(srun: SrunOptions, threads: int | None, topology: Topology) -> LauncherReading:
    """Return what srun does on the first node of a job that has whole nodes.

    Raises:
        ValueError: srun refuses the line, or its masks cannot be determined.
    """
    node = node_of(topology)
    step = step_of(srun, node)
    _check_gpus(srun, node, step)
    masks = compute_masks(node, step)
    sets = [topology.allowed if held is None else held for held in masks]
    notes = [*_notes(srun, step, node, masks), *srun.notes]
    read = _reading.reading_of_masks(sets, topology, threads or step.cpus_per_task or 1, notes)
    kind, listed, prefer = memory_of(srun)
    if not kind:
        return read
    policy: Policy = "preferred" if prefer else "local" if kind == "local" else "bind"
    nodes = [()] * len(sets) if kind == "local" else memory_nodes(node, kind, listed, len(sets))
    return _reading.add_memory(read, [Memory(policy, some) for some in nodes], topology)


def _check_gpus(srun: SrunOptions, node: Node, step: SrunStep) -> None:
    """Refuse options for GPUs in a step that has not all cores: it takes those next to its GPUs.

    Raises:
        ValueError: there is such an option.
    """
    gpus = [name for given in (srun.given, srun.batch) for name in GPU_OPTIONS if name in given.values]
    gpus += [name for name in srun.variables if name.startswith(("SLURM_GPU", "SLURM_GRES", "SLURM_STEP_GRES"))]
    option = next((one if one.startswith("SLURM") else f"--{one}" for one in gpus), "")
    if gpus and not has_every_core(node, step):
        raise ValueError(
            f"cannot interpret this line: the step has only some of the cores of the node, and {option} may "
            "select cores close to its GPUs; use --cpu-bind=mask_cpu:LIST without -c and --exact"
        )


_SETTINGS = (
    ("SelectTypeParameters=CR_CORE_DEFAULT_DIST_BLOCK", SlurmSettings(block=True)),
    ("SelectTypeParameters=CR_ONE_TASK_PER_CORE", SlurmSettings(one_task=True)),
    ("TaskPluginParam=autobind=cores", SlurmSettings(autobind="cores")),
    ("TaskPluginParam=autobind=threads", SlurmSettings(autobind="threads")),
)
"""Settings of slurm.conf that change masks; a node whose cores count as CPUs is not among them (docs/placement.md)."""


def _masks_or_none(node: Node, step: SrunStep, settings: SlurmSettings) -> list[CpuSet | None] | None:
    try:
        return compute_masks(node, step, settings)
    except ValueError:
        return None


def _notes(srun: SrunOptions, step: SrunStep, node: Node, masks: Sequence[CpuSet | None]) -> list[str]:
    """Return what may be unexpected about this step."""
    notes = []
    width = srun.batch.last("cpus-per-task") or srun.variables.get("SLURM_CPUS_PER_TASK")
    if width and step.cpus_per_task is None:
        notes.append(
            f"srun of Slurm 22.05 does not inherit --cpus-per-task={width} from the batch job (since 23.11 it "
            f"does): each rank has one CPU, which its threads share; add -c {width} to srun"
        )
    if step.nodes > 1:
        notes.append(f"the placement on one of {step.nodes} nodes is shown")
    if step.cpus_per_task and node.threads > 1 and not step.bind.mode and 1 not in (
        step.threads_per_core, step.job_threads_per_core, int(step.bind.one_thread)
    ):  # fmt: skip
        notes.append(
            "-c counts hardware threads, not cores: add --threads-per-core=1 (or --hint=nomultithread) to count cores"
        )
    if not step.bind.mode and not step.bind.units and len(set(masks)) < len(masks):
        notes.append(
            "no --cpu-bind: Slurm binds tasks only if together they use all sockets, cores or hardware threads "
            "of the step; otherwise every task has the mask of the whole step"
        )
    differing = [text for text, settings in _SETTINGS if _masks_or_none(node, step, settings) != masks]
    if differing:
        notes.append(f"the masks are those of Slurm's default settings; they would differ with {', '.join(differing)}")
    if is_crowded(node, step):
        notes.append(
            f"{step.tasks} tasks are more than the CPUs: with --overcommit, each task may use all CPUs of the step"
        )
    beyond = [one for one in step.bind.listed if step.bind.mode == "map_ldom" and int(one) >= len(node.domains)]
    if beyond:
        notes.append(
            f"NUMA domain {beyond[0]} does not exist: the machine has {len(node.domains)}, and Slurm starts "
            "again with the first one"
        )
    domains = sum(1 for domain in node.domains if domain)
    if ("ldoms" in step.bind.units or step.bind.mode == "rank_ldom") and step.tasks < domains * step.nodes:
        notes.append(f"{step.tasks} tasks on {domains * step.nodes} NUMA domains: some domains have no task")
    return notes


def at_hand(environment: Mapping[str, str]) -> bool:
    """Return whether this process is in a Slurm allocation."""
    return "SLURM_JOB_ID" in environment


def command(program: Sequence[str], size: JobSize) -> list[str]:
    """Return the command line of a step inside an allocation, or of a new job outside.

    Raises:
        Refusal: no srun here.
    """
    srun = shutil.which("srun")
    if srun is None:
        raise Refusal("cannot launch with srun (it is not on PATH); use --launcher mpiexec, or a login node of Slurm")
    try:
        pmi = mpi_launcher(identify_mpi_library(mpiexec.find())).PMI
    except Refusal:
        pmi = ""  # no mpiexec that identifies the library: use the default of Slurm
    return [srun, *options(size, pmi), *program]


def options(size: JobSize, pmi: str = "") -> list[str]:
    """Return the options for unbound ranks.

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
    """Return a script with exclusive nodes, so that no other job disturbs the measurement."""
    directives = [
        f"--job-name={job.name}",
        f"--nodes={job.nodes}",
        f"--ntasks-per-node={job.ranks_per_node}",
        f"--cpus-per-task={job.cpus_per_rank}",
        f"--time={job.minutes}",
        "--exclusive",
    ]
    return render_job_script("#SBATCH", directives, job, LAUNCHER)


def submission(path: Path) -> Submission:
    """Return the command that submits the script; `--parsable` prints only the job ID."""
    return Submission(("sbatch", "--parsable", str(path)))


def parse(words: Sequence[str]) -> _words.ParsedOptions:
    """Return the options of a command line of srun, which reads them with getopt_long.

    Raises:
        ValueError: an option that srun does not have, or a missing value.
    """
    return _words.getopt(words, OPTIONS)


def recognise(words: Sequence[str], environment: Mapping[str, str]) -> LaunchCommand:
    """Read options as srun does, with getopt_long.

    The number of ranks is that of -n, else of SLURM_NTASKS, else -N times --ntasks-per-node; otherwise srun starts one
    rank on each node. --cpu-bind or SLURM_CPU_BIND decides about binding, else the task plugin and its configuration:
    unknown here. A step is confined to the CPUs that it was allocated, bound or not.

    Raises:
        ValueError: an option that srun does not have, a missing value, or several programs.
    """
    given = parse(words)
    at = _words.program_index(words, given)
    binds, bound_by = None, ""
    for name, value in (("cpu-bind", given.last("cpu-bind")), ("SLURM_CPU_BIND", environment.get("SLURM_CPU_BIND"))):
        kinds = [kind for kind in (value or "").lower().split(",") if kind not in ("", "q", "quiet", "v", "verbose")]
        if kinds and binds is None:
            binds = kinds[0] not in ("none", "no")
            bound_by = given.spelt.get(name, name).partition("=")[0] if binds else ""
    return LaunchCommand(_rank_count(given, environment), tuple(words[1:at]), at, binds, bound_by)


def _rank_count(given: _words.ParsedOptions, environment: Mapping[str, str]) -> int | None:
    """Return the number of ranks that words and variables state; `None`: none.

    Raises:
        ValueError: it is no number.
    """
    number = given.last("ntasks") or environment.get("SLURM_NTASKS") or environment.get("SLURM_NPROCS")
    if number is not None:
        return _line.read_integer("-n", number, MAX_RANKS)
    nodes, each = given.last("nodes"), given.last("ntasks-per-node")
    if nodes is None or each is None or not re.fullmatch("[0-9]+", nodes):
        return None
    return _line.read_integer("-N", nodes, MAX_RANKS) * _line.read_integer("--ntasks-per-node", each, MAX_RANKS)
