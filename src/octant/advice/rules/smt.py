"""Simultaneous multithreading is on: several hardware threads share each core.

Two threads on one core share its arithmetic units and caches; where threads are not bound, the scheduler may put two
of them on one core while another core idles. Bind one thread per core first, and measure the second thread of a core
separately.
"""

from octant.advice import Advice, Facts
from octant.machine.cpusets import cpus_text
from octant.software.trials import BINDING


def advise(facts: Facts) -> Advice | None:
    """Fires where a core that this process may use has several hardware threads that it may use."""
    topology = facts.machine.topology
    shared = [core & topology.allowed for core in topology.groups("core") if len(core & topology.allowed) > 1]
    if not shared:
        return None
    return Advice(
        title=f"SMT is on: {max(map(len, shared))} hardware threads share a core",
        severity="note",
        evidence={
            "/sys/devices/system/cpu/cpu*/topology/core_cpus_list": f"{cpus_text(shared[0])} first of {len(shared)}",
            "/sys/devices/system/cpu/smt/control": facts.system("smt") or "not reported",
        },
        fix=(
            facts.command(BINDING, "export {}"),
            "# or, for the whole machine:",
            "echo off | sudo tee /sys/devices/system/cpu/smt/control",
        ),
        why="threads that are not bound to cores of their own may share one while another core idles",
    )
