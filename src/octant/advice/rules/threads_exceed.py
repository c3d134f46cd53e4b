"""More threads are asked for than this process has hardware threads.

Threads that share a core take turns; at a barrier the threads that spin keep the late one from running. A mask of
the launcher or a container's cpuset is easily overlooked when the number of threads was written for the whole machine.
"""

from octant.advice import Advice, Facts
from octant.machine.cpusets import cpus_text


def advise(facts: Facts) -> Advice | None:
    """Fires where OMP_NUM_THREADS or a BLAS's own variable exceeds the usable hardware threads."""
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS")
    asked = {name: value for name in names if (value := facts.variable(name))}
    usable = facts.machine.topology.allowed
    over = {
        name: value
        for name, value in asked.items()
        if (first := value.split(",")[0]).isdigit() and int(first) > len(usable)
    }
    if not over:
        return None
    return Advice(
        title=f"more threads are asked for than the {len(usable)} hardware threads that this process may use",
        severity="slows",
        evidence={**over, "/proc/self/status, Cpus_allowed_list": cpus_text(usable)},
        fix=tuple(f"export {name}={len(usable)}" for name in over),
        why="threads that share a core take turns, and those that spin at a barrier delay the late one",
    )
