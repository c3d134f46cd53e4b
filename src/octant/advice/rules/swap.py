"""Memory is in swap.

Pages that come back from a disk during a measurement take milliseconds each. Configured but unused swap does no harm.
"""

from octant.advice import Advice, Facts, MeasuredFact
from octant.units import bytes_text

MEASURED = MeasuredFact("memory in swap, B", "swap_used_bytes")


def advise(facts: Facts) -> Advice | None:
    """Fires above 64 MiB of swap in use."""
    used = int(facts.system("swap_used_bytes") or 0)
    if used <= 64 * 2**20:
        return None
    return Advice(
        title=f"{bytes_text(used)} of memory are in swap",
        severity="spoils",
        evidence={"/proc/meminfo, SwapTotal - SwapFree": bytes_text(used)},
        fix=("sudo swapoff --all && sudo swapon --all  # needs as much free memory",),
        why="a page that is read back from a disk takes milliseconds",
    )
