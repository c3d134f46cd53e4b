"""Sizes of the memory levels as a machine states them, under the names `L1` to `L4` and `memory`."""

from octant import units
from octant.machine import LAST_CACHE, Disagreement, Machine

CACHE_NAMES = ("L1", "L2", "L3", "L4")
MEASURED_LAST_CACHE = f"measured {LAST_CACHE}"
"""Subject of a disagreement between the stated and the measured size of the last-level cache."""


def stated_sizes(machine: Machine) -> dict[int, int]:
    """Return the bytes of one cache of each level."""
    sizes = ((level, machine.cache_bytes(level)) for level in range(1, 5))
    return {level: size for level, size in sizes if size}


def disputed_levels(machine: Machine) -> dict[int, str]:
    """Return the levels whose size a source contradicts, with the reason: `of the host`."""
    found = next((entry for entry in machine.disagreements if entry.subject == LAST_CACHE), None)
    if found is None:
        return {}
    hosts = any("host's" in statement for _, statement in found.statements)
    return {max(stated_sizes(machine), default=0): "of the host" if hosts else "disputed"}


def level_sizes(machine: Machine) -> dict[str, int]:
    """Return the bytes of each level that expressions of sizes may name: of one cache, and of the memory.

    A cache level is missing if `explain_no_size` has a reason.
    """
    found = {name: _sizes(machine, name) for name in CACHE_NAMES}
    sizes = {name: one[0] for name, one in found.items() if len(one) == 1 and _dispute(machine, name) is None}
    return {**sizes, **({"memory": machine.memory_bytes} if machine.memory_bytes else {})}


def explain_no_size(machine: Machine, name: str) -> str:
    """Return why a cache level has no single size, and the next step; "" if it has one.

    The reason is that the machine has no such level, that its size is not known or disputed, or that the caches of the
    usable hardware threads have different sizes.
    """
    sizes, disputed = _sizes(machine, name), _dispute(machine, name)
    if machine.topology.caches is None:
        return "the caches of this machine are not known; install hwloc, or give a number of bytes"
    if not machine.topology.data_caches(int(name[1:])):
        named = [f"{one} ({units.bytes_text(size)})" for one, size in level_sizes(machine).items()]
        return f"this machine states no {name}; its levels are {', '.join(named) or 'not known'}"
    if not sizes:
        return f"this machine does not state the size of its {name}; give a number of bytes"
    if disputed:
        texts = ", ".join(f"{source}: {statement}" for source, statement in disputed.statements)
        return f"the size of the {name} is disputed ({texts}); give a number of bytes"
    if len(sizes) > 1:
        texts = " and ".join(map(units.bytes_text, sizes))
        return f"the {name} caches of the usable cores have {texts}; give a number of bytes, or use cores of one kind"
    return ""


def _sizes(machine: Machine, name: str) -> list[int]:
    """Return the different sizes of the caches of a level that usable hardware threads have, ascending."""
    caches = machine.topology.data_caches(int(name[1:]))
    return sorted({one.size_bytes for one in caches if one.size_bytes and one.cpus & machine.topology.allowed})


def _dispute(machine: Machine, name: str) -> Disagreement | None:
    """Return the disagreement about the size of a level, which is the last one."""
    if int(name[1:]) != max(stated_sizes(machine), default=0):
        return None
    disputes = (one for one in machine.disagreements if one.subject in (LAST_CACHE, MEASURED_LAST_CACHE))
    return next(disputes, None)
