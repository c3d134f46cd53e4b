"""Turbo (boost) is on: the clock depends on how many cores work, on what they do and on the temperature.

Keep it for production. For comparisons between runs, disable it, or state the measured clock
beside every figure, as Octant does. Never scale a figure of one core to all cores.
"""

from octant.advice import Advice, Facts


def advise(facts: Facts) -> Advice | None:
    """Fires where the system reports that turbo is on."""
    if facts.system("turbo") != "on":
        return None
    intel = facts.system("frequency_driver").startswith("intel")
    file = "/sys/devices/system/cpu/intel_pstate/no_turbo" if intel else "/sys/devices/system/cpu/cpufreq/boost"
    return Advice(
        title="turbo is on: the clock varies with load and temperature",
        severity="note",
        evidence={file: "0" if intel else "1"},
        fix=("# only for comparisons; production gains from turbo", f"echo {1 if intel else 0} | sudo tee {file}"),
        why="one busy core runs faster than all busy cores do, so one-core figures do not scale",
    )
