"""The stack is small.

Fortran codes put automatic arrays on it and OpenMP gives every thread one; when it overflows, the program ends with a
segmentation fault that does not mention the stack. Threads other than the first use `OMP_STACKSIZE`.
"""

from octant.advice import Advice, Facts
from octant.software.trials import LARGE_STACK
from octant.units import bytes_text


def advise(facts: Facts) -> Advice | None:
    """Fires below 64 MiB."""
    limit = facts.system("limit_stack_bytes")
    if not limit.isdigit() or int(limit) >= 64 * 2**20:
        return None
    return Advice(
        title=f"the stack is limited to {bytes_text(int(limit))}",
        severity="note",
        evidence={"/proc/self/limits, Max stack size": f"{limit} bytes"},
        fix=(facts.command(LARGE_STACK), "export OMP_STACKSIZE=64M"),
        why="automatic arrays of Fortran codes overflow it, which shows only as a segmentation fault",
    )
