"""The kernel uses a slow clock source.

With the time-stamp counter (`tsc`; `arch_sys_counter` on Arm, `timebase` on POWER) reading the clock takes about
20 ns and no system call. `hpet` and `acpi_pm` take a microsecond or more and serialise all cores.
"""

from octant.advice import Advice, Facts, MeasuredFact

_GOOD = frozenset({"", "tsc", "arch_sys_counter", "timebase", "riscv_clocksource"})
_FAIR = frozenset({"kvm-clock", "hyperv_clocksource_tsc_page", "xen"})

MEASURED = MeasuredFact("clock source", "clock_source")


def advise(facts: Facts) -> Advice | None:
    """Return advice if the clock source is not the processor's own counter."""
    source = facts.system("clock_source")
    if source in _GOOD:
        return None
    fair = source in _FAIR
    return Advice(
        title=f"the clock source is {source} instead of the processor's counter",
        severity="note" if fair else "spoils",
        evidence={
            "/sys/devices/system/clocksource/clocksource0/current_clocksource": source,
            "available_clocksource": facts.system("clock_sources"),
        },
        fix=("echo tsc | sudo tee /sys/devices/system/clocksource/clocksource0/current_clocksource",)
        if "tsc" in facts.system("clock_sources").split()
        else (
            "# the kernel found the tsc unstable; see: dmesg | grep -i tsc",
            "# boot with: tsc=reliable  # if the vendor of the machine confirms it",
        ),
        why="the clock is read through a memory page that the hypervisor updates"
        if fair
        else "reading the clock takes 1 µs or more, so short steps cannot be timed",
    )
