"""Slurm does not pass cpus-per-task on to the steps of a job.

From 22.05 on, `srun` inside a batch script no longer inherits `--cpus-per-task` from `sbatch`; each task then gets one
core, which all of its threads share. Later releases reverted this in part; setting the value again is always safe.
"""

from octant.advice import Advice, Facts


def advise(facts: Facts) -> Advice | None:
    """Return advice inside a job, outside a job step, if only the job has the value."""
    per_task = facts.variable("SLURM_CPUS_PER_TASK")
    inside_step = facts.variable("SLURM_STEP_ID") not in (None, "4294967291", "4294967290")  # batch and interactive
    if (
        facts.variable("SLURM_JOB_ID") is None
        or per_task in (None, "1")
        or inside_step
        or facts.variable("SRUN_CPUS_PER_TASK")
    ):
        return None
    return Advice(
        title=f"srun assigns one core to each task instead of {per_task}",
        severity="slows",
        evidence={"SLURM_CPUS_PER_TASK": per_task or "", "SRUN_CPUS_PER_TASK": "unset"},
        fix=("export SRUN_CPUS_PER_TASK=$SLURM_CPUS_PER_TASK",),
        why="since Slurm 22.05, job steps do not inherit cpus-per-task from the job",
    )
