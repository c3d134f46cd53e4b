"""PBS Professional and OpenPBS: chunks of a node (binding inside is left to the MPI library), and `qsub`."""

from pathlib import Path

from octant.launchers import Job, Submission, Syntax, _writing, render_job_script
from octant.machine import Topology
from octant.placement import Placement
from octant.placement.request import PlacementRequest

TITLE = "PBS Professional"
LAUNCHER = "mpiexec"


def to_syntax(placement: Placement, request: PlacementRequest, topology: Topology) -> Syntax:
    """Return the request for one node; PBS counts CPUs as the site configured (here: hardware threads used)."""
    ranks = len(placement.ranks)
    used = frozenset().union(*_writing.rank_sets(placement))
    cores = sum(1 for core in topology.groups("core") if core & used)
    per_core = topology.smt() if request.smt == 0 else request.smt
    line = f"#PBS -l select=1:ncpus={cores * per_core}:mpiprocs={ranks}:ompthreads={request.threads}"
    cannot = [
        "PBS does not bind inside the node; use the options of the MPI library as well",
        "ncpus counts cores or hardware threads, depending on the site (see pbsnodes -av)",
        *_writing.memory_remarks(request, "PBS"),
        *_writing.page_remarks(request),
    ]
    return Syntax((line, "#PBS -l place=scatter:excl"), False, tuple(cannot))


def script(job: Job) -> str:
    """Return a script with one chunk per node; `ncpus` counts hardware threads if the site does."""
    chunk = (
        f"ncpus={job.ranks_per_node * job.cpus_per_rank}:mpiprocs={job.ranks_per_node}:ompthreads={job.cpus_per_rank}"
    )
    options = [
        f"-N {job.name}",
        f"-l select={job.nodes}:{chunk}",
        "-l place=scatter:excl",
        f"-l walltime={job.minutes // 60:02}:{job.minutes % 60:02}:00",
        "-j oe",
    ]
    return render_job_script("#PBS", options, job, LAUNCHER)


def submission(path: Path) -> Submission:
    """Return the command that submits the script."""
    return Submission(("qsub", str(path)))
