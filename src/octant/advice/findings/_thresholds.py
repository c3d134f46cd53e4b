"""From where on something is a finding: the only place that says so. docs/report.md has the table for readers."""

from octant.stats.paired import LEAST_ROUNDS
from octant.stats.verdicts import MARGIN

NOTHING_BELOW = 1 + MARGIN
"""A gain is a ratio whose whole interval lies beyond this."""
LEAST_PAIRS = LEAST_ROUNDS
"""Paired launches that a gain rests on, at least."""
LOST = 0.05
"""Of the time of all measurements together."""
SLOWED = 1.05
"""So many times worse than by the CPU time that was used; a value that is less so does not contain lost time."""
TAKEN = 0.01
"""By a quota, or by the hypervisor, of the same time."""
WORTH = 1.1
"""Where a setting brings less than this ratio, the scope says so."""
FALL = 2.0
"""The best rate of messages over the rate of the longest."""
OF_LIMIT = 0.8
"""A share of a limit below this is far from it."""
OF_PEAK = 0.7
"""A library's share of the peak below which its choice of kernels is looked at."""
HEAP_ASKS = (2, 35)
"""The first glibc whose heap takes huge pages if asked (glibc.malloc.hugetlb)."""
HEAP_TAKES = (2, 43)
"""The first whose heap takes them by itself where transparent huge pages are on `madvise`."""
PRESSURE = 0.1
"""Of the time of a program in which a task waited for a CPU: from here on threads share hardware threads."""
PREEMPTIONS_A_SECOND = 50.0
"""Involuntary context switches of a program that say the same where the kernel has no pressure-stall information."""
LARGE_MEMORY = 2**30
"""Bytes of private memory of a rank from which huge pages are advised."""
ON_HUGE = 0.1
"""Of this memory on huge pages: with less they are advised."""
LEAST_IDLE = 4
"""Hardware threads that a program may use, of which one busy one is a finding."""
ONE_BUSY = (0.7, 1.2)
"""Cores that a program with one busy thread uses."""
WAITED = 0.5
"""Of the time of a program with one thread in which it did not run and no time was lost."""
SHORT_S = 0.1
"""A program that took less CPU time, or waited less, gives no reason to look at its system time or its waits."""
FAULT_S = 2.5e-7
"""What a page fault takes at least, with the page that is filled with zeros."""
OF_FAULTS = 0.25
"""Of the system time: page faults that explain more of it are its main cause."""
OFF_NODE = 0.1
"""Of the private memory of a program on a second NUMA domain."""
ORDER = {
    "shared cores": 0.06, "oversubscription": 0.05, "idle cores": 0.04, "unbound threads": 0.03, "base pages": 0.02,
    "waiting": 0.012, "system time": 0.011,
}  # fmt: skip
"""What orders the findings on programs, whose gain is not known: what often costs most comes first."""
