"""This process may use only a part of the machine.

A launcher, a batch system or a container has bound it. Results for the whole machine then apply only to this part.
"""

from octant.advice import Advice, Facts
from octant.machine.cpusets import cpus_text


def advise(facts: Facts) -> Advice | None:
    """Return advice if the mask excludes hardware threads that are online."""
    topology = facts.machine.topology
    online = frozenset(cpu.os for cpu in topology.cpus)
    if topology.allowed >= online:
        return None
    return Advice(
        title=f"this process may use only {len(topology.allowed)} of {len(online)} hardware threads",
        severity="note",
        evidence={"affinity mask and cgroup cpuset": cpus_text(topology.allowed), "online": cpus_text(online)},
        fix=("taskset --cpu-list --pid $$  # prints the mask, which a batch system or a container has set",),
        why="results for the whole machine apply only to these hardware threads",
    )
