"""IBM Spectrum LSF: `bsub`."""

from pathlib import Path

from octant.launch.jobs import Job, Submission, headed

LAUNCHER = "mpiexec"


def script(job: Job) -> str:
    """As many ranks on each node as asked, each with its own hardware threads; binding is left to octant-bind."""
    options = [
        f"-J {job.name}",
        f"-n {job.nodes * job.ranks_per_node}",
        f'-R "span[ptile={job.ranks_per_node}] affinity[thread({job.cpus_per_rank})]"',
        f"-W {job.minutes}",
        "-x",
        f"-o {job.name}.%J.out",
    ]
    return headed("#BSUB", options, job, LAUNCHER)


def submission(path: Path) -> Submission:
    """`bsub` finds the directives only in what it reads from its input."""
    del path
    return Submission(("bsub",), from_input=True)
