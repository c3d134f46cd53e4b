"""Hardware performance counters cannot be read.

Cycles, instructions and cache misses are then unknown, and Octant reports only what follows from time and known work.
Virtual machines often hide the counting unit; elsewhere `perf_event_paranoid` above 2 denies users access.
"""

from octant.advice import Advice, Facts


def advise(facts: Facts) -> Advice | None:
    """Fires without a counting unit, or with a paranoid level above 2."""
    paranoid = facts.system("perf_event_paranoid")
    if facts.system("pmu") == "no":
        guest = facts.system("virtualisation") not in ("", "none")
        return Advice(
            title="no hardware counters: the counting unit of the processor is hidden",
            severity="note",
            evidence={
                "/sys/bus/event_source/devices": "no processor unit",
                "virtualisation": facts.system("virtualisation"),
            },
            fix=("# have the host expose the unit (KVM: -cpu host,pmu=on)",)
            if guest
            else ("# the kernel found no driver for it:", "sudo dmesg | grep -iE 'pmu|perf'"),
            why="cycles, instructions and misses cannot be counted; only time is measured",
        )
    if paranoid.lstrip("-").isdigit() and int(paranoid) > 2:
        return Advice(
            title="no hardware counters: users may not read them",
            severity="note",
            evidence={"/proc/sys/kernel/perf_event_paranoid": paranoid},
            fix=("sudo sysctl kernel.perf_event_paranoid=1",),
            why="cycles, instructions and misses cannot be counted; only time is measured",
        )
    return None
