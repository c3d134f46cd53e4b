"""The CPU quota of a control group stopped the measured threads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from octant.advice.findings import RuleResult, RunFinding
from octant.advice.findings._lines import rerun_command
from octant.advice.findings._thresholds import TAKEN
from octant.analysis.causes import causes_of_run
from octant.units import percent_text

if TYPE_CHECKING:
    from octant.analysis.summary import Summary
    from octant.record import Scheduling


def judge(summary: Summary) -> RuleResult:
    """Return a finding if throttling took more than `TAKEN` of the time."""
    lost = causes_of_run(summary)
    if lost is None:
        return RuleResult()
    if lost.quota <= TAKEN:
        return RuleResult(passed=(f"CPU quotas took {percent_text(lost.quota)} of this run's time",))
    given = [g.scheduling for p in summary.run.points for g in p.given if g.scheduling and g.scheduling.quota_cores]
    least = min(given, key=lambda one: one.quota_cores or 0, default=None)
    quota = f"A CPU quota of {least.quota_cores:g} cores" if least else "A CPU quota"
    container = summary.run.machine.system.get("container", "")
    if container:
        what = f"Start the {container} container with --cpuset-cpus instead of --cpus"
    else:
        what = "The administrator can remove it" + (f" (set in {_file(least)})" if least else "")
    return RuleResult(
        (
            RunFinding(
                rule="quota",
                title=f"{quota} took {percent_text(lost.quota)} of this run's time",
                body=f"When it is used up, all threads of the group stop until the next period. {what}.",
                lines=("octant doctor --explain cpu_quota", *rerun_command(summary.run)),
                family="lost time",
                details=(f"throttled time / time of all measurements; control group {least.quota_group}",)
                if least
                else (),
                kind="reliability",
                gain=lost.quota,
            ),
        )
    )


def _file(given: Scheduling) -> str:
    """Return the file of the quota, with control groups mounted at the usual place."""
    if given.weight is not None or given.shares is None:
        return f"/sys/fs/cgroup{given.quota_group.rstrip('/')}/cpu.max"
    return f"/sys/fs/cgroup/cpu{given.quota_group.rstrip('/')}/cpu.cfs_quota_us"
