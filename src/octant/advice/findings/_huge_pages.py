"""Conditions under which programs of a system get huge pages."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from octant.advice.findings._thresholds import HUGE_PAGE_DEFAULT_SINCE, HUGE_PAGE_TUNABLE_SINCE

if TYPE_CHECKING:
    from octant.machine import Machine

HUGE_PAGE_TUNABLE = "glibc.malloc.hugetlb"
"""The tunable of glibc with which malloc requests huge pages."""


def needs_heap_request(machine: Machine) -> bool:
    """Return whether programs get huge pages on request only, and malloc requests them only with the tunable."""
    version = re.match(r"(\d{1,4})\.(\d{1,4})", machine.software.get("glibc", ""))
    has_tunable = (
        version is not None and HUGE_PAGE_TUNABLE_SINCE <= (int(version[1]), int(version[2])) < HUGE_PAGE_DEFAULT_SINCE
    )
    return has_tunable and machine.system.get("thp") == "madvise"
