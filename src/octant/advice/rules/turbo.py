"""Turbo (boost) is enabled: the clock depends on the number of active cores, their work and the temperature.

Keep it for production. For comparisons between runs, disable it, or state the measured clock with each result, as
Octant does. Do not scale the result of one core to all cores.
"""

from octant.advice import Advice, Facts


def advise(facts: Facts) -> Advice | None:
    """Return advice if the system reports that turbo is enabled."""
    if facts.system("turbo") != "on":
        return None
    intel = facts.system("frequency_driver").startswith("intel")
    file = "/sys/devices/system/cpu/intel_pstate/no_turbo" if intel else "/sys/devices/system/cpu/cpufreq/boost"
    return Advice(
        title="turbo is enabled: the clock varies with load and temperature",
        severity="note",
        evidence={file: "0" if intel else "1"},
        fix=(
            "# disable it for comparisons only; production runs benefit from turbo",
            f"echo {1 if intel else 0} | sudo tee {file}",
        ),
        why="the clock is higher with one active core than with all, so single-core results do not scale",
    )
