"""Intel's and LLVM's OpenMP: KMP_AFFINITY."""

import re
from dataclasses import replace

from octant.launchers import LauncherReading, Syntax, _command, _line, _openmp, _tables, _writing
from octant.machine import CpuSet, Topology
from octant.machine.cpusets import parse_cpus
from octant.placement import Placement
from octant.placement.expressions import objects
from octant.placement.planner import ordered_cores
from octant.placement.request import PlacementRequest

TITLE = "Intel and LLVM OpenMP (KMP_AFFINITY)"
MARK = r"KMP_AFFINITY"
BINDS = "threads"
OPTIONS: _tables.Table = {}
VARIABLES = _tables.table(
    _tables.interpreted("KMP_AFFINITY KMP_HW_SUBSET"),
    _tables.irrelevant("KMP_AFFINITY takes precedence", "OMP_PLACES OMP_PROC_BIND"),
    _tables.irrelevant("this runtime ignores it if KMP_AFFINITY is set", "GOMP_CPU_AFFINITY"),
)
_MODIFIERS = ("verbose", "noverbose", "respect", "norespect", "warnings", "nowarnings", "duplicates")
_KINDS = ("compact", "scatter", "balanced", "explicit", "none", "disabled")
_GRANULARITIES = ("granularity=fine", "granularity=thread", "granularity=core")


def to_syntax(placement: Placement, request: PlacementRequest, topology: Topology) -> Syntax:
    """Return one explicit list per rank, and the values for threads inside a mask that the launcher sets."""
    lines, cannot = [], []
    for place in placement.ranks:
        if len(place.threads) > 1 and len(set(place.threads)) == 1:
            lines.append(f"export OMP_NUM_THREADS={len(place.threads)} KMP_AFFINITY=none")
            continue
        sets = ["{" + ",".join(str(c) for c in sorted(held)) + "}" if len(held) > 1 else str(min(held))
                for held in place.threads]  # fmt: skip
        value = f"granularity=fine,proclist=[{','.join(sets)}],explicit"
        lines.append(f'export OMP_NUM_THREADS={len(place.threads)} KMP_AFFINITY="{value}"')
    if request.unit == "core" and request.smt == 1 and len(lines) > 1:
        lines.append("# inside masks that the launcher sets: export KMP_AFFINITY=granularity=core,compact,1,0")
    elif request.unit == "hwthread" and request.smt != 1 and len(lines) > 1:
        lines.append("# inside masks that the launcher sets: export KMP_AFFINITY=granularity=fine,compact,0,0")
    if len(placement.ranks) > 1:
        cannot.append("use one line per local rank, selected in a wrapper script")
    return Syntax(tuple(lines), True, (*cannot, *_writing.memory_remarks(request, "the Intel runtime")))


def from_syntax(command: _command.Command, topology: Topology) -> LauncherReading:
    """Read compact and scatter with their permute numbers, explicit lists, none and disabled."""
    value = command.value("KMP_AFFINITY").lower()
    notes = _openmp.runtimes(command.variables)
    if "KMP_HW_SUBSET" in command.variables:
        topology = _subset(command.variables["KMP_HW_SUBSET"], topology)
    listed = re.search(r"proclist=\[([^\]]*)\]", value)
    plain = re.sub(r"proclist=\[[^\]]*\],?", "", value)
    parts = [word for word in plain.split(",") if word and word not in _MODIFIERS]
    fine = "granularity=fine" in parts or "granularity=thread" in parts
    kinds = [word for word in parts if word in _KINDS]
    unknown = [word for word in parts if not word.isdigit() and word not in (*_KINDS, *_GRANULARITIES)]
    if unknown or len(kinds) > 1:
        raise ValueError(f"cannot read {(unknown or kinds)[-1]!r} in KMP_AFFINITY; valid values: {', '.join(_KINDS)}")
    kind = kinds[0] if kinds else "none"
    numbers = [_line.read_integer("KMP_AFFINITY", w, least=0) for w in parts if w.isdigit()]
    count = command.threads() or len(objects(topology, "thread"))
    if kind in ("none", "disabled"):
        notes.append(
            "KMP_AFFINITY does not bind threads here: every thread may run on all hardware threads of its rank"
        )
        return _openmp.one_rank((topology.allowed,) * count, topology, notes)
    if kind == "explicit":
        places = _proclist_places(listed[1] if listed else "", topology)
        count = command.threads() or len(places)
    else:
        places = _order(kind, numbers[0] if numbers else 0, topology, fine)
    if kind == "balanced" and len(objects(topology, "package")) > 1:
        notes.append("the effect of balanced on several packages is unknown; scatter is assumed")
    return _openmp.one_rank(tuple(places[i % len(places)] for i in range(count)), topology, notes)


_LAYERS = {"s": "package", "socket": "package", "n": "numa", "numa": "numa", "c": "core", "core": "core",
           "t": "thread", "thread": "thread"}  # fmt: skip


def _subset(text: str, topology: Topology) -> Topology:
    """Return the topology with the hardware threads that KMP_HW_SUBSET leaves: `1s,4c@2,1t`. From documentation.

    Raises:
        ValueError: another layer, attributes of cores, or more units than there are.
    """
    allowed = topology.allowed
    chosen: dict[str, tuple[int, int]] = {}
    for part in re.split(r"[,x]", text.lower()):
        match = re.fullmatch(r"\s*(\d{1,9})([a-z]+)(?:@(\d{1,9}))?\s*", part)
        if match is None or match[2] not in _LAYERS:
            raise ValueError(
                f"cannot read {part!r} in KMP_HW_SUBSET; use sockets, numa, cores and threads, such as 1s,4c@2,1t"
            )
        chosen[_LAYERS[match[2]]] = (int(match[1]), int(match[3] or 0))
    inside = [allowed]
    for unit in ("package", "numa", "core", "thread"):
        if unit == "numa" and unit not in chosen:
            continue
        found: list[CpuSet] = []
        for whole in inside:  # sockets, cores and threads that are not stated are all used
            parts = [one & whole for one in objects(topology, unit) if one & whole]
            count, offset = chosen.get(unit, (len(parts), 0))
            if len(parts) < offset + count or not count:
                raise ValueError(
                    f"KMP_HW_SUBSET={text} requests more than the {len(parts)} available: the runtime ignores it"
                )
            found += parts[offset : offset + count]
        inside = found
    return replace(topology, allowed=frozenset().union(*inside))


def _proclist_places(text: str, topology: Topology) -> list[CpuSet]:
    parts = [(a or b) for a, b in re.findall(r"\{([^}]*)\}|([^,{}]+)", text)]
    places = []
    for part in parts:
        single = "," not in part and "-" in part
        held = sorted(parse_cpus(part))
        places += [frozenset({cpu}) for cpu in held] if single else [frozenset(held)]
    missing = frozenset().union(*places) - topology.allowed if places else frozenset({-1})
    if missing:
        raise ValueError(
            f"cannot use the proclist [{text}]: hardware thread {min(missing)} is not available to this job"
        )
    return places


def _order(kind: str, permute: int, topology: Topology, fine: bool) -> list[CpuSet]:
    """Hardware threads in the order threads take them.

    The machine's levels are package, core, thread. `compact` counts the innermost level fastest, `scatter`
    the outermost; `permute` moves that many innermost (compact) or outermost (scatter) levels to the slow
    end.
    """
    packages = objects(topology, "package")
    keys = {}
    for index, package in enumerate(packages):
        cores = [core for core in ordered_cores(topology) if core[0].os in package]
        for place, core in enumerate(cores):
            for nth, cpu in enumerate(core):
                keys[cpu.os] = (index, place, nth)
    levels = [0, 1, 2] if kind == "compact" else [2, 1, 0]  # slow to fast
    moved = permute % 3
    levels = levels[3 - moved :] + levels[: 3 - moved]
    order = sorted(keys, key=lambda cpu: tuple(keys[cpu][level] for level in levels))
    if fine:
        return [frozenset({cpu}) for cpu in order]
    core_of = {cpu: core for core in objects(topology, "core") for cpu in core}
    return [core_of[cpu] for cpu in order]
