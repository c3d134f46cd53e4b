"""The address-space layout is randomised.

The stack, heap and libraries of each process are at different addresses, so that alignment and cache conflicts differ
between runs. Octant repeats launches for this reason. Disable it for one command if two variants differ only slightly.
"""

from octant.advice import Advice, Facts
from octant.software.trials import FIXED_ADDRESSES


def advise(facts: Facts) -> Advice | None:
    """Return advice if the kernel randomises addresses."""
    setting = facts.system("aslr")
    if setting in ("", "0"):
        return None
    return Advice(
        title="the address-space layout is randomised, so runs differ slightly",
        severity="note",
        evidence={"/proc/sys/kernel/randomize_va_space": setting},
        fix=("# disable it for one command only:", facts.command(FIXED_ADDRESSES, "{} PROGRAM …")),
        why="alignment and cache conflicts depend on the addresses, so each launch is one sample",
    )
