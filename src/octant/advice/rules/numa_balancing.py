"""Automatic NUMA balancing moves pages and threads while a program runs.

The kernel takes pages away from time to time to see who touches them, and migrates them. Programs that place their
memory well pay for the faults and may see their pages moved in the middle of a measurement.
"""

from octant.advice import Advice, Facts, MeasuredFact

MEASURED = MeasuredFact("automatic NUMA balancing", "numa_balancing")


def advise(facts: Facts) -> Advice | None:
    """Fires where balancing is on and there is more than one memory node to balance."""
    setting = facts.system("numa_balancing")
    nodes = len(facts.machine.topology.numa)
    if setting in ("", "0") or nodes < 2:
        return None
    return Advice(
        title="automatic NUMA balancing may move memory during a measurement",
        severity="spoils",
        evidence={"/proc/sys/kernel/numa_balancing": setting, "/sys/devices/system/node": f"{nodes} memory nodes"},
        fix=("sudo sysctl kernel.numa_balancing=0",),
        why="pages are unmapped to see who touches them, and moved: both happen inside the timed loop",
    )
