"""No explicit huge pages are reserved.

The page-size knob is then limited to base pages and transparent huge pages. Reserve pages soon after booting, while
memory is not fragmented. The pool is shared by the whole machine, so check how many pages were reserved.
"""

import math

from octant.advice import Advice, Facts
from octant.units import bytes_text


def advise(facts: Facts) -> Advice | None:
    """Return advice if the system has pools of huge pages and all of them are empty."""
    pools = [page for page in facts.machine.page_sizes if page.pool_pages is not None]
    if not pools or any(page.pool_pages for page in pools):
        return None
    usual = min(
        (page.size_bytes for page in pools), key=lambda size: abs(math.log2(size / 2**21))
    )  # Arm has 64 KiB too
    folder = f"/sys/kernel/mm/hugepages/hugepages-{usual // 1024}kB"
    return Advice(
        title="no explicit huge pages are reserved",
        severity="note",
        evidence={f"/sys/kernel/mm/hugepages ({bytes_text(page.size_bytes)})": "0 pages" for page in pools},
        fix=(
            f"echo {max(1, 2**30 // usual)} | sudo tee {folder}/nr_hugepages",
            f"cat {folder}/nr_hugepages  # number of reserved pages",
        ),
        why="explicit huge pages cannot be used or measured",
    )
