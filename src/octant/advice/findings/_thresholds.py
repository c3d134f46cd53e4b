"""Thresholds of the findings. docs/report.md documents them."""

from octant.stats.paired import LEAST_ROUNDS
from octant.stats.verdicts import MARGIN

NOTHING_BELOW = 1 + MARGIN
"""A gain is a ratio whose whole interval is above this value."""
LEAST_PAIRS = LEAST_ROUNDS
"""Minimum number of paired launches for a gain."""
LOST = 0.05
"""Share of the time of all measurements."""
SLOWED = 1.05
"""Ratio of a value to the one computed from CPU time, from which the value contains lost time."""
TAKEN = 0.01
"""Share of this time that a quota or the hypervisor took."""
WORTH = 1.1
"""Ratio below which the text lists the sizes that gain little."""
FALL = 2.0
"""Ratio of the best message rate to the rate of the longest messages."""
OF_LIMIT = 0.8
"""Share of a limit below which a figure is far from it."""
OF_PEAK = 0.7
"""Share of peak below which the kernels of a library are examined."""
HUGE_PAGE_TUNABLE_SINCE = (2, 35)
"""First version of glibc with the tunable glibc.malloc.hugetlb."""
HUGE_PAGE_DEFAULT_SINCE = (2, 43)
"""First version whose malloc requests huge pages by default if transparent huge pages are on `madvise`."""
PRESSURE = 0.1
"""Share of the time in which a task waited for a CPU, from which threads share hardware threads."""
PREEMPTIONS_A_SECOND = 50.0
"""Involuntary context switches per second that indicate the same, if there is no pressure-stall information."""
LARGE_MEMORY = 2**30
"""Private memory of a rank, in bytes, from which huge pages are advised."""
ON_HUGE = 0.1
"""Share of this memory on huge pages below which they are advised."""
LEAST_IDLE = 4
"""Minimum number of available hardware threads if only one is busy."""
ONE_BUSY = (0.7, 1.2)
"""Cores used by a program with one busy thread."""
WAITED = 0.5
"""Share of the time of a single-threaded program in which it did not run and no time was lost."""
SHORT_S = 0.1
"""Minimum CPU time or waiting time, in seconds, for findings about system time or waits."""
FAULT_S = 1e-6
"""Duration of a page fault in seconds, with clearing of the page: 0.5 µs on bare metal to 2 µs in a guest."""
OF_FAULTS = 0.25
"""Share of system time from which page faults are its main cause."""
OFF_NODE = 0.1
"""Share of the private memory of a program on other NUMA domains."""
OF_MPI_PROGRAM = 0.02
"""Share of the time of all threads that call MPI, from which a finding about MPI calls is relevant."""
SMALL_MESSAGE = 1024
"""Bytes below which messages are small; their time is that of their start."""
MANY_MESSAGES = 10_000
"""Minimum number of messages from one rank to another that are many."""
SMALL_REDUCTION = 64
"""Bytes up to which the time of a reduction does not depend on its size."""
ABOVE_EAGER = 4.0
"""Ratio of the common message size to the eager limit, up to which a higher limit is proposed."""
POLLS_A_SECOND = 10_000.0
"""Calls of Test and Probe functions per second of one rank, from which it polls."""
RECORDING = 0.01
"""Share of the time that recording these calls takes, from which counting only is proposed."""
ORDER = {
    "shared cores": 0.06, "oversubscription": 0.05, "idle cores": 0.04, "unbound threads": 0.03, "base pages": 0.02,
    "waiting": 0.012, "system time": 0.011,
}  # fmt: skip
"""Order of the findings on programs, whose gain is not known: the most expensive causes first."""
