"""Addresses are randomised.

Each process gets its stack, heap and libraries at other addresses, so that alignment and cache conflicts differ from
run to run. Octant repeats launches for this reason. Disable it (for one command) when two variants differ by little.
"""

from octant.advice import Advice, Facts
from octant.software.trials import FIXED_ADDRESSES


def advise(facts: Facts) -> Advice | None:
    """Fires where the kernel randomises."""
    setting = facts.system("aslr")
    if setting in ("", "0"):
        return None
    return Advice(
        title="addresses are randomised: runs differ slightly from each other",
        severity="note",
        evidence={"/proc/sys/kernel/randomize_va_space": setting},
        fix=("# for one command, which is safer than for all:", facts.command(FIXED_ADDRESSES, "{} PROGRAM …")),
        why="alignment and cache conflicts change with the addresses, so one launch is one sample",
    )
