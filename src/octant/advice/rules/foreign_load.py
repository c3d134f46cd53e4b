"""Other processes use the processors.

A measurement that shares a core measures the scheduler. Octant flags samples that were interrupted and reports medians,
which tolerate bursts, but no statistic tolerates a core that is always busy.
"""

from octant.advice import Advice, Facts


def advise(facts: Facts) -> Advice | None:
    """Fires when others together took more than a tenth of a core while they were observed."""
    busy = facts.surroundings.busy
    total = sum(process.cpus for process in busy)
    if total <= 0.1:
        return None
    evidence = {f"/proc/{process.pid}/stat ({process.command})": f"{process.cpus:.2f} cores" for process in busy[:5]}
    if facts.system("load_1min"):
        evidence["/proc/loadavg"] = f"{facts.system('load_1min')} over one minute"
    return Advice(
        title=f"other processes use {total:.1f} of {len(facts.machine.topology.allowed)} cores",
        severity="spoils",
        evidence=evidence,
        fix=(
            "# wait for them, or stop those that are yours:",
            f"ps -o pid,user,etime,args -p {','.join(str(process.pid) for process in busy[:5])}",
        ),
        why="a measurement that shares its core measures the scheduler",
    )
