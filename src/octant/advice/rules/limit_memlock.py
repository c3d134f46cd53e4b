"""The limit on locked memory is low.

Fast networks register memory with the adapter, which locks it. When the limit is reached, MPI libraries use slower
transports or fail, often without a clear message.
"""

from octant.advice import Advice, Facts
from octant.units import bytes_text


def advise(facts: Facts) -> Advice | None:
    """Return advice if the limit is below an eighth of the memory."""
    limit = facts.system("limit_memlock_bytes")
    if not limit.isdigit() or int(limit) * 8 >= (facts.machine.memory_bytes or 0):
        return None
    return Advice(
        title=f"the limit on locked memory is only {bytes_text(int(limit))}",
        severity="note",
        evidence={"/proc/self/limits, Max locked memory": f"{limit} bytes"},
        fix=("echo '* - memlock unlimited' | sudo tee /etc/security/limits.d/90-memlock.conf", "# then log in again"),
        why="network adapters lock message buffers; above the limit, MPI libraries use slower transports",
    )
