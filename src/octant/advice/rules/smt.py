"""Simultaneous multithreading (SMT) is enabled: several hardware threads share each core.

Threads on one core share its arithmetic units and caches. If threads are not bound, the scheduler may put two of them
on one core while another core is idle. Bind one thread per core first, and measure the second thread of a core
separately.
"""

from octant.advice import Advice, Facts
from octant.machine.cpusets import cpus_text
from octant.software.trials import BINDING


def advise(facts: Facts) -> Advice | None:
    """Return advice if this process may use several hardware threads of a core."""
    topology = facts.machine.topology
    shared = [core & topology.allowed for core in topology.groups("core") if len(core & topology.allowed) > 1]
    if not shared:
        return None
    return Advice(
        title=f"SMT is enabled: {max(map(len, shared))} hardware threads share a core",
        severity="note",
        evidence={
            "/sys/devices/system/cpu/cpu*/topology/core_cpus_list": f"{cpus_text(shared[0])}, 1 of {len(shared)} cores",
            "/sys/devices/system/cpu/smt/control": facts.system("smt") or "not reported",
        },
        fix=(
            facts.command(BINDING, "export {}"),
            "# or, for the whole machine:",
            "echo off | sudo tee /sys/devices/system/cpu/smt/control",
        ),
        why="unbound threads may share a core while another core is idle",
    )
