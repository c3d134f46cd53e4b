"""The hypervisor gives CPU time of this machine to others (stolen time).

Stolen time is time in which a virtual CPU was ready and did not run. Affected samples are too long by milliseconds.
Octant marks samples during which stolen time increased.
"""

from octant.advice import Advice, Facts

TESTED = True  # the noise test measures the effect


def advise(facts: Facts) -> Advice | None:
    """Return advice if stolen time exceeds 0.5 % of CPU time since boot."""
    steal = float(facts.system("steal_fraction") or 0)
    if steal <= 0.005:
        return None
    return Advice(
        title=f"the hypervisor took {100 * steal:.1f} % of CPU time since boot",
        severity="spoils",
        evidence={
            "/proc/stat, steal": f"{100 * steal:.2f} % since boot",
            "virtualisation": facts.system("virtualisation"),
        },
        fix=("# request dedicated (pinned) virtual CPUs, or measure on bare metal",),
        why="a virtual CPU that waits for the host makes samples longer by milliseconds",
    )
