"""The limit on locked memory is low.

Fast networks register memory with the adapter, which locks it; explicit page locking and some huge-page paths need it
too. When the limit is reached, MPI libraries fall back to slower transports or fail, often without a clear message.
"""

from octant.advice import Advice, Facts
from octant.units import bytes_text


def advise(facts: Facts) -> Advice | None:
    """Fires below an eighth of the memory."""
    limit = facts.system("limit_memlock_bytes")
    if not limit.isdigit() or int(limit) * 8 >= (facts.machine.memory_bytes or 0):
        return None
    return Advice(
        title=f"only {bytes_text(int(limit))} of memory may be locked",
        severity="note",
        evidence={"/proc/self/limits, Max locked memory": f"{limit} bytes"},
        fix=("echo '* - memlock unlimited' | sudo tee /etc/security/limits.d/90-memlock.conf", "# then log in again"),
        why="network adapters lock the buffers that they send from; beyond the limit, MPI uses slower transports",
    )
