"""The frequency governor lets the clock follow the load.

Under any governor but `performance` a core starts slow and speeds up while it is measured, so that short measurements
differ from long ones. `performance` asks for the highest clock at once. With the drivers intel_pstate and
amd-pstate-epp `powersave` follows the load too, despite its name; with others it keeps the lowest clock.
`userspace` keeps a chosen clock, so it is not reported.
"""

from octant.advice import Advice, Facts, MeasuredFact

MEASURED = MeasuredFact("frequency governor", "governor")


def advise(facts: Facts) -> Advice | None:
    """Fires where any core is under a governor whose clock moves, or is held at its lowest."""
    governor, driver = facts.system("governor"), facts.system("frequency_driver")
    if not set(governor.split()) - {"performance", "userspace"}:
        return None
    lowest = governor == "powersave" and driver not in ("", "intel_pstate", "amd-pstate-epp")
    return Advice(
        title=f"the clock {'is held at its lowest' if lowest else 'follows the load'} (governor {governor})",
        severity="slows" if lowest else "spoils",
        evidence={
            "/sys/devices/system/cpu/cpu*/cpufreq/scaling_governor": governor,
            "scaling_driver": driver or "not reported",
        },
        fix=("sudo cpupower frequency-set --governor performance",),
        why="figures are those of the lowest clock, however long a run is"
        if lowest
        else "a core starts slow and speeds up while it is measured, so short and long runs differ",
    )
