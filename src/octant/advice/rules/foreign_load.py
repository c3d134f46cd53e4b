"""Other processes use CPU time.

A measurement that shares a core also measures the scheduler. Octant marks interrupted samples and reports medians,
which tolerate bursts, but not a core that is always busy.
"""

from octant.advice import Advice, Facts

TESTED = True  # the noise test measures the effect


def advise(facts: Facts) -> Advice | None:
    """Return advice if other processes together used more than a tenth of a core while they were observed."""
    busy = facts.surroundings.busy
    total = sum(process.cpus for process in busy)
    if total <= 0.1:
        return None
    evidence = {f"/proc/{process.pid}/stat ({process.command})": f"{process.cpus:.2f} cores" for process in busy[:5]}
    if facts.system("load_1min"):
        evidence["/proc/loadavg"] = f"{facts.system('load_1min')} over one minute"
    return Advice(
        title=f"other processes use {total:.1f} of {len(facts.machine.topology.allowed)} hardware threads",
        severity="spoils",
        evidence=evidence,
        fix=(
            "# wait until they finish, or stop your own processes:",
            f"ps -o pid,user,etime,args -p {','.join(str(process.pid) for process in busy[:5])}",
        ),
        why="a measurement that shares a core also measures the scheduler",
    )
