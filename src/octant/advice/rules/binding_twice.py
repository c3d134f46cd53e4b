"""Thread binding is set by variables of different runtimes.

`OMP_PLACES` and `OMP_PROC_BIND` belong to the standard, `GOMP_CPU_AFFINITY` to GNU's runtime, `KMP_AFFINITY` to Intel's
and LLVM's. The precedence depends on the runtime and its version; at most a warning reports it.
"""

from octant.advice import Advice, Facts
from octant.software.trials import BINDING

_STANDARD = ("OMP_PLACES", "OMP_PROC_BIND")
_VENDORS = ("GOMP_CPU_AFFINITY", "KMP_AFFINITY")


def advise(facts: Facts) -> Advice | None:
    """Return advice if a vendor's variable and one of the standard or of another vendor are set."""
    vendors = [name for name in _VENDORS if facts.variable(name)]
    standard = [name for name in _STANDARD if facts.variable(name)]
    if not vendors or len(vendors) + bool(standard) < 2:
        return None
    return Advice(
        title="thread binding is set by variables of several OpenMP runtimes",
        severity="slows",
        evidence={name: facts.variable(name) or "" for name in (*standard, *vendors)},
        fix=(f"unset {' '.join(vendors)}", facts.command(BINDING, "export {}")),
        why="the precedence depends on the runtime that is loaded",
    )
