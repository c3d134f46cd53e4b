"""Slurm's `srun`: a step inside an allocation, or an allocation of its own."""

import shutil
from collections.abc import Mapping, Sequence

from octant.failure import Refusal
from octant.launch.launchers import JobSize
from octant.launch.launchers._flavour import find, flavour

# Which of Slurm's plugins speaks the library's language; without the right one every rank is alone in its world.
_PMI = {"mpich": "pmi2", "intelmpi": "pmi2", "openmpi": "pmix"}


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
        pmi = _PMI.get(flavour(find()), "")
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
