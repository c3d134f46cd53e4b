"""NUMA mode of the firmware: the number of NUMA nodes per package (NPS, SNC)."""

from collections import Counter

from octant.machine import Machine
from octant.machine.cpusets import cpus_text

_NAMES = {"AuthenticAMD": "NPS", "HygonGenuine": "NPS", "GenuineIntel": "SNC"}
"""Prefix of the name of a mode: nodes per socket (AMD), sub-NUMA clustering (Intel)."""
_MAX_NPS = 4


def describe_numa_mode(machine: Machine) -> str:
    """Return e.g. `4 NUMA domains per package (NPS4), 2 L3 caches per domain`; nodes without cores do not count."""
    top = machine.topology
    packages, nodes = top.groups("package"), [node.cpus for node in top.numa if node.cpus]
    without = frozenset(cpu.os for cpu in top.cpus if cpu.numa is None)
    if without or not nodes:
        if not nodes:
            return "unknown" if top.numa else "the system does not state NUMA nodes"
        return f"{_counted(len(nodes), 'NUMA domain')}; hardware threads {cpus_text(without)} are in no NUMA domain"
    per_package = max((sum(bool(node & package) for node in nodes) for package in packages), default=1)
    spanned = max((sum(bool(node & package) for package in packages) for node in nodes), default=0)
    if per_package == 1 and spanned > 1:
        where = f"1 NUMA domain across {spanned} packages"
    else:
        where = f"{_counted(per_package, 'NUMA domain')} per package{_name(machine, per_package)}"
    last = max((cache.level for cache in top.data_caches()), default=0)
    if last < 3:
        return where
    caches = [cache.cpus for cache in top.data_caches(last)]
    if any(sum(bool(cache & node) for node in nodes) > 1 for cache in caches):
        return f"{where}, L{last} caches span NUMA domains"
    inside = Counter(sum(cache <= node for cache in caches) for node in nodes)
    counts = " or ".join(_counted(number, f"L{last} cache") for number in sorted(inside))
    return f"{where}, {counts} per domain"


def _name(machine: Machine, per_package: int) -> str:
    name = _NAMES.get(machine.processor.vendor, "")
    if per_package == 1 or not name:
        return ""
    if name == "NPS" and per_package > _MAX_NPS:
        return " (L3 caches as NUMA domains)"
    return f" ({name}{per_package})"


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" + "s" * (number != 1)
