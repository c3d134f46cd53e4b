"""Memory is swapped out.

Reading a page back from a disk during a measurement takes milliseconds. Configured but unused swap has no effect.
"""

from octant.advice import Advice, Facts, MeasuredFact
from octant.units import bytes_text

MEASURED = MeasuredFact("memory in swap, B", "swap_used_bytes")


def advise(facts: Facts) -> Advice | None:
    """Return advice if more than 64 MiB of swap are in use."""
    used = int(facts.system("swap_used_bytes") or 0)
    if used <= 64 * 2**20:
        return None
    return Advice(
        title=f"{bytes_text(used)} of memory is swapped out",
        severity="spoils",
        evidence={"/proc/meminfo, SwapTotal - SwapFree": bytes_text(used)},
        fix=("sudo swapoff --all && sudo swapon --all  # requires the same amount of free memory",),
        why="reading a page back from a disk takes milliseconds",
    )
