"""OpenMP threads are not bound to cores.

Without `OMP_PROC_BIND` the scheduler may migrate threads between cores and NUMA domains, away from the memory that
they touched first. Octant binds its own runs; this advice is for programs that you start from this shell.
"""

from octant.advice import Advice, Facts
from octant.software.trials import BINDING

_OTHERS = ("GOMP_CPU_AFFINITY", "KMP_AFFINITY")


def advise(facts: Facts) -> Advice | None:
    """Return advice if several threads would run and no variable binds them."""
    threads = (facts.variable("OMP_NUM_THREADS") or str(len(facts.machine.topology.allowed))).split(",")[0]
    if any(facts.variable(name) for name in ("OMP_PROC_BIND", "OMP_PLACES", *_OTHERS)) or threads == "1":
        return None
    return Advice(
        title=f"OpenMP programs from this shell start {threads} threads without binding",
        severity="slows",
        evidence={
            "OMP_PROC_BIND": "unset",
            "OMP_NUM_THREADS": facts.variable("OMP_NUM_THREADS") or f"unset ({threads} usable hardware threads)",
        },
        fix=(facts.command(BINDING, "export {}"),),
        why="threads that migrate lose the contents of their caches and their local memory",
    )
