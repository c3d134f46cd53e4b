"""Flux: `flux batch`."""

from pathlib import Path

from octant.launch.jobs import Job, Submission, headed

LAUNCHER = "flux"


def script(job: Job) -> str:
    """An instance of its own on whole nodes; the ranks are started inside it."""
    options = [
        f"--job-name={job.name}",
        f"--nodes={job.nodes}",
        f"--nslots={job.nodes * job.ranks_per_node}",
        f"--cores-per-slot={job.cpus_per_rank}",
        f"--time-limit={job.minutes}m",
        "--exclusive",
    ]
    return headed("#flux:", options, job, LAUNCHER)


def submission(path: Path) -> Submission:
    """`flux batch` reads the file that it is given."""
    return Submission(("flux", "batch", str(path)))
