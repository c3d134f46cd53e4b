"""A process with a real-time policy uses the processors.

The scheduler runs SCHED_FIFO and SCHED_RR processes before every normal one, whenever they want; one that spins takes
its core away (up to the share of `/proc/sys/kernel/sched_rt_runtime_us`, 95 % by default).
"""

from octant.advice import Advice, Facts


def advise(facts: Facts) -> Advice | None:
    """Fires when a process of real-time policy took more than 2 % of a core while it was observed."""
    running = [process for process in facts.surroundings.realtime if process.cpus > 0.02]
    if not running:
        return None
    return Advice(
        title="a real-time process takes processor time before all others",
        severity="spoils",
        evidence={f"/proc/{p.pid}/stat ({p.command})": f"policy {p.policy}, {p.cpus:.2f} cores" for p in running},
        fix=tuple(f"sudo chrt --other --pid 0 {process.pid}  # {process.command}" for process in running),
        why="it interrupts every normal process for any length of time",
    )
