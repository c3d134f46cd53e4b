"""PBS Professional and OpenPBS: `qsub`."""

from pathlib import Path

from octant.launch.jobs import Job, Submission, headed

LAUNCHER = "mpiexec"


def script(job: Job) -> str:
    """Chunks of one node each; `ncpus` counts hardware threads where the site counts them."""
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
    return headed("#PBS", options, job, LAUNCHER)


def submission(path: Path) -> Submission:
    """`qsub` reads the file that it is given."""
    return Submission(("qsub", str(path)))
