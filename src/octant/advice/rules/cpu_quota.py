"""The control group has a CPU quota below the number of hardware threads.

When the quota of a period (usually 100 ms) is used up, all processes of the group stop until the next period. A
parallel measurement then alternates between running and waiting.
"""

from octant.advice import Advice, Facts

TESTED = True  # the noise test measures the effect


def advise(facts: Facts) -> Advice | None:
    """Return advice if the quota is smaller than the number of usable hardware threads."""
    quota, threads = facts.system("cgroup_cpu_quota"), len(facts.machine.topology.allowed)
    if not quota or float(quota) >= threads:
        return None
    whole = max(int(float(quota)), 1)
    return Advice(
        title=f"a CPU quota limits this control group to {quota} of {threads} hardware threads",
        severity="spoils",
        evidence={
            "cgroup cpu.max (or cpu.cfs_quota_us)": f"{quota} CPUs",
            "usable hardware threads": str(threads),
        },
        fix=(
            f"taskset --cpu-list {','.join(map(str, sorted(facts.machine.topology.allowed)[:whole]))} octant …",
            "# or start the container with --cpuset-cpus instead of --cpus",
        ),
        why="when the quota of a period is used up, all processes stop until the next period",
    )
