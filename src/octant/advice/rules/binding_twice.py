"""Thread binding is set by variables of several runtimes.

`OMP_PLACES` and `OMP_PROC_BIND` belong to the standard, `GOMP_CPU_AFFINITY` to GNU's runtime, `KMP_AFFINITY` to Intel's
and LLVM's. Which of them takes precedence depends on the runtime and its version, and is at most reported in a warning.
"""

from octant.advice import Advice, Facts
from octant.software.trials import BINDING

_STANDARD = ("OMP_PLACES", "OMP_PROC_BIND")
_VENDORS = ("GOMP_CPU_AFFINITY", "KMP_AFFINITY")


def advise(facts: Facts) -> Advice | None:
    """Fires where a vendor's variable is set beside the standard's, or beside another vendor's."""
    vendors = [name for name in _VENDORS if facts.variable(name)]
    standard = [name for name in _STANDARD if facts.variable(name)]
    if not vendors or len(vendors) + bool(standard) < 2:
        return None
    return Advice(
        title="thread binding is set twice, by different variables",
        severity="slows",
        evidence={name: facts.variable(name) or "" for name in (*standard, *vendors)},
        fix=(f"unset {' '.join(vendors)}", facts.command(BINDING, "export {}")),
        why="which one takes precedence depends on the runtime that is loaded",
    )
