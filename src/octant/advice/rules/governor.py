"""The frequency governor lets the clock follow the load.

Under any governor but `performance` a core starts slow and speeds up while it is measured, so that short measurements
see another machine than long ones. `performance` asks for the highest clock at once. (With the intel_pstate driver
`powersave` follows the load too, whatever its name says.)
"""

from octant.advice import Advice, Facts


def advise(facts: Facts) -> Advice | None:
    """Fires where any core is under another governor than `performance`."""
    governor = facts.system("governor")
    if governor in ("", "performance"):
        return None
    return Advice(
        title=f"the clock follows the load (governor {governor})",
        severity="spoils",
        evidence={"/sys/devices/system/cpu/cpu*/cpufreq/scaling_governor": governor},
        fix=("sudo cpupower frequency-set --governor performance",),
        why="a core begins slow and speeds up while it is measured, so short and long runs see different machines",
    )
