"""How programs of this system get huge pages."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from octant.advice.findings._thresholds import HEAP_ASKS, HEAP_TAKES

if TYPE_CHECKING:
    from octant.machine import Machine

HEAP = "glibc.malloc.hugetlb"
"""The tunable of glibc with which malloc asks for huge pages."""


def heap_may_ask(machine: Machine) -> bool:
    """Whether programs get base pages unless they ask, and the C library asks only if it is told to."""
    version = re.match(r"(\d{1,4})\.(\d{1,4})", machine.software.get("glibc", ""))
    requests = version is not None and HEAP_ASKS <= (int(version[1]), int(version[2])) < HEAP_TAKES
    return requests and machine.system.get("thp") == "madvise"
