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
