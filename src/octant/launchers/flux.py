"""Flux: `flux run` inside an instance, with an explicit map of one set per rank; `flux batch`."""

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from octant.failure import Exit, Refusal
from octant.launchers import Job, JobSize, Submission, Syntax, _shared, headed
from octant.machine import Topology
from octant.placement import Placement, set_text
from octant.placement.request import Request

TITLE = "Flux"
LAUNCHER = "flux"


def to_syntax(placement: Placement, request: Request, topology: Topology) -> Syntax:
    """The map gives the masks; the plain case has named options as well."""
    asked = _shared.plain(placement, request, topology)
    sets = _shared.rank_sets(placement)
    listed = ";".join(set_text(held) for held in sets)
    cores = max(_shared.cores_each(place, topology) for place in placement.ranks)
    head = f"flux run -N1 --exclusive -n {len(sets)} -c {cores}"
    lines = [*_shared.openmp_line(request), *_shared.heap_line(request)]
    lines.append(f"{head} -o cpu-affinity='map:{listed}' {_shared.PROGRAM}")
    if not asked.cpus and asked.order == "compact" and asked.smt == 1:
        lines.append(f"# with named options, by the manual: {head} -o cpu-affinity=per-task {_shared.PROGRAM}")
    cannot = [
        *_shared.no_threads(placement, "Flux"),
        *_shared.no_memory(request, "Flux without the mpibind plugin"),
        *_shared.no_pages(request),
    ]
    return Syntax(tuple(lines), True, tuple(cannot))


def at_hand(environment: Mapping[str, str]) -> bool:
    """Inside a Flux instance."""
    return "FLUX_URI" in environment


def command(program: Sequence[str], size: JobSize) -> list[str]:
    """A job of the instance that we are in.

    Raises:
        Refusal: no flux here, or hosts by name, which Flux chooses itself.
    """
    flux = shutil.which("flux")
    if flux is None:
        raise Refusal("cannot launch with flux (it is not on PATH); try --launcher mpiexec")
    if size.hosts:
        raise Refusal("cannot name hosts to flux (it chooses them); drop --hosts", Exit.WRONG_WORD)
    return [flux, *options(size), *program]


def options(size: JobSize) -> list[str]:
    """The words for ranks that Flux does not bind."""
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
    """An instance of its own on whole nodes; the ranks are started inside it."""
    asked = [
        f"--job-name={job.name}",
        f"--nodes={job.nodes}",
        f"--nslots={job.nodes * job.ranks_per_node}",
        f"--cores-per-slot={job.cpus_per_rank}",
        f"--time-limit={job.minutes}m",
        "--exclusive",
    ]
    return headed("#flux:", asked, job, LAUNCHER)


def submission(path: Path) -> Submission:
    """`flux batch` reads the file that it is given."""
    return Submission(("flux", "batch", str(path)))
