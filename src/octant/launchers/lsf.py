"""IBM Spectrum LSF: affinity[] resource requirements (the scheduler chooses the cores), `bsub`, and JSM's `jsrun`."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from octant.launchers import (
    MAX_RANKS,
    Job,
    LaunchCommand,
    Submission,
    Syntax,
    _line,
    _tables,
    _words,
    _writing,
    render_job_script,
)
from octant.machine import Topology
from octant.placement import Placement
from octant.placement.request import PlacementRequest

TITLE = "IBM Spectrum LSF"
LAUNCHER = "mpiexec"
COMMANDS = ("jsrun",)
UNBIND = "--bind none"
_MEMORY = {"bind": ":membind=localonly", "local": ":membind=localprefer", "preferred": ":membind=localprefer"}


def to_syntax(placement: Placement, request: PlacementRequest, topology: Topology) -> Syntax:
    """Return one `bsub` requirement."""
    plain = _writing.simplify_request(placement, request, topology)
    ranks = len(placement.ranks)
    distribute = "pack" if plain.order == "compact" else "balance"
    if plain.unit in ("numa", "package"):
        what = "numa(1)" if plain.unit == "numa" else "socket(1)"
    elif plain.smt != 1:
        what = f"thread({request.threads},same=core):cpubind=thread:distribute={distribute}"
    elif plain.order == "scatter:numa" and ranks <= len(topology.groups("numa")):
        what = f"core({request.threads},same=numa,exclusive=(numa,injob)):cpubind=core"
    else:
        what = f"core({request.threads}):cpubind=core:distribute={distribute}"
    line = f'#BSUB -n {ranks} -R "span[ptile={ranks}] affinity[{what}{_MEMORY.get(request.memory.policy, "")}]"'
    cannot = ["LSF selects the objects itself: their kind is as requested, their numbers may differ"]
    if plain.cpus:
        cannot = ["LSF accepts no list of hardware threads on this line; use a rank file or octant-bind"]
    if request.memory.policy == "interleave" or request.memory.nodes:
        cannot.append(f"LSF binds memory to the local domain only; for memory={request.memory} use numactl")
    return Syntax((line, *_writing.openmp_line(request)), False, (*cannot, *_writing.page_remarks(request)))


def script(job: Job) -> str:
    """Return the script: each rank has its own hardware threads, and octant-bind binds it."""
    options = [
        f"-J {job.name}",
        f"-n {job.nodes * job.ranks_per_node}",
        f'-R "span[ptile={job.ranks_per_node}] affinity[thread({job.cpus_per_rank})]"',
        f"-W {job.minutes}",
        "-x",
        f"-o {job.name}.%J.out",
    ]
    return render_job_script("#BSUB", options, job, LAUNCHER)


def submission(path: Path) -> Submission:
    """Return the command that submits the script; `bsub` reads directives only from its standard input."""
    del path
    return Submission(("bsub",), from_input=True)


OPTIONS = _tables.table(
    _tables.interpreted("np|p nrs|n tasks_per_rs|a bind|b", 1),
    _tables.not_read("it selects the cores of a resource set", "cpu_per_rs|c rs_per_host|r gpu_per_rs|g", 1),
    _tables.not_read("it changes the order of ranks", "launch_distribution|d latency_priority|l", 1),
)
"""Options of jsrun, each with a value: from incomplete documentation, not verified against the launcher."""


def recognise(words: Sequence[str], environment: Mapping[str, str]) -> LaunchCommand:
    """Read `jsrun`; its options are from incomplete documentation, not verified against the launcher.

    The number of ranks is that of --np, else --nrs times --tasks_per_rs; otherwise jsrun uses all of the allocation,
    by the same documentation, and binds each rank to a core by default.

    Raises:
        ValueError: an option that is not in the table, a missing value, several programs, or none.
    """
    given = _words.getopt(words, OPTIONS, abbreviated=False)
    at = _words.program_index(words, given)
    number, sets, each = given.last("np"), given.last("nrs"), given.last("tasks_per_rs")
    ranks = None
    if number is not None:
        ranks = _line.read_integer("--np", number, MAX_RANKS)
    elif sets is not None and sets != "ALL_HOSTS" and each is not None:
        ranks = _line.read_integer("--nrs", sets, MAX_RANKS) * _line.read_integer("--tasks_per_rs", each, MAX_RANKS)
    binding = given.last("bind")
    if binding == "none":
        return LaunchCommand(ranks, tuple(words[1:at]), at, binds=False)
    bound_by = "by default" if binding is None else "--bind"
    return LaunchCommand(ranks, tuple(words[1:at]), at, binds=True, bound_by=bound_by)
