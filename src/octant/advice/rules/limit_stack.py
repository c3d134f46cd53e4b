"""The stack limit is low.

Fortran programs allocate automatic arrays on the stack, and each OpenMP thread has its own. A stack overflow ends the
program with a segmentation fault. The stack size of threads other than the first is `OMP_STACKSIZE`.
"""

from octant.advice import Advice, Facts
from octant.software.trials import LARGE_STACK
from octant.units import bytes_text


def advise(facts: Facts) -> Advice | None:
    """Return advice if the limit is below 64 MiB."""
    limit = facts.system("limit_stack_bytes")
    if not limit.isdigit() or int(limit) >= 64 * 2**20:
        return None
    return Advice(
        title=f"the stack is limited to {bytes_text(int(limit))}",
        severity="note",
        evidence={"/proc/self/limits, Max stack size": f"{limit} bytes"},
        fix=(facts.command(LARGE_STACK), "export OMP_STACKSIZE=64M"),
        why="automatic arrays of Fortran programs may overflow the stack, which ends in a segmentation fault",
    )
