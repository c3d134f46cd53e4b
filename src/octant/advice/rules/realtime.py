"""A process with a real-time policy uses CPU time.

The scheduler runs SCHED_FIFO and SCHED_RR processes before all normal ones. A process that spins occupies its core, up
to the share in `/proc/sys/kernel/sched_rt_runtime_us` (95 % by default).
"""

from octant.advice import Advice, Facts

TESTED = True  # the noise test measures the effect


def advise(facts: Facts) -> Advice | None:
    """Return advice if a process with a real-time policy used more than 2 % of a core while it was observed."""
    running = [process for process in facts.surroundings.realtime if process.cpus > 0.02]
    if not running:
        return None
    return Advice(
        title="a real-time process has priority over all others",
        severity="spoils",
        evidence={f"/proc/{p.pid}/stat ({p.command})": f"policy {p.policy}, {p.cpus:.2f} cores" for p in running},
        fix=tuple(f"sudo chrt --other --pid 0 {process.pid}  # {process.command}" for process in running),
        why="it interrupts normal processes for any length of time",
    )
