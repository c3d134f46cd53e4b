"""A quota of a control group stopped the measured threads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from octant.advice.findings import RuleResult, RunFinding
from octant.advice.findings._lines import again
from octant.advice.findings._thresholds import TAKEN
from octant.analysis.causes import causes_of_run
from octant.units import percent_text

if TYPE_CHECKING:
    from octant.analysis.summary import Summary
    from octant.record import Scheduling


def judge(summary: Summary) -> RuleResult:
    """Fires where throttling took more than `TAKEN` of the time."""
    lost = causes_of_run(summary)
    if lost is None:
        return RuleResult()
    if lost.quota <= TAKEN:
        return RuleResult(passed=(f"quotas took {percent_text(lost.quota)} of this run's time",))
    given = [g.scheduling for p in summary.run.points for g in p.given if g.scheduling and g.scheduling.quota_cores]
    least = min(given, key=lambda one: one.quota_cores or 0, default=None)
    quota = f"A quota of {least.quota_cores:g} cores" if least else "A quota"
    container = summary.run.machine.system.get("container", "")
    if container:
        what = f"Whoever starts the {container} container can give it CPUs of its own (--cpuset-cpus) instead of --cpus"
    else:
        what = "Who administers the machine can lift it" + (f": it is set in {_file(least)}" if least else "")
    return RuleResult(
        (
            RunFinding(
                rule="quota",
                title=f"{quota} takes {percent_text(lost.quota)} of this run's time",
                body=f"When it is used up, every thread of the group stops until the next period. {what}.",
                lines=("octant doctor --explain cpu_quota", *again(summary.run)),
                family="lost time",
                details=(f"throttled time over the time of all measurements; group {least.quota_group}",)
                if least
                else (),
                kind="reliability",
                gain=lost.quota,
            ),
        )
    )


def _file(given: Scheduling) -> str:
    """Of the quota, where control groups are mounted as usual."""
    if given.weight is not None or given.shares is None:
        return f"/sys/fs/cgroup{given.quota_group.rstrip('/')}/cpu.max"
    return f"/sys/fs/cgroup/cpu{given.quota_group.rstrip('/')}/cpu.cfs_quota_us"
