"""The frequency governor lets the clock follow the load.

With any governor except `performance`, a core starts at a low clock and speeds up while it is measured, so that short
measurements differ from long ones. `performance` requests the highest clock at once. With the drivers intel_pstate and
amd-pstate-epp `powersave` follows the load, too, despite its name; with other drivers it keeps the lowest clock.
`userspace` keeps a selected clock and is not reported.
"""

from octant.advice import Advice, Facts, MeasuredFact

MEASURED = MeasuredFact("frequency governor", "governor")


def advise(facts: Facts) -> Advice | None:
    """Return advice if the governor of a core varies its clock or keeps it at the minimum."""
    governor, driver = facts.system("governor"), facts.system("frequency_driver")
    if not set(governor.split()) - {"performance", "userspace"}:
        return None
    lowest = governor == "powersave" and driver not in ("", "intel_pstate", "amd-pstate-epp")
    return Advice(
        title=f"the clock {'is fixed at its minimum' if lowest else 'follows the load'} (governor {governor})",
        severity="slows" if lowest else "spoils",
        evidence={
            "/sys/devices/system/cpu/cpu*/cpufreq/scaling_governor": governor,
            "scaling_driver": driver or "not reported",
        },
        fix=("sudo cpupower frequency-set --governor performance",),
        why="all results are for the lowest clock"
        if lowest
        else "cores start at a low clock and speed up during a measurement, so short and long runs differ",
    )
