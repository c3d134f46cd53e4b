"""The hypervisor gives processor time of this machine to others.

Steal time is time in which a virtual processor wanted to run and did not. Samples hit by it are too long, by
milliseconds. Octant marks samples during which steal time advanced.
"""

from octant.advice import Advice, Facts


def advise(facts: Facts) -> Advice | None:
    """Fires above half a percent of all processor time since the machine started."""
    steal = float(facts.system("steal_fraction") or 0)
    if steal <= 0.005:
        return None
    return Advice(
        title=f"{100 * steal:.1f} % of processor time since boot was taken by the host",
        severity="spoils",
        evidence={
            "/proc/stat, steal": f"{100 * steal:.2f} % since boot",
            "virtualisation": facts.system("virtualisation"),
        },
        fix=("# ask for dedicated (pinned) virtual processors, or measure on bare metal",),
        why="a virtual processor that waits for its host makes samples longer by milliseconds",
    )
