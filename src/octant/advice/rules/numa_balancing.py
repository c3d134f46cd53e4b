"""Automatic NUMA balancing moves pages and threads while a program runs.

The kernel unmaps pages from time to time to detect which node accesses them, and migrates them. Programs with good
memory placement pay for the page faults, and pages may migrate during a measurement.
"""

from octant.advice import Advice, Facts, MeasuredFact

MEASURED = MeasuredFact("automatic NUMA balancing", "numa_balancing")


def advise(facts: Facts) -> Advice | None:
    """Return advice if balancing is enabled and there are several memory nodes."""
    setting = facts.system("numa_balancing")
    nodes = len(facts.machine.topology.numa)
    if setting in ("", "0") or nodes < 2:
        return None
    return Advice(
        title="automatic NUMA balancing may move memory during a measurement",
        severity="spoils",
        evidence={"/proc/sys/kernel/numa_balancing": setting, "/sys/devices/system/node": f"{nodes} memory nodes"},
        fix=("sudo sysctl kernel.numa_balancing=0",),
        why="the kernel unmaps pages to detect accesses and migrates them, also during timed loops",
    )
