"""More threads are requested than this process has hardware threads.

Threads that share a hardware thread run alternately; at a barrier, spinning threads keep the last one from running. The
mask of a launcher or a container is easily overlooked if the number of threads was set for the whole machine.
"""

from octant.advice import Advice, Facts
from octant.machine.cpusets import cpus_text


def advise(facts: Facts) -> Advice | None:
    """Return advice if OMP_NUM_THREADS or a variable of a BLAS exceeds the usable hardware threads."""
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
        title=f"more threads are requested than the {len(usable)} hardware threads that this process may use",
        severity="slows",
        evidence={**over, "/proc/self/status, Cpus_allowed_list": cpus_text(usable)},
        fix=tuple(f"export {name}={len(usable)}" for name in over),
        why="threads that share a hardware thread delay each other, most of all at barriers with spinning",
    )
