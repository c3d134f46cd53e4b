"""Hardware performance counters cannot be read.

Cycles, instructions and cache misses are then unknown, and Octant derives all results from time and known work.
Virtual machines often hide the performance monitoring unit (PMU); on other systems `perf_event_paranoid` above 2 denies
access to users.
"""

from octant.advice import Advice, Facts


def advise(facts: Facts) -> Advice | None:
    """Return advice if there is no PMU, or if the paranoid level is above 2."""
    paranoid = facts.system("perf_event_paranoid")
    if facts.system("pmu") == "no":
        guest = facts.system("virtualisation") not in ("", "none")
        return Advice(
            title="hardware performance counters are not available: no PMU is visible",
            severity="note",
            evidence={
                "/sys/bus/event_source/devices": "no PMU of the processor",
                "virtualisation": facts.system("virtualisation"),
            },
            fix=("# enable the virtual PMU on the host (KVM: -cpu host,pmu=on)",)
            if guest
            else ("# the kernel has no driver for the PMU; see:", "sudo dmesg | grep -iE 'pmu|perf'"),
            why="cycles, instructions and cache misses cannot be counted; only time is measured",
        )
    if paranoid.lstrip("-").isdigit() and int(paranoid) > 2:
        return Advice(
            title="hardware performance counters are not available to users",
            severity="note",
            evidence={"/proc/sys/kernel/perf_event_paranoid": paranoid},
            fix=("sudo sysctl kernel.perf_event_paranoid=1",),
            why="cycles, instructions and cache misses cannot be counted; only time is measured",
        )
    return None
