"""Stated entries of the comparison, from the description of a machine."""

from collections.abc import Callable, Mapping

from octant import units
from octant.analysis.appendix import Entry, KnownMachine, number, row_specs
from octant.facts import facts
from octant.machine import CacheKind, Machine
from octant.machine.cache_levels import disputed_levels


def of_machine(machine: Machine, name: str = "") -> KnownMachine:
    """Return the machine with the values of its description, in the units of the rows."""
    entries = {}
    for spec in row_specs():
        if not spec.stated:
            continue
        found = _STATED[spec.stated](machine)
        if found is None or found == "":
            continue
        key = spec.group, spec.name
        entries[key] = Entry(found) if isinstance(found, str) else number(spec, found, "stated")
    return KnownMachine(name or machine.name, machine.processor.model, entries, machine)


def _cache(level: int, kind: CacheKind) -> Callable[[Machine], str]:
    def text(machine: Machine) -> str:
        kinds = (kind, "unified") if kind == "data" else (kind,)
        caches = [one for one in machine.topology.caches or () if one.level == level and one.kind in kinds]
        if not caches:
            return ""
        one, cores = caches[0], machine.topology.groups("core")
        sharing = sum(1 for core in cores if core & one.cpus)
        parts = [units.bytes_text(one.size_bytes), f"{one.ways}-way" if one.ways else ""]
        having = len([core for core in cores if any(core & cache.cpus for cache in caches)])
        alone = "each core" if having == len(cores) else f"{having} of {len(cores)} cores"
        parts += [alone if sharing == 1 else f"{sharing} cores"]
        parts += [disputed_levels(machine).get(level, "") if kind == "data" else ""]
        return ", ".join(filter(None, parts))

    return text


def _pages(machine: Machine) -> str:
    sizes = {page.size_bytes: "" for page in machine.page_sizes}
    for word in machine.system.get("thp_sizes", "").split():  # transparent pages of other sizes
        kib = word.partition("kB=")[0]
        if kib.isdigit():
            sizes.setdefault(int(kib) * 1024, "")
    return ", ".join(map(units.bytes_text, sorted(sizes)))


def _chips(machine: Machine) -> int:
    return len(machine.topology.groups("package"))


def _cores(machine: Machine) -> int:
    return len(machine.topology.groups("core"))


_STATED: Mapping[str, Callable[[Machine], str | float | None]] = {
    "processor": lambda machine: machine.processor.model,
    "clock": lambda machine: machine.processor.nominal_hz,
    "chips": _chips,
    "cores": _cores,
    "cores_per_chip": lambda machine: _cores(machine) / _chips(machine) if _chips(machine) else None,
    "smt": lambda machine: machine.topology.smt(),
    "vector_bits": lambda machine: facts(machine).get("vector_bits"),
    "L1I": _cache(1, "instruction"),
    "L1D": _cache(1, "data"),
    "L2": _cache(2, "data"),
    "L3": _cache(3, "data"),
    "page_sizes": _pages,
    "memory": lambda machine: machine.memory_bytes or None,
}
"""Functions by the names in `rows.toml`."""
