"""Slurm's `sbatch`."""

from pathlib import Path

from octant.launch.jobs import Job, Submission, headed

LAUNCHER = "srun"


def script(job: Job) -> str:
    """Whole nodes, so that nobody else's job is measured along with ours."""
    options = [
        f"--job-name={job.name}",
        f"--nodes={job.nodes}",
        f"--ntasks-per-node={job.ranks_per_node}",
        f"--cpus-per-task={job.cpus_per_rank}",
        f"--time={job.minutes}",
        "--exclusive",
    ]
    return headed("#SBATCH", options, job, LAUNCHER)


def submission(path: Path) -> Submission:
    """`--parsable` answers with the job's number alone."""
    return Submission(("sbatch", "--parsable", str(path)))
