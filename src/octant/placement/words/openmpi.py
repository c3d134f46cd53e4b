"""Open MPI 5 (PRRTE 3): `--map-by`, `--rank-by`, `--bind-to`, rank files."""

import itertools
from dataclasses import dataclass

from octant.machine import CpuSet, Topology
from octant.machine.synthetic import parse_cpus
from octant.placement import Placement, set_text
from octant.placement.expressions import objects
from octant.placement.request import Request
from octant.placement.words import Reading, Words, _shared

TITLE = "Open MPI 5"
MARK = r"--map-by[ =]|--bind-to[ =]|--mapby[ =]|--bindto[ =]|PRTE_MCA_|mpirun .*--rankfile"
_UNITS = {
    "slot": "package", "hwthread": "thread", "core": "core", "l1cache": "l1", "l2cache": "l2", "l3cache": "l3",
    "numa": "numa", "package": "package", "socket": "package",
}  # fmt: skip


class _Refused(ValueError):  # noqa: N818 (Open MPI's refusal, told to the user)
    """Open MPI stops with an error here."""


@dataclass(frozen=True)
class _Asked:
    """The options that decide masks."""

    map_by: str = "core"
    width: int | None = None  # PE=
    hwthreads: bool = False
    span: bool = False
    oversubscribe: bool = False
    rank_by: str = ""
    bind_to: str = ""


def to_words(placement: Placement, request: Request, topology: Topology) -> Words:
    """The shortest options that give the masks; a rank file where none do."""
    sets = _shared.rank_sets(placement)
    files: tuple[tuple[str, str], ...] = ()
    option = next((o for o in _options(sets, topology, request.unit) if _same(o, sets, topology)), None)
    if option is None:
        option = "--map-by rankfile:file=octant.rankfile:HWTCPUS"
        if sum(map(len, sets)) > len(frozenset().union(*sets)):
            option += " --bind-to hwthread:overload-allowed"  # ranks that share threads are refused otherwise
        files = (("octant.rankfile", rank_file(sets, topology)),)
    lines = (
        *_shared.openmp_line(request),
        *_shared.heap_line(request),
        f"mpiexec -n {len(sets)} {option} {_shared.PROGRAM}",
    )
    cannot = [
        *_shared.no_threads(placement, "Open MPI"),
        *_shared.no_memory(request, "Open MPI 5"),
        *_shared.no_pages(request),
    ]
    if files:
        cannot.append("no option of Open MPI 5 gives these masks: a rank file does (its numbers are logical ones)")
    return Words(lines, True, tuple(cannot), files)


def rank_file(sets: list[CpuSet], topology: Topology) -> str:
    """A rank file with the logical numbers of hardware threads."""
    place = {cpu: n for n, held in enumerate(objects(topology, "thread")) for cpu in held}
    slots = [set_text([place[cpu] for cpu in held]) for held in sets]
    return "".join(f"rank {rank}=localhost slot={listed}\n" for rank, listed in enumerate(slots))


def _options(sets: list[CpuSet], topology: Topology, unit: str) -> list[str]:
    cores = max(sum(1 for core in topology.groups("core") if core & held) for held in sets)
    threads = max(len(held) for held in sets)
    wide = [u for u in ("l3cache", "numa", "package") if _has(topology, u)]
    found = [f"--map-by slot:PE={cores} --bind-to core" if cores > 1 else "--map-by core --bind-to core"]
    found += [f"--map-by {u}:PE={cores}" for u in wide]
    found += [f"--map-by {u}:PE={cores} --rank-by span" for u in wide]
    whole = [f"--map-by {u} --bind-to {u}" for u in wide]
    whole += [f"--map-by {u} --rank-by span --bind-to {u}" for u in wide]
    found = whole + found if unit in ("l3", "numa", "package") else found + whole
    found += ["--map-by core:HWTCPUS --bind-to core", f"--map-by slot:PE={threads}:HWTCPUS --bind-to hwthread"]
    found += [f"--map-by {u}:PE={threads}:HWTCPUS --bind-to hwthread" for u in wide]
    return found + [f"--map-by {u}:PE={threads}:HWTCPUS --rank-by span --bind-to hwthread" for u in wide]


def _has(topology: Topology, unit: str) -> bool:
    return not unit.startswith("l") or any(cache.level == int(unit[1]) for cache in topology.caches)


def _same(option: str, sets: list[CpuSet], topology: Topology) -> bool:
    try:
        return masks(topology, _asked(_shared.read_line("mpiexec " + option)), len(sets)) == sets
    except ValueError:
        return False


def masks(topology: Topology, asked: _Asked, ranks: int) -> list[CpuSet] | None:
    """The mask of each rank, or `None` where Open MPI leaves all ranks unbound.

    Ranks go round-robin over the objects that still have room, and are then numbered object by object
    (fill) or in the order in which they were dealt out (span, slot). A rank never crosses a package.
    Checked against dry runs of 5.0.11 on synthetic topologies.

    Raises:
        ValueError: Open MPI refuses, or Octant does not know what it does.
    """
    threads = asked.hwthreads or asked.map_by == "hwthread"
    cpus = objects(topology, "thread" if threads else "core")
    width = asked.width or 1
    bind = asked.bind_to or _default_bind(asked, threads)
    if asked.oversubscribe and not asked.bind_to and not asked.width:
        return None
    if bind != "none":
        _check(topology, asked, bind, threads)
    if ranks * width > len(cpus) or ranks > len(objects(topology, "core")):
        raise _Refused(f"Open MPI 5 refuses {ranks} ranks of {width} (it counts cores as slots); try fewer")
    domains = objects(topology, _UNITS[asked.map_by])
    free = [[held for held in cpus if held <= domain] for domain in domains]
    dealt: list[tuple[int, CpuSet]]
    if asked.map_by == "slot":
        dealt = _in_turn(free, width, ranks)
    elif asked.map_by in ("core", "hwthread"):
        dealt = list(enumerate(domains[:ranks]))
    else:
        dealt = _round_robin(free, width, ranks)
        if asked.rank_by in ("", "fill") and not asked.span:
            dealt.sort(key=lambda pair: pair[0])
    if bind == "none":
        return None
    sets = [held for _domain, held in dealt]
    if asked.width or bind == "hwthread":
        return sets
    return [next(o for o in objects(topology, _UNITS[bind]) if held & o) for held in sets]


def _default_bind(asked: _Asked, threads: bool) -> str:
    if asked.width:
        return "hwthread" if threads else "core"
    return "numa" if asked.map_by == "slot" else asked.map_by


_WIDTH = {"hwthread": 0, "core": 1, "l1cache": 2, "l2cache": 3, "l3cache": 4, "numa": 5, "package": 6, "socket": 6}


def _check(topology: Topology, asked: _Asked, bind: str, threads: bool) -> None:
    """Refuses what Open MPI refuses, and combinations whose outcome was not seen."""
    if asked.map_by == "slot" and asked.rank_by in ("fill", "span"):
        raise _Refused(f"Open MPI 5 refuses --rank-by {asked.rank_by} with slots; try --map-by package")
    if asked.map_by in ("core", "hwthread") and (asked.width or 1) > 1:
        raise _Refused(f"Open MPI 5 refuses {asked.map_by}:PE={asked.width}; try slot:PE={asked.width}")
    mixed = asked.width and bind in ("core", "hwthread") and bind != ("hwthread" if threads else "core")
    if mixed or (asked.width and asked.map_by == "core" and threads):
        raise _Refused("Octant does not know what PE= does with this mix of cores and hardware threads")
    if asked.width and bind not in ("core", "hwthread"):
        raise _Refused(f"Open MPI 5 refuses PE={asked.width} with --bind-to {bind}; try --bind-to core")
    if bind == "hwthread" and not threads:
        raise _Refused("Octant does not know what --bind-to hwthread does here; try :HWTCPUS with it")
    for unit in (asked.map_by, bind):
        if unit != "slot" and not _has(topology, unit):
            raise _Refused(f"Open MPI 5 finds no {unit} on this topology")
    if asked.map_by != "slot" and _WIDTH[bind] > _WIDTH[asked.map_by]:
        raise _Refused(
            f"Open MPI 5 refuses --bind-to {bind} with --map-by {asked.map_by}: it binds within what it maps"
        )


def _in_turn(free: list[list[CpuSet]], width: int, ranks: int) -> list[tuple[int, CpuSet]]:
    dealt: list[tuple[int, CpuSet]] = []
    for index, cpus in enumerate(free):
        while len(cpus) >= width and len(dealt) < ranks:
            dealt.append((index, frozenset().union(*cpus[:width])))
            del cpus[:width]
    if len(dealt) < ranks:
        raise _Refused(f"Open MPI 5 refuses: no package has {width} left for rank {len(dealt)}")
    return dealt


def _round_robin(free: list[list[CpuSet]], width: int, ranks: int) -> list[tuple[int, CpuSet]]:
    dealt: list[tuple[int, CpuSet]] = []
    while len(dealt) < ranks:
        before = len(dealt)
        for index, cpus in enumerate(free):
            if len(cpus) >= width and len(dealt) < ranks:
                dealt.append((index, frozenset().union(*cpus[:width])))
                del cpus[:width]
        if len(dealt) == before:
            raise _Refused(f"Open MPI 5 refuses: no object has {width} left for rank {before}")
    return dealt


def _asked(line: _shared.Line) -> _Asked:
    words = (line.option("--map-by", "--mapby") or "core").lower().split(":")
    unit = words[0] or "core"
    if unit not in _UNITS:
        raise ValueError(f"cannot read --map-by {unit}; Open MPI knows {', '.join(_UNITS)}, ppr, pe-list, rankfile")
    width = next((word[3:] for word in words if word.startswith("pe=")), None)
    bind = (line.option("--bind-to", "--bindto") or "").lower().split(":")[0]
    if bind and bind != "none" and bind not in _UNITS:
        raise ValueError(f"cannot read --bind-to {bind}; Open MPI knows none, {', '.join(_UNITS)}")
    return _Asked(
        unit,
        int(width) if width and width.isdigit() else None,
        "hwtcpus" in words or "--use-hwthread-cpus" in line.words,
        "span" in words,
        "oversubscribe" in words or "--oversubscribe" in line.words,
        (line.option("--rank-by", "--rankby") or "").lower(),
        bind,
    )


def from_words(text: str, topology: Topology) -> Reading:
    """What the options would do under Open MPI 5."""
    line = _shared.read_line(text)
    ranks = line.number("-n", "-np", "--np", "-c") or 1
    threads = line.variables.get("OMP_NUM_THREADS", "")
    count = int(threads) if threads.isdigit() else None
    map_by = line.option("--map-by", "--mapby") or ""
    notes = list(_old_words(line))
    sets: list[CpuSet] | None
    if map_by.lower().startswith("pe-list="):
        sets = _listed(map_by, ranks, topology, notes)
    else:
        sets = masks(topology, _asked(line), ranks)
    if sets is None:
        asked = _asked(line)
        why = "oversubscribing is allowed" if asked.oversubscribe else "asked not to bind"
        notes.append(f"Open MPI 5 leaves every rank unbound here ({why}), without a word")
        sets = [topology.allowed] * ranks
        count = count or 1
    elif count and any(count > _cores(held, topology) for held in sets):
        notes.append(f"OMP_NUM_THREADS={count} is more than the cores of a rank's mask: threads share cores")
    return _shared.masked(sets, topology, count, notes)


def _cores(held: CpuSet, topology: Topology) -> int:
    return sum(1 for core in topology.groups("core") if core & held)


def _old_words(line: _shared.Line) -> list[str]:
    if line.option("--cpu-list") is not None:
        return ["Open MPI 5 accepts --cpu-list but binds every rank to the whole list; try --map-by pe-list=…:ordered"]
    return []


def _listed(map_by: str, ranks: int, topology: Topology, notes: list[str]) -> list[CpuSet]:
    listed, *qualifiers = map_by.lower().removeprefix("pe-list=").split(":")
    unit = "thread" if "hwtcpus" in qualifiers else "core"
    cpus = objects(topology, unit)
    places = list(itertools.chain.from_iterable(sorted(parse_cpus(piece)) for piece in listed.split(",")))
    if max(places) >= len(cpus):
        raise ValueError(f"cannot use pe-list={listed}: there are {len(cpus)} {unit}s")
    if "ordered" not in qualifiers:
        notes.append("without :ordered every rank is bound to the whole pe-list")
        return [frozenset().union(*(cpus[place] for place in places))] * ranks
    if ranks > len(places):
        raise ValueError(f"Open MPI 5 refuses {ranks} ranks on a pe-list of {len(places)}")
    return [cpus[place] for place in places[:ranks]]
