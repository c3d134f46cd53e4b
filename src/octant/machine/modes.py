"""How the firmware divides a package into memory nodes: the same machine in another mode is another machine."""

from collections import Counter

from octant.machine import Machine
from octant.machine.cpusets import cpus_text

_NAMES = {"AuthenticAMD": "NPS", "HygonGenuine": "NPS", "GenuineIntel": "SNC"}
"""Of a mode with several nodes in a package, before their number: nodes per socket, sub-NUMA clustering."""
_MOST_NPS = 4


def describe_numa_mode(machine: Machine) -> str:
    """`4 NUMA domains a package (NPS4), 2 L3 caches in each`; of memory nodes without cores nothing is said."""
    top = machine.topology
    packages, nodes = top.groups("package"), [node.cpus for node in top.numa if node.cpus]
    without = frozenset(cpu.os for cpu in top.cpus if cpu.numa is None)
    if without or not nodes:
        if not nodes:
            return "not known" if top.numa else "NUMA nodes are not stated"
        return f"{_counted(len(nodes), 'NUMA domain')} known; hardware threads {cpus_text(without)} are in none"
    per_package = max((sum(bool(node & package) for node in nodes) for package in packages), default=1)
    spanned = max((sum(bool(node & package) for package in packages) for node in nodes), default=0)
    if per_package == 1 and spanned > 1:
        where = f"1 NUMA domain over {spanned} packages"
    else:
        where = f"{_counted(per_package, 'NUMA domain')} a package{_name(machine, per_package)}"
    last = max((cache.level for cache in top.data_caches()), default=0)
    if last < 3:
        return where
    caches = [cache.cpus for cache in top.data_caches(last)]
    if any(sum(bool(cache & node) for node in nodes) > 1 for cache in caches):
        return f"{where}, one L{last} cache for several"
    inside = Counter(sum(cache <= node for cache in caches) for node in nodes)
    counts = " or ".join(_counted(number, f"L{last} cache") for number in sorted(inside))
    return f"{where}, {counts} in each"


def _name(machine: Machine, per_package: int) -> str:
    name = _NAMES.get(machine.processor.vendor, "")
    if per_package == 1 or not name:
        return ""
    if name == "NPS" and per_package > _MOST_NPS:
        return " (L3 caches as domains)"
    return f" ({name}{per_package})"


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" + "s" * (number != 1)
