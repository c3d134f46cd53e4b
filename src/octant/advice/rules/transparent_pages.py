"""Transparent huge pages are enabled for all programs, or for none.

With `madvise`, programs get them on request, as Octant's kernels do, so that the page size is a knob. With `always`,
all programs get them, and a measurement with 4 KiB pages may have used larger ones. With `never`, random access to
large memory waits for page-table walks: on the virtual machine on which Octant is developed, a random walk through
512 MiB took 1.7 times as long with 4 KiB pages.
"""

from octant.advice import Advice, Facts, MeasuredFact

_FILE = "/sys/kernel/mm/transparent_hugepage/enabled"

MEASURED = MeasuredFact("transparent huge pages", "thp")


def advise(facts: Facts) -> Advice | None:
    """Return advice if the setting is `always` or `never`."""
    setting = facts.system("thp")
    if setting == "always":
        return Advice(
            title="transparent huge pages are enabled for all programs (always)",
            severity="note",
            evidence={_FILE: setting},
            fix=(f"echo madvise | sudo tee {_FILE}",),
            why="the page size cannot be chosen: aligned allocations use huge pages automatically",
        )
    if setting == "never":
        return Advice(
            title="transparent huge pages are disabled (never)",
            severity="slows",
            evidence={_FILE: setting},
            fix=(f"echo madvise | sudo tee {_FILE}",),
            why="large arrays use base pages only, and random access to them waits for page-table walks",
        )
    return None
