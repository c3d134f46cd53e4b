"""Transparent huge pages: which programs get 2 MiB pages without asking.

`madvise` gives them to those that request, as Octant's kernels do, and is the setting under which page size is a knob.
`always` gives them to everything, so that a measurement with "4 KiB pages" may really have had others. `never` gives
them to none: random access to large memory then waits for page-table walks (a random walk through 512 MiB took
1.7 times as long with 4 KiB pages on the virtual machine on which Octant is developed).
"""

from octant.advice import Advice, Facts, MeasuredFact

_FILE = "/sys/kernel/mm/transparent_hugepage/enabled"

MEASURED = MeasuredFact("transparent huge pages", "thp")


def advise(facts: Facts) -> Advice | None:
    """Fires at `always` and at `never`."""
    setting = facts.system("thp")
    if setting == "always":
        return Advice(
            title="all programs get transparent huge pages (always)",
            severity="note",
            evidence={_FILE: setting},
            fix=(f"echo madvise | sudo tee {_FILE}",),
            why="the page size cannot be chosen: allocations silently become huge where alignment allows it",
        )
    if setting == "never":
        return Advice(
            title="transparent huge pages are disabled (never)",
            severity="slows",
            evidence={_FILE: setting},
            fix=(f"echo madvise | sudo tee {_FILE}",),
            why="large arrays get base pages only, and random access to them waits for page-table walks",
        )
    return None
