"""This process may use only a part of the machine.

A launcher, a batch system or a container has bound it. Figures of "the whole machine" are then figures of that part.
"""

from octant.advice import Advice, Facts
from octant.machine.cpusets import cpus_text


def advise(facts: Facts) -> Advice | None:
    """Fires where the mask leaves out hardware threads that are online."""
    topology = facts.machine.topology
    online = frozenset(cpu.os for cpu in topology.cpus)
    if topology.allowed >= online:
        return None
    return Advice(
        title=f"only {len(topology.allowed)} of {len(online)} hardware threads may be used",
        severity="note",
        evidence={"affinity mask and cgroup cpuset": cpus_text(topology.allowed), "online": cpus_text(online)},
        fix=("taskset --cpu-list --pid $$  # shows the mask; a batch system or a container sets it",),
        why="figures of the whole machine are figures of that part",
    )
